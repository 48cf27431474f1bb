/**
 * Tests 1 and 2: critical sections of tasks of one process. The task of an operation follows from
 * the order of the loop: a worker issues its next operation as soon as the last one is verified, so
 * the task released last continues.
 *
 * Mutual exclusion is checked twice: by a counter in this process, which is free, and in Test 2 by
 * a number on the server.
 */

import { dataError } from '../../lib/errors.js';
import { MISMATCH, OK } from '../../lib/outcome.js';
import { findPackage } from '../../lib/packages.js';
import { createRandom, drawBelow } from '../../lib/random.js';
import { drawSets } from './names.js';
import { packageOf } from './packages.js';
import { jainIndex, waitMetrics } from './waits.js';

/** @typedef {import('../../lib/types.js').Locks} Locks */
/** @typedef {{ task: number, right: boolean }} Reply */

/** Default expiry of a lock in milliseconds. */
const EXPIRE_MS_DEFAULT = 30_000;
const VALUE_STREAM = 0x6d76;
const VALUE_MAX = 1_000_000;
/**
 * The number that every section of Test 2 writes, increments and reads; sections are mutually
 * exclusive.
 */
const NUMBER = 'value';

/** State shared by several operations. */
class Sections {
  /** @type {number[]} idle tasks, a stack */
  free = [];
  /** @type {number[]} critical sections of each task */
  counts = [];
  /** @type {number[]} */
  waitsNs = [];
  inside = 0;
  violations = 0;
  sleptNs = 0;
  slept = 0;

  take() {
    const task = this.free.pop();
    if (task !== undefined) return task;
    this.counts.push(0);
    return this.counts.length - 1;
  }
}

/**
 * The sleep of a task, a fixed cycle: 1.01 ms, 1.02 ms … 2.00 ms.
 * @param {number} task
 */
export function sleepMsOf(task) {
  return 1 + ((task % 100) + 1) / 100;
}

/** @type {import('../../lib/types.js').Prepare} */
export function prepareSections({ seed, ops, options, phase, clock }) {
  const {
    test = 'lock',
    handler = 'script',
    keys = 1,
    expireMs = EXPIRE_MS_DEFAULT,
  } = /** @type {any} */ (options['parameters'] ?? {});
  const sets = drawSets(keys, seed, ops);
  const random = createRandom(seed, VALUE_STREAM);
  const now = clock === undefined ? () => 0 : () => clock.now();
  const state = new Sections();
  const lockOptions = { expireMs, blockMs: Number.POSITIVE_INFINITY };
  // A warm-up has more in flight than some tests, and needs no contention.
  const namesAt =
    phase === 'warmup'
      ? (/** @type {number} */ index) => sets[index % sets.length].map((name) => `${index}.${name}`)
      : (/** @type {number} */ index) => sets[index % sets.length];

  return (/** @type {Locks} */ locks) => {
    /** @param {number} index */
    const section = async (index) => {
      const task = state.take();
      try {
        if (test === 'count') await sleep(state, task, now);
        const mutex = locks.mutex(namesAt(index), lockOptions);
        const askedNs = now();
        await mutex.lock();
        state.waitsNs.push(now() - askedNs);
        const right = await inside(state, task, phase, () =>
          test === 'count' ? countUp(locks, drawBelow(random, VALUE_MAX), index, phase) : true,
        );
        const kept = await mutex.unlock();
        return { task, right: right && kept };
      } catch (error) {
        state.free.push(task);
        throw error;
      }
    };

    return {
      op: section,
      verify(_index, /** @type {Reply} */ { task, right }) {
        state.free.push(task);
        return right ? OK : MISMATCH;
      },
      async after() {
        if (phase === 'warmup') return undefined;
        const name = packageOf(handler);
        const installed = name === null ? null : findPackage(name);
        return {
          ...metricsOf(state, { test, ops }),
          ...(installed !== null && { packageVersion: installed.version.replace(/^v/, '') }),
        };
      },
    };
  };
}

/**
 * @param {Sections} state
 * @param {number} task
 * @param {() => number} now
 */
async function sleep(state, task, now) {
  const fromNs = now();
  // Node's timers have whole milliseconds, so the slept time is part of the result.
  await new Promise((resolve) => setTimeout(resolve, sleepMsOf(task)));
  state.sleptNs += now() - fromNs;
  state.slept += 1;
}

/**
 * @param {Sections} state
 * @param {number} task
 * @param {string | undefined} phase
 * @param {() => boolean | Promise<boolean>} work
 * @returns {Promise<boolean>} whether the task was alone and the work read the expected value
 */
async function inside(state, task, phase, work) {
  const alone = state.inside === 0 || phase === 'warmup';
  state.inside += 1;
  try {
    const right = (await work()) && alone;
    state.counts[task] += 1;
    if (!right) state.violations += 1;
    return right;
  } finally {
    state.inside -= 1;
  }
}

/**
 * @param {Locks} locks
 * @param {number} value
 * @param {number} index
 * @param {string | undefined} phase
 */
async function countUp({ number }, value, index, phase) {
  const name = phase === 'warmup' ? `${NUMBER}.${index}` : NUMBER;
  await number.set(name, value);
  const raised = await number.increment(name);
  const read = await number.get(name);
  await number.remove(name);
  return raised === value + 1 && read === value + 1;
}

/**
 * @param {Sections} state
 * @param {{ test: string, ops: number }} plan
 * @returns {import('../../lib/types.js').WorkloadMetrics}
 * @throws {Error} E_DATA: sections were lost
 */
function metricsOf({ counts, waitsNs, violations, slept, sleptNs, inside: left }, { test, ops }) {
  const sections = counts.reduce((sum, count) => sum + count, 0);
  if (left !== 0) throw dataError(`${left} critical sections were entered and never left`);
  if (test === 'lock' && sections < ops && waitsNs.length >= ops) {
    throw dataError(`${sections} critical sections of ${ops}: some were lost`);
  }
  return {
    sections,
    violations,
    tasks: counts.length,
    fairness: jainIndex(counts),
    sectionsMin: Math.min(...counts),
    sectionsMax: Math.max(...counts),
    ...waitMetrics(waitsNs),
    ...(slept > 0 && { sleepMeanNs: sleptNs / slept }),
  };
}

/**
 * Controls the processes of contenders. A contender is opened once and receives each segment by
 * message; idle contenders use no CPU time.
 */

import { fork } from 'node:child_process';
import { heapFlags } from '../lib/heap-size.js';
import { systemClock } from '../measure/clock.js';

/**
 * @typedef {object} JobResult
 * @property {number} operations
 * @property {number} durationNs
 * @property {number} cpuNs CPU time of the process
 */

/**
 * A contender's process.
 * @template Spec, Job
 */
export class Remote {
  /**
   * @template Spec, Job
   * @param {string} file module of the contender, which calls serve()
   * @param {Spec} spec
   * @returns {Promise<Remote<Spec, Job>>}
   */
  static async open(file, spec) {
    const remote = new Remote(file);
    await remote.ask({ spec });
    return remote;
  }

  /** @param {string} file */
  constructor(file) {
    this.child = fork(file, [], {
      execArgv: ['--expose-gc', '--no-warnings', ...heapFlags()],
      serialization: 'advanced',
    });
  }

  /**
   * @param {object} message
   * @returns {Promise<any>}
   */
  ask(message) {
    return new Promise((resolve, reject) => {
      const onExit = () => reject(new Error('a contender died'));
      this.child.once('exit', onExit);
      this.child.once('message', (/** @type {any} */ { failure, result }) => {
        this.child.off('exit', onExit);
        if (failure === undefined) resolve(result);
        else reject(new Error(failure));
      });
      this.child.send(message);
    });
  }

  /**
   * @param {Job} job
   * @returns {Promise<JobResult>}
   */
  run(job) {
    return this.ask({ job });
  }

  async close() {
    await this.ask({ end: true }).catch(() => {});
    this.child.kill('SIGKILL');
  }
}

/**
 * @typedef {Record<string, { remote: Remote<any, any>, job: any }>} Entries by name
 * @typedef {Record<string, { rate: number, cpuNs: number }[]>} Rounds by name, one entry per round
 */

/**
 * Runs every entry once per round, in mirrored order.
 * @param {Entries} entries
 * @param {number} rounds
 * @returns {Promise<Rounds>} rate: operations per second; cpuNs: per operation
 */
export async function inTurn(entries, rounds) {
  const names = Object.keys(entries);
  /** @type {Rounds} */
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const { remote, job } = entries[name];
      const { operations, durationNs, cpuNs } = await remote.run(job);
      // The first round is the warm-up.
      if (round < 0) continue;
      results[name].push({ rate: (operations / durationNs) * 1e9, cpuNs: cpuNs / operations });
    }
  }
  return results;
}

/**
 * @param {Rounds[string]} a
 * @param {Rounds[string]} b
 * @returns {number[]} rates of a over b, by round
 */
export const ratios = (a, b) => a.map(({ rate }, i) => rate / b[i].rate);

/** @param {Rounds[string]} rounds */
export const rates = (rounds) => rounds.map(({ rate }) => rate);

/** @param {number[]} values */
export const medianOf = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/**
 * @param {string[]} names
 * @param {Rounds} rounds
 * @returns {string} the one with the highest median
 */
export function best(names, rounds) {
  const median = (/** @type {string} */ name) => medianOf(rates(rounds[name]));
  return names.reduce((a, b) => (median(b) > median(a) ? b : a));
}

/**
 * @typedef {object} Contender
 * @property {(job: any) => Promise<JobResult>} run
 * @property {() => unknown} close
 */

/**
 * Process side: opens, runs and ends by messages.
 * @param {(spec: any) => Promise<Contender>} open
 */
export function serve(open) {
  /** @type {Contender | undefined} */
  let contender;
  process.on('disconnect', () => process.exit(0));
  process.on('message', async (/** @type {any} */ { spec, job, end }) => {
    try {
      if (spec !== undefined) {
        contender = await open(spec);
        process.send?.({});
      } else if (end) {
        await contender?.close();
        process.send?.({}, () => process.exit(0));
      } else {
        // A full collection only on request: with nothing in flight between segments, V8 would
        // discard code together with the last object it was compiled for.
        globalThis.gc?.({ type: job.collect ?? 'minor' });
        process.send?.({ result: await contender?.run(job) });
      }
    } catch (error) {
      process.send?.({ failure: `${error.code ?? ''} ${error.stack}` });
    }
  });
}

/**
 * @param {() => Promise<unknown>} work
 * @param {number} operations performed
 * @returns {Promise<JobResult>}
 */
export async function timed(work, operations) {
  const cpu = process.cpuUsage();
  const startNs = systemClock.now();
  await work();
  const durationNs = systemClock.now() - startNs;
  const { user, system } = process.cpuUsage(cpu);
  return { operations, durationNs, cpuNs: (user + system) * 1000 };
}

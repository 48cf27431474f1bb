/**
 * What is shown while a workload runs that is no race: which benchmark of how many, about how long
 * the others take, and the lines of an original program.
 */

import { formatElapsed } from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { systemClock } from '../measure/clock.js';
import { loadText } from './benchmark-name.js';
import { showWait } from './progress.js';

/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/types.js').ConsoleLine} ConsoleLine */
/** @typedef {import('../index.js').RunEvent} RunEvent */

/** Below this an estimate is of no use to anybody. */
const LEFT_NS_MIN = 2e9;

/**
 * How long the benchmarks take that have not run: each its own duration, where it has one, and what
 * those that have run took beside theirs, on average.
 */
export class TimeLeft {
  /** @param {Pick<import('../measure/clock.js').Clock, 'now'>} [clock] */
  constructor(clock = systemClock) {
    this.clock = clock;
    this.all = 0;
    this.plannedNs = 0;
    this.done = 0;
    this.besideNs = 0;
    this.startNs = clock.now();
  }

  /**
   * @param {readonly Benchmark[]} benchmarks
   * @param {number} rounds of each
   */
  plan(benchmarks, rounds) {
    this.all = benchmarks.length * rounds;
    this.plannedNs = rounds * benchmarks.reduce((sum, one) => sum + ownNs(one), 0);
    this.startNs = this.clock.now();
  }

  /** @param {Benchmark} benchmark that has ended */
  end(benchmark) {
    const nowNs = this.clock.now();
    this.besideNs += Math.max(0, nowNs - this.startNs - ownNs(benchmark));
    this.plannedNs -= ownNs(benchmark);
    this.done += 1;
    this.startNs = nowNs;
  }

  /** @returns {number | null} null: nothing has ended yet */
  get ns() {
    if (this.done === 0) return null;
    const left = this.all - this.done;
    const expectedNs = this.plannedNs + (left * this.besideNs) / this.done;
    return Math.max(0, expectedNs - (this.clock.now() - this.startNs));
  }

  /** @returns {string} `53 of 88, about 3 min 20 s left` */
  get text() {
    const { ns } = this;
    const at = `${Math.min(this.all, this.done + 1)} of ${this.all}`;
    return ns === null || ns < LEFT_NS_MIN ? at : `${at}, about ${formatElapsed(ns / 1e6)} left`;
  }
}

/** @param {Benchmark} benchmark */
function ownNs({ load }) {
  return load.durationNs ?? 0;
}

/**
 * @param {import('../lib/types.js').RunHooks} hooks
 * @param {import('../lib/types.js').ConsoleContext} about
 * @param {{ stdout: NodeJS.WritableStream, stderr: NodeJS.WritableStream,
 *   progress: import('./progress.js').Progress }} streams
 * @returns {(event: RunEvent) => void}
 */
export function showRun(hooks, about, { stdout, stderr, progress }) {
  const legacyLines = hooks.legacyLines?.(about) ?? (() => []);
  const time = new TimeLeft();
  const say = (/** @type {ConsoleLine} */ line) => {
    progress.done();
    if (typeof line === 'string') stdout.write(`${line}\n`);
    else stderr.write(`${line.error}\n`);
  };
  return (event) => {
    if (event.type === 'planned') {
      const planned = event.result.benchmarks.filter(({ state }) => state !== 'skipped');
      time.plan(planned, event.plan.rounds);
    }
    if (event.type === 'comparison') {
      const { round, phase, spentNs, leftNs } = event;
      progress.update(`round ${round + 1}, ${phase}`, spentNs / Math.max(1, spentNs + leftNs));
      return;
    }
    if (event.type === 'waiting') showWait(progress, `waiting for ${event.what}`);
    if (event.type === 'filling') progress.update(`filling ${event.storage}`);
    if (event.type === 'progress' || event.type === 'benchmark-start') {
      const settled = event.type === 'progress' && event.phase !== 'warmup' ? event.settled : 0;
      const operations = event.benchmark.load.operations ?? Number.POSITIVE_INFINITY;
      const share = time.done + settled / operations;
      const text = `${hooks.nameOf?.(event.benchmark) ?? nameOf(event.benchmark)} (${time.text})`;
      progress.update(text, time.all === 0 ? null : Math.min(1, share / time.all));
    }
    if (event.type === 'benchmark-end') time.end(event.benchmark);
    for (const line of legacyLines(event)) say(line);
  };
}

/** @param {Benchmark} benchmark */
function nameOf(benchmark) {
  const { parameters = {}, load } = benchmark;
  return [labelOf(benchmark), ...Object.values(parameters), loadText(load)].join(', ');
}

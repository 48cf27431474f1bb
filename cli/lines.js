/** A race while it goes on: a live view, or a line for each benchmark. */

import { prefix } from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { wrongOutcomes } from '../lib/outcome.js';
import { loadText } from './benchmark-name.js';
import { RaceView } from './race-view.js';
import { roundLine, SlicesView } from './slices-view.js';

/** @typedef {import('../index.js').RunEvent} RunEvent */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/result.js').Round} Round */

/**
 * @typedef {object} LineContext
 * @property {NodeJS.WritableStream} stdout
 * @property {import('./progress.js').Progress} progress
 * @property {boolean} [quiet]
 */

/**
 * Where the race is. On a terminal the view of all benchmarks, drawn again and again; elsewhere a
 * line for each benchmark that is done.
 * @param {LineContext & { live?: boolean }} context live: the view takes the place of the lines
 * @returns {(event: RunEvent) => void}
 */
export function benchmarkLines({ stdout, progress, quiet = false, live = false }) {
  /** @type {RaceView | SlicesView} */
  let view = new RaceView();
  /** @type {string[] | null} */
  let sliced = null;
  let done = 0;
  let all = 0;
  return (event) => {
    if (event.type === 'planned' && event.plan.slices !== undefined) {
      view = new SlicesView();
      sliced = event.plan.loads.map(loadText);
    }
    view.take(event);
    if (sliced !== null) {
      if (event.type === 'finished') progress.done();
      else if (event.type !== 'round-end') progress.show(view);
      else if (!live && !quiet) {
        progress.done();
        stdout.write(`${roundLine(event, sliced)}\n`);
      }
      return;
    }
    if (event.type === 'planned') {
      const benchmarks = event.result.benchmarks.filter(({ state }) => state === 'planned').length;
      // A search takes as many trials as it needs.
      all = event.plan.findMax === null ? benchmarks * event.plan.rounds : 0;
    }
    if (event.type === 'finished') progress.done();
    else if (event.type !== 'benchmark-end') progress.show(all === 0 ? oneLine(event) : view);
    if (event.type === 'benchmark-end') {
      done += 1;
      if (live && all > 0) return;
      progress.done();
      const place = all === 0 ? `${done}` : `${done}/${all}`;
      if (!quiet) stdout.write(`[${place}] ${benchmarkLine(event.benchmark, event.round)}\n`);
    }
  };
}

/**
 * @param {RunEvent} event of a run whose length is not known
 * @returns {import('./progress.js').View}
 */
function oneLine(event) {
  const line = () => {
    if (event.type === 'progress') return progressOf(event)[0];
    return event.type === 'filling' ? `filling ${event.storage}` : 'preparing';
  };
  return { line, lines: ({ columns }) => [prefix(line(), columns)] };
}

/**
 * @param {Benchmark} benchmark
 * @param {Round} round
 * @returns {string}
 */
function benchmarkLine(benchmark, round) {
  const head = `${labelOf(benchmark)}, ${loadText(benchmark.load)}`;
  if (round.state === 'failed') return `${head}: failed: ${round.failure?.message}`;
  const throughput = Math.round(round.throughput).toLocaleString('en-US');
  const wrong = wrongOutcomes(round);
  return `${head}: ${throughput} ops/s${wrong === '' ? '' : `; not counted: ${wrong}`}`;
}

/**
 * @param {Extract<RunEvent, { type: 'progress' }>} event
 * @returns {[string, number | null]}
 */
function progressOf({ benchmark, phase, settled }) {
  const { operations } = benchmark.load;
  const what = phase === 'warmup' ? 'warming up' : `${settled.toLocaleString('en-US')} ops`;
  const share = phase === 'warmup' || operations === null ? null : settled / operations;
  return [`${labelOf(benchmark)}, ${loadText(benchmark.load)}: ${what}`, share];
}

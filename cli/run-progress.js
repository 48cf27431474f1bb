/**
 * Progress of a run: its view, and lines on standard output: for a race one per benchmark or round,
 * for other workloads their legacy output.
 */

import { formatElapsed } from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { wrongOutcomes } from '../lib/outcome.js';
import { loadText } from './benchmark-name.js';
import { showWait } from './progress.js';
import { RunView, resolvesText } from './run-view.js';

/** @typedef {import('../lib/types.js').ConsoleLine} ConsoleLine */
/** @typedef {import('../index.js').RunEvent} RunEvent */

/** Events without a change of the display; the next event is drawn immediately. */
const ENDS = new Set(['benchmark-end', 'round-end', 'finished']);

/**
 * @param {{ stdout: NodeJS.WritableStream, stderr: NodeJS.WritableStream,
 *   progress: import('./progress.js').Progress }} streams
 * @param {{ linesOf?: (event: RunEvent) => readonly ConsoleLine[] } & ConstructorParameters< typeof
 *   RunView>[0]} [how] linesOf: lines on standard output, beside the view
 * @returns {(event: RunEvent) => void}
 */
export function showRun({ stdout, stderr, progress }, { linesOf = () => [], ...how } = {}) {
  const view = new RunView(how);
  return (event) => {
    view.take(event);
    if (event.type === 'planned') {
      const slow = event.result.warnings.filter(({ code }) => code === 'W_SLOW_BURST');
      for (const { message, hint } of slow) progress.done(`${message}; ${hint}`);
    }
    if (event.type === 'waiting') showWait(progress, `waiting for ${event.what}`);
    else if (!ENDS.has(event.type)) progress.show(view);
    for (const line of linesOf(event)) {
      progress.done();
      if (typeof line === 'string') stdout.write(`${line}\n`);
      else stderr.write(`${line.error}\n`);
    }
  };
}

/**
 * @param {{ live: boolean }} how live: a view on the same terminal replaces the lines, except for a
 *   search, whose length is unknown
 * @returns {(event: RunEvent) => string[]} for a race: one per round in blocks, or per finished
 *   benchmark
 */
export function raceLines({ live }) {
  /** @type {string[] | null} */
  let loads = null;
  let done = 0;
  let all = 0;
  return (event) => {
    if (event.type === 'planned') {
      const { plan, result } = event;
      if (plan.slices !== undefined) loads = plan.loads.map(loadText);
      const benchmarks = result.benchmarks.filter(({ state }) => state === 'planned');
      all = plan.findMax === null ? benchmarks.length * plan.rounds : 0;
    }
    if (event.type === 'round-end' && !live) return [roundLine(event, loads ?? [])];
    if (event.type !== 'benchmark-end' || loads !== null) return [];
    done += 1;
    if (live && all > 0) return [];
    return [`[${all === 0 ? done : `${done}/${all}`}] ${benchmarkLine(event)}`];
  };
}

/**
 * @param {Extract<RunEvent, { type: 'benchmark-end' }>} event
 * @returns {string}
 */
function benchmarkLine({ benchmark, round }) {
  const head = `${labelOf(benchmark)}, ${loadText(benchmark.load)}`;
  if (round.state === 'failed') return `${head}: failed: ${round.failure?.message}`;
  const throughput = Math.round(round.throughput).toLocaleString('en-US');
  const wrong = wrongOutcomes(round);
  return `${head}: ${throughput} ops/s${wrong === '' ? '' : `; not counted: ${wrong}`}`;
}

/**
 * @param {Extract<RunEvent, { type: 'round-end' }>} event
 * @param {readonly string[]} loads
 * @returns {string}
 */
export function roundLine({ round, spentNs, resolves }, loads) {
  const resolution = resolvesText(resolves, loads);
  return `round ${round + 1}: ${formatElapsed(spentNs / 1e6)}${resolution === '' ? '' : `, ${resolution}`}`;
}

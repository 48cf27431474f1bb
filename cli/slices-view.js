/**
 * A run by slices while it goes on: what each benchmark has given so far, the round and the block,
 * and the time that is left.
 */

import { displayWidth, formatElapsed, formatShare, plainText, prefix } from '../lib/format.js';
import { labelOf, loadText } from './benchmark-name.js';
import { bar } from './progress.js';

/** @typedef {import('../index.js').RunEvent} RunEvent */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('./progress.js').Area} Area */

const BAR_WIDTH = 20;

export class SlicesView {
  /** @type {Benchmark[]} */
  benchmarks = [];
  /** @type {Extract<RunEvent, { type: 'comparison' }> | null} */
  last = null;
  doing = 'preparing';

  /** @param {RunEvent} event */
  take(event) {
    if (event.type === 'planned') {
      this.benchmarks = event.result.benchmarks.filter(({ state }) => state === 'planned');
    }
    if (event.type === 'filling') this.doing = `filling ${event.storage}`;
    if (event.type === 'comparison') this.last = event;
  }

  /** @returns {number} 0 to 1 */
  get share() {
    if (this.last === null) return 0;
    const { spentNs, leftNs } = this.last;
    return spentNs / Math.max(1, spentNs + leftNs);
  }

  /** @returns {string} */
  line() {
    if (this.last === null) return this.doing;
    const { round, phase, leftNs } = this.last;
    const left = `about ${formatElapsed(leftNs / 1e6)} left`;
    return `round ${round + 1}, ${phase}; ${left} (${Math.floor(this.share * 100)} %)`;
  }

  /**
   * @param {Area} area
   * @returns {string[]}
   */
  lines({ columns, rows, colors }) {
    const shown = this.benchmarks.slice(0, Math.max(0, rows - 2));
    const width = Math.max(0, ...shown.map((one) => displayWidth(plainText(labelOf(one)))));
    const lines = shown.map((one) => {
      const name = plainText(labelOf(one));
      const label = name + ' '.repeat(width - displayWidth(name));
      return prefix(`${label}  ${figureOf(one)}  ${loadText(one.load)}`, columns);
    });
    const room = columns - BAR_WIDTH - 1;
    const drawn = room < 20 ? '' : `${bar(this.share, BAR_WIDTH, colors)} `;
    return [...lines, `${drawn}${prefix(this.line(), room < 20 ? columns : room)}`];
  }
}

/** @param {Benchmark} benchmark @returns {string} geometric mean of its rounds so far */
function figureOf({ rounds, state }) {
  if (state === 'failed') return 'failed'.padStart(16);
  const logs = rounds.flatMap(({ throughput }) => (throughput > 0 ? [Math.log(throughput)] : []));
  if (logs.length === 0) return ''.padStart(16);
  const mean = Math.exp(logs.reduce((sum, one) => sum + one, 0) / logs.length);
  return `${Math.round(mean).toLocaleString('en-US')} ops/s`.padStart(16);
}

/**
 * @param {Extract<RunEvent, { type: 'round-end' }>} event
 * @param {readonly string[]} loads
 * @returns {string} for where there is no terminal
 */
export function roundLine({ round, spentNs, resolves }, loads) {
  const parts = resolves.flatMap((one, i) =>
    one === null ? [] : [`${formatShare(one)} (${loads[i]})`],
  );
  const told = parts.length === 0 ? '' : `, resolves ${parts.join(', ')}`;
  return `round ${round + 1}: ${formatElapsed(spentNs / 1e6)}${told}`;
}

/**
 * A run by slices while it goes on: what each storage has given so far under each load, the round
 * and the block, what the run resolves by now, and the time that is left.
 */

import {
  displayWidth,
  formatElapsed,
  formatRatio,
  formatShare,
  plainText,
  prefix,
} from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { systemClock } from '../measure/clock.js';
import { loadText } from './benchmark-name.js';
import { bar } from './progress.js';

/** @typedef {import('../index.js').RunEvent} RunEvent */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('./progress.js').Area} Area */

const BAR_WIDTH = 20;
const BAR_MIN = 5;
const GAP = '  ';
/** In the view's own share and time; until the end nothing is complete. */
const SHARE_MAX = 0.99;

export class SlicesView {
  /** @param {{ clock?: Pick<import('../measure/clock.js').Clock, 'now'> }} [options] */
  constructor({ clock = systemClock } = {}) {
    this.clock = clock;
    /** @type {string[]} */
    this.loads = [];
    /** Benchmarks of a storage, by load. @type {Map<string, Map<string, Benchmark>>} */
    this.storages = new Map();
    /** @type {Extract<RunEvent, { type: 'comparison' }> | null} */
    this.last = null;
    this.lastNs = 0;
    /** Names of those with a server: they are compared. @type {Set<string>} */
    this.networked = new Set();
    /** @type {readonly (number | null)[]} */
    this.resolves = [];
    this.doing = 'preparing';
  }

  /** @param {RunEvent} event */
  take(event) {
    if (event.type === 'planned') this.plan(event.result);
    if (event.type === 'filling') this.doing = `filling ${event.storage}`;
    if (event.type === 'round-end') this.resolves = event.resolves;
    if (event.type === 'comparison') {
      this.last = event;
      this.lastNs = this.clock.now();
    }
  }

  /** @param {import('../lib/result.js').Result} result */
  plan({ benchmarks, storages }) {
    const networked = storages.filter(({ server }) => server !== null).map(labelOfStorage);
    this.networked = new Set(networked);
    for (const benchmark of benchmarks.filter(({ state }) => state === 'planned')) {
      const [name, load] = [plainText(labelOf(benchmark)), loadText(benchmark.load)];
      const own = this.storages.get(name) ?? new Map();
      this.storages.set(name, own.set(load, benchmark));
      if (!this.loads.includes(load)) this.loads.push(load);
    }
  }

  /** @returns {{ spentNs: number, leftNs: number }} by now; the last event may be seconds old */
  get time() {
    const { spentNs = 0, leftNs = 0 } = this.last ?? {};
    const sinceNs = this.last === null ? 0 : this.clock.now() - this.lastNs;
    return { spentNs: spentNs + sinceNs, leftNs: Math.max(0, leftNs - sinceNs) };
  }

  /** @returns {number} 0 to 1 */
  get share() {
    const { spentNs, leftNs } = this.time;
    return this.last === null ? 0 : Math.min(SHARE_MAX, spentNs / Math.max(1, spentNs + leftNs));
  }

  /** @returns {string} */
  line() {
    if (this.last === null) return this.doing;
    const { round, phase } = this.last;
    const { leftNs } = this.time;
    const left = leftNs < 1e9 ? 'ending' : `about ${formatElapsed(leftNs / 1e6)} left`;
    return `round ${round + 1}, ${phase}; ${left} (${Math.floor(this.share * 100)} %)`;
  }

  /**
   * @param {Area} area
   * @returns {string[]}
   */
  lines({ columns, rows, colors }) {
    const line = this.line();
    // Words first: a bar takes what they leave.
    const width = Math.min(BAR_WIDTH, columns - displayWidth(line) - 1);
    const drawn = width < BAR_MIN ? '' : `${bar(this.share, width, colors)} `;
    const told = resolvesText(this.resolves, this.loads);
    const last = [
      ...(told === '' ? [] : [prefix(told, columns)]),
      `${drawn}${prefix(line, columns)}`,
    ];
    return [...this.table(columns, rows - last.length - 1, colors), ...last];
  }

  /**
   * @param {number} columns
   * @param {number} rows
   * @param {Area['colors']} colors
   * @returns {string[]} a row for each storage, a column for each load that there is room for
   */
  table(columns, rows, colors) {
    const names = [...this.storages.keys()];
    const width = Math.max(0, ...names.map(displayWidth));
    const cellsOf = this.loads.map((load) => this.column(load, names));
    let shown = cellsOf.length;
    const widthOf = () =>
      cellsOf.slice(0, shown).reduce((sum, { width: own }) => sum + GAP.length + own, width);
    while (shown > 1 && widthOf() > columns) shown -= 1;
    const kept = cellsOf.slice(0, shown);
    const head = `${' '.repeat(width)}${kept.map((one) => GAP + one.head).join('')}`;
    const lines = names.map((name, i) => {
      const cells = kept.map(({ texts, fastest }) => {
        const text = GAP + texts[i];
        return i === fastest ? colors.green(text) : text;
      });
      const pad = ' '.repeat(width - displayWidth(name));
      const line = `${name}${pad}${cells.join('')}`.trimEnd();
      return widthOf() > columns ? prefix(name + GAP + kept[0]?.texts[i], columns) : line;
    });
    return [colors.dim(prefix(head, columns)), ...lines].slice(0, Math.max(0, rows));
  }

  /**
   * @param {string} load
   * @param {readonly string[]} names
   */
  column(load, names) {
    const benchmarks = names.map((name) => this.storages.get(name)?.get(load));
    const figures = benchmarks.map((one) => (one === undefined ? null : figureOf(one)));
    const networked = figures.map((one, i) => (this.networked.has(names[i]) ? one : null));
    const best = Math.max(...networked.map((one) => one ?? 0));
    const texts = figures.map((figure, i) => {
      if (benchmarks[i]?.state === 'failed') return 'failed';
      if (figure === null) return '';
      const ratio = networked[i] === null ? '' : formatRatio(figure / best);
      return `${Math.round(figure).toLocaleString('en-US')} ops/s ${ratio.padStart(7)}`;
    });
    const width = Math.max(displayWidth(load), 23, ...texts.map(displayWidth));
    return {
      width,
      head: load.padStart(width),
      texts: texts.map((text) => text.padStart(width)),
      fastest: best > 0 ? networked.indexOf(best) : -1,
    };
  }
}

/** @param {import('../lib/result.js').Result['storages'][number]} storage */
function labelOfStorage({ name, profile }) {
  return plainText(labelOf({ storage: name, profile }));
}

/** @param {Benchmark} benchmark @returns {number | null} geometric mean of its rounds so far */
function figureOf({ rounds }) {
  const logs = rounds.flatMap(({ throughput }) => (throughput > 0 ? [Math.log(throughput)] : []));
  if (logs.length === 0) return null;
  return Math.exp(logs.reduce((sum, one) => sum + one, 0) / logs.length);
}

/**
 * @param {readonly (number | null)[]} resolves by load
 * @param {readonly string[]} loads
 * @returns {string} empty where nothing is known yet
 */
function resolvesText(resolves, loads) {
  const parts = resolves.flatMap((one, i) =>
    one === null ? [] : [`${formatShare(one)} (${loads[i]})`],
  );
  return parts.length === 0 ? '' : `resolves ${parts.join(', ')}`;
}

/**
 * @param {Extract<RunEvent, { type: 'round-end' }>} event
 * @param {readonly string[]} loads
 * @returns {string} for where there is no terminal
 */
export function roundLine({ round, spentNs, resolves }, loads) {
  const told = resolvesText(resolves, loads);
  return `round ${round + 1}: ${formatElapsed(spentNs / 1e6)}${told === '' ? '' : `, ${told}`}`;
}

/**
 * View of a run in progress: a row per contender, a column per load with its figures so far, the
 * current precision, the position and the remaining time. Events in, lines out; cli/progress.js
 * draws them and decides how often.
 */

import {
  displayWidth,
  formatDuration,
  formatElapsed,
  formatRatio,
  formatShare,
  formatThroughput,
  plainText,
  prefix,
} from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { systemClock } from '../measure/clock.js';
import { figureOver } from '../stats/interval.js';
import { medianOf } from '../stats/metrics.js';
import { loadText } from './benchmark-name.js';
import { withBar } from './progress.js';

/** @typedef {import('../index.js').RunEvent} RunEvent */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('./progress.js').Area} Area */

/** A rate over a shorter time is too noisy. */
const RATE_AFTER_NS = 300e6;
/** Remaining times below this are not shown. */
const LEFT_NS_MIN = 2e9;
/** Upper bound of the displayed fraction before the end. */
const SHARE_MAX = 0.99;
const LABEL_MAX = 30;
const GAP = '  ';
/** Least widths of a figure, of a ratio and of a percentile. */
const WIDTHS = [12, 7, 12];
const PHASES = new Map([
  ['warmup', 'warming up'],
  ['measure', 'measuring'],
]);

/**
 * @typedef {object} Entry a benchmark to be measured
 * @property {Benchmark} benchmark
 * @property {string} row
 * @property {string} load
 * @property {number[]} besideNs overhead of each of its rounds: wall time minus the duration
 */

/**
 * @typedef {object} Running the current benchmark of a run without blocks
 * @property {Entry} entry
 * @property {number} startNs
 * @property {string} phase
 * @property {number} settled
 * @property {{ ns: number, settled: number } | null} first first progress event while measuring
 * @property {number} share completed fraction of its operations, 0 to 1
 * @property {number | null} rate operations per second until now
 */

export class RunView {
  /** @type {Entry[]} */
  #entries = [];
  /** @type {string[]} */
  #loads = [];
  /** Rows with a server, which are compared. @type {Set<string>} */
  #networked = new Set();
  /** Rounds per benchmark; null: unknown in a search. @type {number | null} */
  #rounds = 0;
  #isSliced = false;
  /** @type {Running | null} */
  #running = null;
  /** @type {Extract<RunEvent, { type: 'comparison' }> | null} */
  #last = null;
  /** Time of the last event with a time. */
  #lastNs = 0;
  /** @type {readonly (number | null)[]} by load */
  #resolves = [];
  #doing = 'preparing';

  /**
   * @param {{ clock?: Pick<import('../measure/clock.js').Clock, 'now'>, isRace?: boolean, nameOf?:
   *   (benchmark: Benchmark) => string, stepOf?: () => string }} [options] nameOf: name of a
   *   workload; stepOf: index of this run among several
   */
  constructor({ clock = systemClock, isRace = false, nameOf, stepOf = () => '' } = {}) {
    this.stepOf = stepOf;
    this.clock = clock;
    this.isRace = isRace;
    this.nameOf = nameOf;
  }

  /** @param {RunEvent} event */
  take(event) {
    if (event.type === 'planned') this.#plan(event);
    if (event.type === 'filling') this.#doing = `filling ${event.storage}`;
    if (event.type === 'round-end') this.#resolves = event.resolves;
    if (event.type === 'comparison') {
      this.#last = event;
      this.#lastNs = this.clock.now();
    }
    // In blocks, benchmarks alternate.
    if (this.#isSliced) return;
    if (event.type === 'benchmark-start') this.#start(event.benchmark);
    if (event.type === 'progress') this.#progress(event);
    if (event.type === 'benchmark-end') this.#end();
  }

  /** @param {Extract<RunEvent, { type: 'planned' }>} event */
  #plan({ result, plan }) {
    const { benchmarks, storages } = result;
    const planned = benchmarks.filter(({ state }) => state === 'planned');
    const isMixed = new Set(planned.map(({ workload }) => workload)).size > 1;
    const rowOf = (/** @type {Benchmark} */ one) =>
      this.nameOf?.(one) ??
      [
        labelOf(one),
        ...(isMixed ? [one.workload] : []),
        ...Object.values(one.parameters ?? {}),
      ].join(', ');
    this.#entries = planned.map((benchmark) => ({
      benchmark,
      row: plainText(rowOf(benchmark)),
      load: loadText(benchmark.load),
      besideNs: [],
    }));
    this.#loads = [...new Set(this.#entries.map(({ load }) => load))];
    const served = storages.filter(({ server }) => server !== null);
    const isServed = (/** @type {Benchmark} */ { storage, profile }) =>
      served.some((one) => one.name === storage && one.profile === profile);
    const networked = this.#entries.filter(({ benchmark }) => isServed(benchmark));
    this.#networked = new Set(networked.map(({ row }) => row));
    this.#isSliced = plan.slices !== undefined;
    this.#rounds = plan.findMax ? null : plan.rounds;
    this.#last = null;
    this.#lastNs = this.clock.now();
    this.#resolves = [];
    if (!this.#isSliced) this.#doing = 'measuring the harness overhead';
  }

  /** @param {Benchmark} benchmark */
  #start(benchmark) {
    const entry = this.#entries.find((one) => one.benchmark.id === benchmark.id);
    if (entry === undefined) return;
    this.#doing = '';
    this.#running = {
      entry,
      startNs: this.clock.now(),
      phase: 'opening',
      settled: 0,
      first: null,
      share: 0,
      rate: null,
    };
  }

  /** @param {Extract<RunEvent, { type: 'progress' }>} event */
  #progress({ benchmark, phase, settled }) {
    const running = this.#running;
    if (running === null || running.entry.benchmark.id !== benchmark.id) return;
    running.phase = phase;
    if (phase === 'warmup') return;
    const ns = this.clock.now();
    running.settled = settled;
    running.first ??= { ns, settled };
    const elapsedNs = ns - running.first.ns;
    if (elapsedNs >= RATE_AFTER_NS) {
      running.rate = ((settled - running.first.settled) / elapsedNs) * 1e9;
    }
    const { operations, durationNs } = benchmark.load;
    if (operations !== null) running.share = settled / operations;
    else if (durationNs !== null) running.share = elapsedNs / durationNs;
  }

  #end() {
    if (this.#running === null) return;
    const { entry } = this.#running;
    const nowNs = this.clock.now();
    entry.besideNs.push(Math.max(0, nowNs - this.#lastNs - ownNs(entry)));
    this.#lastNs = nowNs;
    this.#running = null;
  }

  /** @returns {number} finished rounds of benchmarks */
  get #done() {
    return this.#entries.reduce((sum, { besideNs }) => sum + besideNs.length, 0);
  }

  /** @returns {number} remaining time of a run without blocks */
  get #all() {
    return this.#entries.length * (this.#rounds ?? 0);
  }

  /** @returns {number | null} 0 to 1; null: unknown */
  get #share() {
    if (this.#last !== null) {
      const spentNs = this.#last.spentNs + this.clock.now() - this.#lastNs;
      return Math.min(SHARE_MAX, spentNs / Math.max(1, spentNs + (this.leftNs ?? 0)));
    }
    if (this.#isSliced || this.#rounds === null) return null;
    if (this.#running === null && !this.isRace) return null;
    if (this.#all === 0) return 0;
    return Math.min(1, (this.#done + (this.#running?.share ?? 0)) / this.#all);
  }

  /**
   * Time remaining time of a run without blocks: the duration of each if fixed, else the time of
   * others of its load; of a load that has not run, that of all.
   * @returns {number | null} current value; null: unknown
   */
  get leftNs() {
    const sinceNs = this.clock.now() - this.#lastNs;
    if (this.#last !== null) return Math.max(0, this.#last.leftNs - sinceNs);
    const besideOf = (/** @type {Entry[]} */ entries) =>
      medianOf(entries.flatMap(({ besideNs }) => besideNs));
    const usualNs = besideOf(this.#entries);
    if (usualNs === null || this.#rounds === null) return null;
    let leftNs = -sinceNs;
    for (const load of this.#loads) {
      const own = this.#entries.filter((one) => one.load === load);
      const besideNs = besideOf(own) ?? usualNs;
      for (const entry of own) {
        leftNs += (this.#rounds - entry.besideNs.length) * (ownNs(entry) + besideNs);
      }
    }
    return Math.max(0, leftNs);
  }

  /** @returns {string} `53 of 88, about 3 min 20 s left` */
  get #place() {
    const { leftNs } = this;
    const isKnown = leftNs !== null && leftNs >= LEFT_NS_MIN;
    const left = isKnown ? `, about ${formatElapsed(leftNs / 1e6)} left` : '';
    return `${Math.min(this.#all, this.#done + 1)} of ${this.#all}${left}`;
  }

  /** @returns {string} text without a terminal */
  line() {
    return `${this.#where(this.isRace)}${this.#percent}`;
  }

  get #percent() {
    const share = this.#share;
    return share === null ? '' : ` (${Math.floor(share * 100)} %)`;
  }

  /** @param {boolean} withLeft in blocks: include the remaining time */
  #where(withLeft) {
    if (this.#last !== null) {
      const { round, phase } = this.#last;
      const ns = this.leftNs ?? 0;
      const left = ns < 1e9 ? '; ending' : `; about ${formatElapsed(ns / 1e6)} left`;
      return `${this.stepOf()}round ${round + 1}, ${phase}${withLeft ? left : ''}`;
    }
    if (this.#running === null) return this.#doing || 'between two tests';
    const { entry, phase, settled, rate } = this.#running;
    const name = `${entry.row}, ${entry.load}`;
    if (!this.isRace) {
      return `${this.nameOf === undefined ? name : entry.row} (${this.#place})`;
    }
    if (this.#rounds === null) {
      const what = phase === 'warmup' ? 'warming up' : `${settled.toLocaleString('en-US')} ops`;
      return `${name}: ${what}`;
    }
    const what = phase === 'measure' ? `${formatThroughput(rate)} ops/s` : phase;
    return `[${this.#done + 1}/${this.#all}] ${name}: ${what}`;
  }

  /**
   * @param {Area} area
   * @returns {string[]}
   */
  lines({ columns, rows, colors }) {
    // Rows of several parts have more loads than columns.
    const isByLoad = this.#resolves.length === this.#loads.length;
    const resolution = isByLoad ? resolvesText(this.#resolves, this.#loads) : '';
    const last = [
      ...(resolution === '' ? [] : [prefix(resolution, columns)]),
      withBar(this.#share, this.#summary(), { columns, colors }),
    ];
    return [...this.#table(columns, rows - last.length, colors), ...last];
  }

  /** @returns {string} position of the run, for a terminal */
  #summary() {
    if (this.#isSliced || this.#all === 0) return `${this.#where(true)}${this.#percent}`;
    const doing = this.#running === null ? this.#doing : this.#running.entry.row;
    return `${this.#place}${doing === '' ? '' : `; ${doing}`}`;
  }

  /**
   * @param {number} columns
   * @param {number} rows
   * @param {Area['colors']} colors
   * @returns {string[]} as much as fits: rows and loads around the running one; percentiles and
   *   ratios are left out first
   */
  #table(columns, rows, colors) {
    const names = [...new Set(this.#entries.map(({ row }) => row))];
    const running = this.#running?.entry;
    const shown = around(names, rows - 1, names.indexOf(running?.row ?? ''));
    if (shown.length === 0) return [];
    const labels = shown.map((name) => prefix(name, LABEL_MAX));
    const width = Math.max(...labels.map(displayWidth));
    /** @type {Column[]} */
    let kept = [];
    for (const detail of [2, 1, 0]) {
      kept = this.#loads.map((load) => this.#column(load, shown, detail));
      if (kept.reduce((sum, one) => sum + GAP.length + one.width, width) <= columns) break;
    }
    const room = (columns - width) / (GAP.length + Math.max(0, ...kept.map((one) => one.width)));
    kept = around(kept, Math.max(1, Math.floor(room)), this.#loads.indexOf(running?.load ?? ''));
    const isNarrow = room < 1;
    const head = `${' '.repeat(width)}${kept.map((one) => GAP + one.head).join('')}`;
    const lines = labels.map((label, i) => {
      if (isNarrow) return prefix(`${label}${GAP}${kept[0].texts[i].trim()}`, columns);
      const cells = kept.map(({ texts, fastest, running: at }) => {
        const text = GAP + texts[i];
        if (i === at) return colors.bold(text);
        return i === fastest ? colors.green(text) : text;
      });
      return `${pad(label, width)}${cells.join('')}`.trimEnd();
    });
    return [colors.dim(prefix(head, columns)), ...lines];
  }

  /**
   * @typedef {object} Column
   * @property {number} width
   * @property {string} head
   * @property {string[]} texts
   * @property {number} fastest index of a row; -1: no row
   * @property {number} running index of a row; -1: no row
   *
   * @param {string} load
   * @param {readonly string[]} names names of rows
   * @param {number} detail 0: figures only; 1: with ratios; 2: with ratios and percentiles
   * @returns {Column}
   */
  #column(load, names, detail) {
    const entriesOfLoad = this.#entries.filter((one) => one.load === load);
    const entries = names.map((name) => entriesOfLoad.find(({ row }) => row === name));
    const compared = entriesOfLoad.filter(({ row }) => this.#networked.has(row));
    const best = Math.max(0, ...compared.map((one) => figureOf(one) ?? 0));
    const all = entries.map((entry) => {
      if (entry === undefined) return { texts: ['', '', ''], isFastest: false };
      const figure = figureOf(entry);
      const isCompared = figure !== null && this.#networked.has(entry.row);
      const { rounds } = entry.benchmark;
      const p99 = medianOf(rounds.flatMap(({ latency }) => latency?.p99Ns ?? []));
      return {
        texts: [
          this.#statusOf(entry, figure),
          isCompared ? formatRatio(figure / best) : '',
          p99 === null ? '' : `p99 ${formatDuration(p99).padStart(8)}`,
        ],
        isFastest: isCompared && figure === best,
      };
    });
    const widths = WIDTHS.slice(0, detail + 1).map((least, k) =>
      Math.max(least, ...all.map(({ texts }) => displayWidth(texts[k]))),
    );
    const texts = all.map((one) => widths.map((own, k) => one.texts[k].padStart(own)).join(GAP));
    const width = Math.max(displayWidth(load), ...texts.map(displayWidth));
    return {
      width,
      head: load.padStart(width),
      texts: texts.map((text) => text.padStart(width)),
      fastest: all.findIndex(({ isFastest }) => isFastest),
      running: entries.findIndex((one) => one !== undefined && one === this.#running?.entry),
    };
  }

  /**
   * @param {Entry} entry
   * @param {number | null} figure
   */
  #statusOf(entry, figure) {
    if (entry.benchmark.state === 'failed') return 'failed';
    const running = this.#running?.entry === entry ? this.#running : null;
    const known = running?.rate ?? figure;
    if (known !== null) return `${Math.round(known).toLocaleString('en-US')} ops/s`;
    return running === null ? '' : (PHASES.get(running.phase) ?? 'opening');
  }
}

/** @param {Entry} entry */
function ownNs({ benchmark }) {
  return benchmark.load.durationNs ?? 0;
}

/** @param {Entry} entry @returns {number | null} mean of its rounds until now, ops/s */
function figureOf({ benchmark }) {
  const values = benchmark.rounds.map(({ throughput }) => throughput).filter((one) => one > 0);
  return figureOver(values)?.value ?? null;
}

/** @param {string} text @param {number} width */
function pad(text, width) {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/**
 * @template T
 * @param {T[]} all
 * @param {number} most maximum number that fits
 * @param {number} at index that must be included
 * @returns {T[]} all, or those around that index
 */
function around(all, most, at) {
  if (all.length <= most) return all;
  const from = Math.max(0, Math.min(at - Math.floor(most / 2), all.length - most));
  return all.slice(from, from + Math.max(0, most));
}

/**
 * @param {readonly (number | null)[]} resolves by load
 * @param {readonly string[]} loads
 * @returns {string} empty if nothing is known yet
 */
export function resolvesText(resolves, loads) {
  const parts = resolves.flatMap((one, i) =>
    one === null ? [] : [`${formatShare(one)} (${loads[i]})`],
  );
  return parts.length === 0 ? '' : `resolves ${parts.join(', ')}`;
}

/**
 * A race while it goes on: one line for each benchmark with what is known of it so far, and where
 * the whole is. It takes events and says lines; drawing them, and how often, is progress.js.
 */

import { median } from 'simple-statistics';
import {
  displayWidth,
  formatDuration,
  formatElapsed,
  formatThroughput,
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

/** A rate over less than this is a matter of chance. */
const RATE_AFTER_NS = 300e6;
const LABEL_MAX = 30;
/** The least bar that says something; it takes what room there is, to a limit. */
const BAR = '-----';
const BAR_MAX = 20;
/** Below this the unit is short. */
const NARROW = 70;

/**
 * @typedef {object} Entry a benchmark that is to be measured
 * @property {Benchmark} benchmark
 * @property {string} label
 * @property {string} load
 * @property {number[]} took wall time of its rounds, ns
 */

/**
 * @typedef {object} Running
 * @property {Entry} entry
 * @property {number} startNs
 * @property {string} phase
 * @property {{ ns: number, settled: number } | null} first progress while measuring
 * @property {number} share of its operations, 0 to 1
 * @property {number | null} rate operations per second so far
 */

export class RaceView {
  /** @param {{ clock?: Pick<import('../measure/clock.js').Clock, 'now'> }} [options] */
  constructor({ clock = systemClock } = {}) {
    this.clock = clock;
    this.rounds = 0;
    /** @type {Entry[]} */
    this.entries = [];
    /** @type {Running | null} */
    this.running = null;
    this.doing = 'preparing';
  }

  /** @param {RunEvent} event */
  take(event) {
    if (event.type === 'planned') {
      this.rounds = event.plan.rounds;
      this.entries = event.result.benchmarks
        .filter(({ state }) => state === 'planned')
        .map((benchmark) => ({
          benchmark,
          label: plainText(labelOf(benchmark)),
          load: loadText(benchmark.load),
          took: [],
        }));
      this.doing = 'measuring the harnessOverhead';
    }
    if (event.type === 'filling') this.doing = `filling ${event.storage}`;
    if (event.type === 'benchmark-start') this.start(event.benchmark);
    if (event.type === 'progress') this.progress(event);
    if (event.type === 'benchmark-end') {
      this.running?.entry.took.push(this.clock.now() - this.running.startNs);
      this.running = null;
    }
  }

  /** @param {Benchmark} benchmark */
  start(benchmark) {
    const entry = this.entries.find((one) => one.benchmark.id === benchmark.id);
    if (entry === undefined) return;
    this.doing = '';
    const startNs = this.clock.now();
    this.running = { entry, startNs, phase: 'opening', first: null, share: 0, rate: null };
  }

  /** @param {Extract<RunEvent, { type: 'progress' }>} event */
  progress({ benchmark, phase, settled }) {
    const { running } = this;
    if (running === null || running.entry.benchmark.id !== benchmark.id) return;
    running.phase = phase;
    if (phase === 'warmup') return;
    const ns = this.clock.now();
    running.first ??= { ns, settled };
    const elapsedNs = ns - running.first.ns;
    if (elapsedNs >= RATE_AFTER_NS) {
      running.rate = ((settled - running.first.settled) / elapsedNs) * 1e9;
    }
    const { operations, durationNs } = benchmark.load;
    if (operations !== null) running.share = settled / operations;
    else if (durationNs !== null) running.share = elapsedNs / durationNs;
  }

  /** @returns {number} rounds of benchmarks that are done */
  get done() {
    return this.entries.reduce((sum, { took }) => sum + took.length, 0);
  }

  /** @returns {number} 0 to 1 */
  get share() {
    const all = this.entries.length * this.rounds;
    return all === 0 ? 0 : Math.min(1, (this.done + (this.running?.share ?? 0)) / all);
  }

  /**
   * What a round of a benchmark took before, it will take again; of a benchmark without a round, as
   * those of its load.
   * @param {Entry} entry
   * @returns {number | null} ns that its remaining rounds take; null: not known
   */
  leftNs(entry) {
    const same = this.entries.filter(({ load }) => load === entry.load).flatMap(({ took }) => took);
    const known = entry.took.length > 0 ? entry.took : same;
    if (known.length === 0) return null;
    const isRunning = this.running?.entry === entry;
    const spent = isRunning && this.running ? this.clock.now() - this.running.startNs : 0;
    const all = median(known) * (this.rounds - entry.took.length);
    return Math.max(0, all - spent);
  }

  /** @returns {string} for where there is no terminal */
  line() {
    const { running } = this;
    const share = `${Math.floor(this.share * 100)} %`;
    if (running === null) return `${this.doing || 'between two tests'} (${share})`;
    const { entry, rate, phase } = running;
    const what = phase === 'measure' ? `${formatThroughput(rate)} ops/s` : phase;
    const place = `${this.done + 1}/${this.entries.length * this.rounds}`;
    return `[${place}] ${entry.label}, ${entry.load}: ${what} (${share})`;
  }

  /**
   * @param {Area} area
   * @returns {string[]}
   */
  lines({ columns, rows, colors }) {
    const shown = this.window(Math.max(0, rows - 2));
    const best = this.leaders();
    const widths = {
      label: Math.min(
        LABEL_MAX,
        Math.max(0, ...this.entries.map(({ label }) => displayWidth(label))),
      ),
      load: Math.max(0, ...this.entries.map(({ load }) => displayWidth(load))),
    };
    const lines = shown.map((entry) => {
      const text = this.row(entry, { columns, widths, colors });
      if (entry === this.running?.entry) return colors.bold(text);
      return best.has(entry) ? colors.green(text) : text;
    });
    return [...lines, this.summary(columns)];
  }

  /**
   * @param {number} most lines that there is room for
   * @returns {Entry[]} all of them, or those around what is running
   */
  window(most) {
    const { entries, running } = this;
    if (entries.length <= most) return entries;
    const at = running === null ? 0 : entries.indexOf(running.entry);
    const from = Math.max(0, Math.min(at - Math.floor(most / 2), entries.length - most));
    return entries.slice(from, from + most);
  }

  /** @returns {Set<Entry>} the fastest of each load, where two or more have a figure */
  leaders() {
    /** @type {Set<Entry>} */
    const best = new Set();
    for (const load of new Set(this.entries.map((entry) => entry.load))) {
      const contenders = this.entries.filter(
        (entry) =>
          entry.load === load && entry.benchmark.storage !== 'memory' && figureOf(entry) !== null,
      );
      contenders.sort((a, b) => Number(figureOf(b)) - Number(figureOf(a)));
      if (contenders.length > 1) best.add(contenders[0]);
    }
    return best;
  }

  /**
   * @param {Entry} entry
   * @param {{ columns: number, widths: { label: number, load: number }, colors: Area['colors'] }}
   *   area
   * @returns {string} as much of it as fits; what matters least is left out first
   */
  row(entry, { columns, widths, colors }) {
    const running = this.running?.entry === entry ? this.running : null;
    const rounds = entry.took.length;
    const share = Math.min(1, (rounds + (running?.share ?? 0)) / Math.max(1, this.rounds));
    const p99 = p99Of(entry);
    const left = this.leftNs(entry);
    const unit = columns < NARROW ? '/s' : ' ops/s';
    const of = `${rounds}/${this.rounds}`.padStart(`${this.rounds}/${this.rounds}`.length);
    const parts = [
      { text: pad(prefix(entry.label, widths.label), widths.label), drop: 0 },
      { text: BAR, drop: 1.5 },
      { text: pad(entry.load, widths.load), drop: 2 },
      { text: of, drop: 3 },
      { text: statusOf(entry, running, unit).padStart(9 + unit.length), drop: 0 },
      { text: p99 === null ? ' '.repeat(12) : `p99 ${formatDuration(p99).padStart(8)}`, drop: 1 },
      { text: leftText(left, rounds === this.rounds).padStart(13), drop: 4 },
    ];
    let kept = parts;
    const width = () => kept.reduce((sum, { text }) => sum + displayWidth(text) + 2, -2);
    while (width() > columns && kept.some(({ drop }) => drop > 0)) {
      const next = kept.reduce((last, part) => (part.drop > last.drop ? part : last));
      kept = kept.filter((part) => part !== next);
    }
    const barWidth = Math.min(BAR_MAX, BAR.length + columns - width());
    const texts = kept.map(({ text }) => (text === BAR ? bar(share, barWidth, colors) : text));
    return kept.length === 2 ? prefix(texts.join('  '), columns) : texts.join('  ');
  }

  /**
   * @param {number} columns
   * @returns {string} where the whole is
   */
  summary(columns) {
    const all = this.entries.length * this.rounds;
    const each = this.entries.map((entry) => this.leftNs(entry));
    const known = each.filter((ns) => ns !== null);
    const ns = known.reduce((sum, value) => sum + value, 0);
    const left =
      known.length === 0 || known.length < each.length
        ? ''
        : `, about ${formatElapsed(ns / 1e6)} left`;
    const doing = this.doing === '' ? '' : `; ${this.doing}`;
    return prefix(`${this.done} of ${all} tests${left}${doing}`, columns);
  }
}

/** @param {string} text @param {number} width */
function pad(text, width) {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/** @param {Entry} entry */
function measured({ benchmark }) {
  return benchmark.rounds.filter(({ state }) => state === 'measured');
}

/** @param {Entry} entry @returns {number | null} median of its rounds, ops/s */
function figureOf(entry) {
  const values = measured(entry).map(({ throughput }) => throughput);
  return values.length === 0 ? null : median(values);
}

/** @param {Entry} entry @returns {number | null} median of its rounds, ns */
function p99Of(entry) {
  const values = measured(entry).flatMap(({ latency }) => latency?.p99Ns ?? []);
  return values.length === 0 ? null : median(values);
}

/**
 * @param {Entry} entry
 * @param {Running | null} running
 * @param {string} unit
 */
function statusOf(entry, running, unit) {
  if (entry.benchmark.state === 'failed') return 'failed';
  const figure = running?.rate ?? figureOf(entry);
  if (figure !== null) return `${formatThroughput(figure)}${unit}`;
  if (running === null) return '';
  return running.phase === 'warmup'
    ? 'warming up'
    : running.phase === 'measure'
      ? 'measuring'
      : 'opening';
}

/**
 * @param {number | null} ns
 * @param {boolean} isDone
 */
function leftText(ns, isDone) {
  if (isDone) return 'done';
  return ns === null ? '' : `${formatElapsed(ns / 1e6)} left`;
}

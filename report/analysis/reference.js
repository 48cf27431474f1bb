/**
 * A common reference of two runs, which sample different states of a machine that may cause a
 * difference. If both measured the same reference in the blocks of the benchmark (the ceiling of
 * its server, or the harness overhead for an embedded store), and the copy of a storage was tied
 * with it in both (A/A), the benchmark is divided by its reference. Pure.
 */

import { entriesOf } from '../../lib/comparison.js';
import { processMeans } from '../../stats/blocks.js';
import { compareRuns } from '../../stats/compare.js';
import { EFFECT_MIN } from '../../stats/separation.js';
import { figureOfEntries, soundOf, standingsOf } from '../../stats/standings.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */

/**
 * @typedef {object} Reference
 * @property {string} name
 * @property {number[]} base speed relative to the reference, by round
 * @property {number[]} other
 * @property {number} shift relative change of the reference between the runs, caused by the machine
 *   alone
 * @property {Witness[]} witnesses
 *
 * @typedef {object} Witness the same for an amount that supports the speed; less is better
 * @property {string} name `clientCpu`, `serverCpu` or `latency`
 * @property {number[]} base
 * @property {number[]} other
 * @property {number} shift
 */

/**
 * @param {Result} base
 * @param {Result} other
 * @param {Benchmark} benchmark a benchmark of both runs
 * @returns {Reference | null} null: no valid reference
 */
export function referenceOf(base, other, { id }) {
  const figure = figureOfEntries([base, other].flatMap((result) => entriesOfLoad(result, id)));
  const [first, two] = [speedsOf(base, id, figure), speedsOf(other, id, figure)];
  if (first === null || two === null || first.name !== two.name) return null;
  return {
    name: first.name,
    base: first.speeds,
    other: two.speeds,
    shift: shiftOf(first.reference, two.reference),
    witnesses: Object.entries(first.witnesses).flatMap(([name, base]) => {
      const other = two.witnesses[name];
      if (other === undefined) return [];
      const shift = shiftOf(base.reference, other.reference);
      return [{ name, base: base.speeds, other: other.speeds, shift }];
    }),
  };
}

/**
 * @param {number} one log
 * @param {number} two log
 */
function shiftOf(one, two) {
  return Math.expm1(Math.abs(two - one));
}

/**
 * @param {Result} result
 * @param {string} id id of a benchmark
 * @param {import('../../stats/blocks.js').Figure} figure figure of the speeds
 * @returns {(Divided & { name: string, witnesses: Record<string, Divided> }) | null}
 */
function speedsOf(result, id, figure) {
  const contender = loadOf(result, id)?.contenders.find(({ benchmark }) => benchmark === id);
  if (contender === undefined) return null;
  const entries = soundOf(entriesOfLoad(result, id));
  const at = entries.findIndex(({ name }) => name === contender.name);
  const reference = entries.findIndex(({ name, group }) =>
    contender.ceiling === undefined ? group === 'overhead' : name === contender.ceiling,
  );
  if (at < 0 || reference < 0 || at === reference || entries[at].time.length < 2) return null;
  const { again } = standingsOf(entries);
  if (again === null || (again.low ?? 0) > 1 || (again.high ?? 1) < 1) return null;
  const divided = (
    /** @type {(entry: Entry) => (number | null)[][]} */ of,
    /** @type {import('../../stats/blocks.js').Figure} */ as = 'trimmed',
  ) => divide(processMeans(entries.map(of), { figure: as }), at, reference);
  const speed = divided(({ time }) => time, figure);
  if (speed === null) return null;
  /** @type {Record<string, Divided>} */
  const witnesses = {};
  for (const name of Object.keys(entries[at].witnesses ?? {})) {
    const one = divided(({ witnesses: own, time }) => own?.[name] ?? time.map(() => []));
    if (one !== null) witnesses[name] = one;
  }
  return { name: entries[reference].name, ...speed, witnesses };
}

/** @param {Result} result @param {string} id id of a benchmark */
function loadOf({ comparison }, id) {
  return comparison?.loads.find(({ contenders }) =>
    contenders.some(({ benchmark }) => benchmark === id),
  );
}

/** @param {Result} result @param {string} id id of a benchmark */
function entriesOfLoad(result, id) {
  const load = loadOf(result, id);
  return load === undefined ? [] : entriesOf(load);
}

/** @typedef {import('../../stats/standings.js').Entry} Entry */

/**
 * @typedef {object} Divided
 * @property {number[]} speeds relative to the reference, by round
 * @property {number} reference mean of the logs of its speeds
 */

/**
 * @param {number[][]} means by entry and round
 * @param {number} at
 * @param {number} reference
 * @returns {Divided | null} null: a round lacks a figure
 */
function divide(means, at, reference) {
  const speeds = means[at].map((mean, round) => Math.exp(means[reference][round] - mean));
  if (!speeds.every(Number.isFinite)) return null;
  const sum = means[reference].reduce((total, mean) => total + mean, 0);
  return { speeds, reference: sum / speeds.length };
}

/**
 * @param {Witness} witness
 * @returns {NonNullable<import('./comparison.js').ComparedBenchmark['witnesses']>}
 */
export function toWitness({ name, base, other, shift }) {
  const margin = Math.max(EFFECT_MIN, shift);
  const [{ ratio, low, high, answer }] = compareRuns([{ a: other, b: base, margin }]);
  if (ratio === null || low === null || high === null) return [];
  const amountAnswer = answer === 'faster' ? 'less' : answer === 'slower' ? 'more' : 'undecided';
  // Inverted ratios of speeds: amounts.
  return [
    {
      name: /** @type {'clientCpu' | 'serverCpu' | 'latency'} */ (name),
      ratio: 1 / ratio,
      low: 1 / high,
      high: 1 / low,
      verdict: amountAnswer,
    },
  ];
}

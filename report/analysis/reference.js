/**
 * A reference that two runs have in common: two runs are samples of different states of a machine,
 * and a difference between them may come from there. Where both measured the same reference in the
 * same blocks as the benchmark (the ceiling of its server, or the harness overhead for an embedded
 * store), and both found the copy of a storage equal to itself (A/A), the benchmark is divided by
 * its reference. Pure.
 */

import { entriesOf } from '../../lib/comparison.js';
import { processMeans } from '../../stats/blocks.js';
import { compareRuns } from '../../stats/compare.js';
import { EFFECT_MIN } from '../../stats/separation.js';
import { soundOf, standingsOf } from '../../stats/standings.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */

/**
 * @typedef {object} Reference
 * @property {string} name
 * @property {number[]} base speed over that of the reference, by round
 * @property {number[]} other
 * @property {number} shift of the reference itself between the runs, as a share: what they differ
 *   in by machine alone
 * @property {Witness[]} witnesses
 *
 * @typedef {object} Witness the same of what bears witness to the speed: less is faster
 * @property {string} name `clientCpu`, `serverCpu` or `latency`
 * @property {number[]} base
 * @property {number[]} other
 * @property {number} shift
 */

/**
 * @param {Result} base
 * @param {Result} other
 * @param {Benchmark} benchmark of both
 * @returns {Reference | null} null: there is none that is sound
 */
export function referenceOf(base, other, { id }) {
  const [one, two] = [speedsOf(base, id), speedsOf(other, id)];
  if (one === null || two === null || one.name !== two.name) return null;
  return {
    name: one.name,
    base: one.speeds,
    other: two.speeds,
    shift: shiftOf(one.reference, two.reference),
    witnesses: Object.entries(one.witnesses).flatMap(([name, base]) => {
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
 * @param {string} id of a benchmark
 * @returns {(Divided & { name: string, witnesses: Record<string, Divided> }) | null}
 */
function speedsOf({ comparison }, id) {
  const load = comparison?.loads.find(({ contenders }) =>
    contenders.some(({ benchmark }) => benchmark === id),
  );
  const own = load?.contenders.find(({ benchmark }) => benchmark === id);
  if (load === undefined || own === undefined) return null;
  const entries = soundOf(entriesOf(load));
  const at = entries.findIndex(({ name }) => name === own.name);
  const reference = entries.findIndex(({ name, group }) =>
    own.ceiling === undefined ? group === 'overhead' : name === own.ceiling,
  );
  if (at < 0 || reference < 0 || at === reference || entries[at].time.length < 2) return null;
  const { again } = standingsOf(entries);
  if (again === null || (again.low ?? 0) > 1 || (again.high ?? 1) < 1) return null;
  const divided = (/** @type {(entry: Entry) => (number | null)[][]} */ of) =>
    divide(entries.map(of), at, reference);
  const speed = divided(({ time }) => time);
  if (speed === null) return null;
  /** @type {Record<string, Divided>} */
  const witnesses = {};
  for (const name of Object.keys(entries[at].witnesses ?? {})) {
    const one = divided(({ witnesses: own, time }) => own?.[name] ?? time.map(() => []));
    if (one !== null) witnesses[name] = one;
  }
  return { name: entries[reference].name, ...speed, witnesses };
}

/** @typedef {import('../../stats/standings.js').Entry} Entry */

/**
 * @typedef {object} Divided
 * @property {number[]} speeds over that of the reference, by round
 * @property {number} reference mean of its logs
 */

/**
 * @param {(number | null)[][][]} logs by entry, round and block
 * @param {number} at
 * @param {number} reference
 * @returns {Divided | null} null: one of them has no figure in a round
 */
function divide(logs, at, reference) {
  const means = processMeans(logs);
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
  const said = answer === 'faster' ? 'less' : answer === 'slower' ? 'more' : 'undecided';
  // Ratios of speeds, turned over: amounts.
  return [
    {
      name: /** @type {'clientCpu' | 'serverCpu' | 'latency'} */ (name),
      ratio: 1 / ratio,
      low: 1 / high,
      high: 1 / low,
      verdict: said,
    },
  ];
}

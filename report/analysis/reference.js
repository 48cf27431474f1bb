/**
 * A reference that two runs have in common: two runs are samples of different states of a machine,
 * and a difference between them may come from there. Where both measured the same reference in the
 * same blocks as the benchmark (the ceiling of its server, or the harness overhead for an embedded
 * store), and both found the copy of a storage equal to itself (A/A), the benchmark is divided by
 * its reference. Pure.
 */

import { entriesOf } from '../../lib/comparison.js';
import { processMeans } from '../../stats/blocks.js';
import { standingsOf } from '../../stats/standings.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */

/**
 * @typedef {object} Reference
 * @property {string} name
 * @property {number[]} base speed over that of the reference, by round
 * @property {number[]} other
 * @property {number} shift of the reference itself between the runs, as a share: what they differ
 *   in by machine alone
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
    shift: Math.expm1(Math.abs(two.reference - one.reference)),
  };
}

/**
 * @param {Result} result
 * @param {string} id of a benchmark
 * @returns {{ name: string, speeds: number[], reference: number } | null} reference: log of ns
 */
function speedsOf({ comparison }, id) {
  const load = comparison?.loads.find(({ contenders }) =>
    contenders.some(({ benchmark }) => benchmark === id),
  );
  const own = load?.contenders.find(({ benchmark }) => benchmark === id);
  if (load === undefined || own === undefined) return null;
  const entries = entriesOf(load);
  const at = entries.findIndex(({ name }) => name === own.name);
  const reference = entries.findIndex(({ name, group }) =>
    own.ceiling === undefined ? group === 'overhead' : name === own.ceiling,
  );
  if (at < 0 || reference < 0 || at === reference || entries[at].time.length < 2) return null;
  const { again } = standingsOf(entries);
  if (again === null || again.low > 1 || again.high < 1) return null;
  const means = processMeans(entries.map(({ time }) => time));
  const speeds = means[at].map((mean, round) => Math.exp(means[reference][round] - mean));
  if (!speeds.every(Number.isFinite)) return null;
  const sum = means[reference].reduce((total, mean) => total + mean, 0);
  return { name: entries[reference].name, speeds, reference: sum / means[reference].length };
}

/**
 * The benchmarks of one workload and load as entries of a comparison, and their standings: from the
 * segments that the result keeps, or from rounds where these ran whole. Pure.
 */

import { entriesOf, entriesOfRounds, isOfLoad } from '../../lib/comparison.js';
import { standingsOf } from '../../stats/standings.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../lib/comparison.js').StoredLoad} StoredLoad */
/** @typedef {import('../../stats/standings.js').Standings} Standings */
/** @typedef {import('../../stats/standings.js').Entry} Entry */

/**
 * @typedef {object} Comparison of one load
 * @property {StoredLoad | null} stored its segments; null: it ran whole
 * @property {Benchmark['load']} load
 * @property {Standings} standings
 * @property {Entry[]} entries what they are made of
 *
 * @typedef {object} Compared a benchmark
 * @property {Benchmark} source
 * @property {string} label
 * @property {'server' | 'embedded' | 'overhead'} kind
 * @property {Benchmark['state']} state
 * @property {number} wrong
 * @property {number} notRun
 */

const GROUPS = Object.freeze({
  server: /** @type {const} */ ('networked'),
  embedded: /** @type {const} */ ('embedded'),
  overhead: /** @type {const} */ ('overhead'),
});

/**
 * @param {readonly Compared[]} all of one workload and load
 * @param {Pick<Result, 'comparison' | 'state'>} result
 * @returns {Comparison | null} null: an open loop, whose throughput is what was offered, or nothing
 *   was measured
 */
export function comparisonOf(all, { comparison, state }) {
  const [first] = all;
  if (first === undefined || first.source.load.kind === 'rate') return null;
  const { load } = first.source;
  const stored = comparison?.loads.find((one) => isOf(one, first.source)) ?? null;
  const fit = all.filter(isFit);
  const without = new Set(all.filter((one) => !fit.includes(one)).map(({ label }) => label));
  const entries =
    stored !== null
      ? entriesOf(stored, { without })
      : entriesOfRounds(fit.map(toContender), {
          // What the others have not run yet tells nothing.
          ...(state !== 'complete' && fit.length > 0 && { rounds: Math.min(...fit.map(roundsOf)) }),
        });
  const standings = standingsOf(entries);
  return standings.rows.length === 0 ? null : { stored, load, standings, entries };
}

/**
 * @param {StoredLoad} stored
 * @param {Benchmark} source
 */
function isOf(stored, source) {
  const { part, workload = source.workload } = stored;
  return !part && workload === source.workload && isOfLoad(stored, source);
}

/** @param {Compared} one @returns {boolean} what gave wrong replies or failed is no contender */
function isFit({ wrong, notRun, state, source }) {
  if (source.rounds.length === 0) return false;
  return wrong === 0 && (state === 'aborted' || (state === 'measured' && notRun === 0));
}

/** @param {Compared} one */
function toContender({ label, kind, source }) {
  return { name: label, group: GROUPS[kind], rounds: source.rounds };
}

/** @param {Compared} one @returns {number} up to its last that was measured */
function roundsOf({ source }) {
  const measured = source.rounds.filter(({ state }) => state === 'measured');
  return Math.max(-1, ...measured.map(({ round }) => round)) + 1;
}

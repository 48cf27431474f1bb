/**
 * The benchmarks of one workload and load as entries of a comparison, and their standings: from the
 * segments in the result, or from rounds without blocks. Pure.
 */

import { entriesOf, entriesOfRounds, isOfLoad } from '../../lib/comparison.js';
import { medianOf } from '../../stats/metrics.js';
import { standingsOf } from '../../stats/standings.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../lib/comparison.js').StoredLoad} StoredLoad */
/** @typedef {import('../../stats/standings.js').Standings} Standings */
/** @typedef {import('../../stats/standings.js').Entry} Entry */

/**
 * @typedef {object} Comparison comparison under one load
 * @property {StoredLoad | null} stored its segments; null: without blocks
 * @property {Benchmark['load']} load
 * @property {Standings} standings
 * @property {Entry[]} entries benchmarks of the entries
 * @property {{ load: number | null, cores: number }} machine load: average over a minute, median
 *   over rounds
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
 * @param {readonly Compared[]} all benchmarks of one workload and load
 * @param {Pick<Result, 'comparison' | 'state' | 'environment'>} result
 * @returns {Comparison | null} null: an open loop, whose throughput is the offered rate, or nothing
 *   was measured
 */
export function comparisonOf(all, { comparison, state, environment }) {
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
          // Rounds that the others have not run yet are not comparable.
          ...(state !== 'complete' && fit.length > 0 && { rounds: Math.min(...fit.map(roundsOf)) }),
        });
  const standings = standingsOf(entries);
  if (standings.rows.length === 0) return null;
  const loads = comparison?.loadAverages?.filter((one) => one !== null) ?? [];
  const { cores, loadAverage } = environment;
  const machine = { load: medianOf(loads) ?? loadAverage?.[0] ?? null, cores };
  return { stored, load, standings, entries, machine };
}

/**
 * @param {StoredLoad} stored
 * @param {Benchmark} source
 */
function isOf(stored, source) {
  const { part, workload = source.workload } = stored;
  return !part && workload === source.workload && isOfLoad(stored, source);
}

/**
 * @param {Compared} one @returns {boolean} whether it is a contender: no failure and no wrong
 *   replies
 */
function isFit({ wrong, notRun, state, source }) {
  if (source.rounds.length === 0 || source.unranked !== undefined) return false;
  return wrong === 0 && (state === 'aborted' || (state === 'measured' && notRun === 0));
}

/** @param {Compared} one */
function toContender({ label, kind, source }) {
  return { name: label, group: GROUPS[kind], rounds: source.rounds };
}

/** @param {Compared} one @returns {number} up to its last measured one */
function roundsOf({ source }) {
  const measured = source.rounds.filter(({ state }) => state === 'measured');
  return Math.max(-1, ...measured.map(({ round }) => round)) + 1;
}

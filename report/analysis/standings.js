/**
 * What slices tell of a group of benchmarks: figures, ratios and ranks with the intervals of a
 * comparison, instead of those from whole rounds. Pure.
 */

import { entriesOf, isOfLoad } from '../../lib/comparison.js';
import { NEARLY_FULL, verdictOfOccupancy } from '../../stats/occupancy.js';
import { standingsOf } from '../../stats/standings.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/comparison.js').StoredLoad} StoredLoad */
/** @typedef {import('../../stats/standings.js').Standings} Standings */
/** @typedef {import('../../stats/standings.js').Row} StandingsRow */
/** @typedef {import('./rows.js').Group} Group */
/** @typedef {import('./rows.js').Row} Row */

/**
 * @typedef {object} Comparison of one load
 * @property {StoredLoad} load
 * @property {Standings} standings
 * @property {import('../../stats/standings.js').Entry[]} entries what they are made of
 */

/**
 * @param {Group} group
 * @param {Result} result
 * @returns {Comparison | null} null: it was not measured by slices, or in fewer than two rounds
 */
export function comparisonOf({ load, rows }, { comparison }) {
  const found = comparison?.loads.find((one) => !one.part && isOfLoad(one, { load }));
  if (found === undefined || (load.processes ?? 1) > 1) return null;
  const wrong = rows.filter((row) => row.wrong + row.notRun > 0 || row.state !== 'measured');
  const without = new Set(wrong.map(({ label }) => label));
  const entries = entriesOf(found, { without });
  if (!entries.some(({ time }) => time.length >= 2)) return null;
  return { load: found, standings: standingsOf(entries), entries };
}

/**
 * @param {Group} group its rows get the figures of the comparison, where there is one
 * @param {Result} result
 */
export function applyStandings(group, result) {
  const comparison = comparisonOf(group, result);
  if (comparison === null) return;
  group.comparison = comparison;
  const { rows: standings } = comparison.standings;
  for (const row of group.rows) {
    const found = standings.find(({ name }) => name === row.label);
    row.rank = null;
    row.ratio = null;
    if (found === undefined) continue;
    row.standing = found;
    if (found.drift?.marked) row.mark ??= 'drift';
    row.throughput = summaryOf(row, found);
    if (found.group === 'networked' && found.rank !== null) {
      row.rank = { best: found.rank, worst: found.rankWorst ?? found.rank };
    }
    row.bound = boundBySlices(row, comparison.load) ?? row.bound;
    row.ratio = found.vsFastest?.ratio ?? null;
    row.ofServerCeiling = found.ofCeiling?.ratio ?? null;
    row.clientCpuNs = found.witnesses['clientCpu']?.value ?? row.clientCpuNs;
    row.serverCpuNs = found.witnesses['serverCpu']?.value ?? row.serverCpuNs;
  }
  const order = { server: 0, embedded: 1, overhead: 2 };
  group.rows.sort(
    (a, b) =>
      order[a.kind] - order[b.kind] || (b.throughput?.median ?? 0) - (a.throughput?.median ?? 0),
  );
  const [fastest] = group.rows;
  group.reference = fastest?.standing === undefined ? null : fastest;
}

/**
 * @param {Row} row
 * @param {StandingsRow} standing
 * @returns {Row['throughput']} geometric mean over the processes, with its own interval
 */
function summaryOf({ throughput }, { nsPerOperation, halfWidth }) {
  if (throughput === null) return null;
  const value = 1e9 / nsPerOperation;
  const [low, high] = [value / (1 + halfWidth), value * (1 + halfWidth)];
  const interval = { ...throughput.interval, low, high, relativeHalfWidth: halfWidth };
  return { ...throughput, median: value, mean: value, interval };
}

/**
 * @param {Row} row
 * @param {StoredLoad} load
 * @returns {Row['bound']} by how full the threads were; null: not known
 */
function boundBySlices({ label, kind }, { contenders }) {
  const rounds = contenders.find(({ name }) => name === label)?.rounds ?? [];
  const middle = (/** @type {'client' | 'server'} */ side) => {
    const known = rounds.flatMap(({ occupancy }) => occupancy?.[side] ?? []).sort((a, b) => a - b);
    return known.length === 0 ? null : known[known.length >> 1];
  };
  const [client, server] = [middle('client'), middle('server')];
  // A server that cannot be read is not known to wait.
  const isBlind = kind === 'server' && server === null && (client ?? 0) < NEARLY_FULL;
  if (client === null || kind === 'overhead' || isBlind) return null;
  const verdict = verdictOfOccupancy(client, server);
  return { verdict, clientShare: client, serverShare: server };
}

/**
 * The check of a run by slices itself, as a small table with a column for each load: what it
 * resolves, the same storage twice, the ceilings, Little's law, what was compared. Pure.
 */

import { formatBytes, formatCount, formatDuration, formatShare, plainText } from '../lib/format.js';
import { flightName, shapeName } from '../lib/load-name.js';
import { figureOf, medianOf } from '../stats/metrics.js';
import { halfText } from './answers.js';
import { tableOfItems } from './model.js';

/** @typedef {import('./analysis/rows.js').Group} Group */
/** @typedef {import('./analysis/standings.js').Comparison} Comparison */
/** @typedef {Comparison & { stored: NonNullable<Comparison['stored']> }} Sliced */
/** @typedef {Group & { comparison: Sliced }} Compared */

/**
 * @typedef {object} Check
 * @property {string} name
 * @property {(string | null)[]} texts one for each load; null: not known
 */

/**
 * @param {readonly Group[]} groups
 * @returns {import('../lib/report-types.js').Table[]} none where nothing was measured by slices
 */
export function checkTables(groups) {
  const compared = /** @type {Compared[]} */ (
    groups.filter(({ comparison }) => comparison?.stored)
  );
  if (compared.length === 0) return [];
  const checks = checksOf(compared).filter(({ texts }) => texts.some((text) => text !== null));
  const columns = compared.map(({ load }, i) => ({
    key: `load_${i}`,
    name: flightName(load),
    head: headOf(load),
    unit: 'text',
    better: null,
    drop: 0,
    align: /** @type {const} */ ('left'),
    of: (/** @type {Check} */ { texts }) => figureOf(texts[i], 1),
  }));
  const spec = { row: [{ key: 'name', name: 'check' }], metrics: columns };
  return [tableOfItems('Checks of this run', spec, checks)];
}

/**
 * @param {Group['load']} load
 * @returns {[string, string]} in two lines, where its connections or its values are named too
 */
function headOf({ inFlight, ...shape }) {
  const more = shapeName(shape).replace(/^,? /, '');
  return more === '' ? ['', flightName({ inFlight })] : [flightName({ inFlight }), more];
}

/** @param {readonly Compared[]} groups @returns {Check[]} */
function checksOf(groups) {
  const each = (
    /** @type {string} */ name,
    /** @type {(group: Compared) => string | null} */ of,
  ) => ({ name, texts: groups.map(of) });
  const ceilings = new Set(groups.flatMap((group) => ceilingsOf(group).map(({ name }) => name)));
  return [
    each('resolves differences of', ({ comparison: { standings } }) =>
      standings.resolves === null ? null : formatShare(standings.resolves),
    ),
    each('not separated, up to', undecidedText),
    each(`A/A: ${copied(groups)} twice`, ({ comparison: { standings } }) => {
      if (standings.again === null) return null;
      const { ratio, halfWidth } = standings.again;
      return `${ratio.toFixed(3)}${halfText(halfWidth)}`;
    }),
    each('throughput × latency', littleText),
    each('in flight, steady part', steadyText),
    each('replies compared', comparedText),
    each('harness overhead', overheadText),
    ...[...ceilings].map((name) =>
      each(plainText(name), (group) => {
        const found = ceilingsOf(group).find((row) => row.name === name);
        return found === undefined ? null : `${formatCount(1e9 / found.nsPerOperation)} ops/s`;
      }),
    ),
    each('processors', ({ comparison: { stored } }) => placementText(stored.placement)),
  ];
}

/** @param {Compared} group */
function ceilingsOf({ comparison: { standings } }) {
  return standings.rows.filter(({ group }) => group === 'ceiling');
}

/** @param {Compared} group */
function undecidedText({ comparison: { standings } }) {
  const all = standings.rows.flatMap(({ rank, vsFastest }) =>
    rank === null || vsFastest === null || vsFastest.ratio === 1 ? [] : (vsFastest.possible ?? []),
  );
  return all.length === 0 ? null : formatShare(Math.max(...all));
}

/** @param {readonly Compared[]} groups */
function copied([{ comparison }]) {
  const again = comparison.stored.contenders.find(({ group }) => group === 'again');
  return plainText(again?.of ?? '');
}

/**
 * Little's law: operations per second times mean latency is the number in flight, which is counted
 * apart. Of rows with a server: an embedded store answers within the call.
 * @param {Compared} group
 */
function littleText({ rows }) {
  const rounds = rows
    .filter(({ kind }) => kind === 'server')
    .flatMap(({ source }) => source.rounds)
    .filter(({ latency, durationNs }) => latency !== null && durationNs > 0);
  if (rounds.length === 0) return null;
  const products = rounds.map(({ latency, durationNs }) =>
    latency === null ? 0 : (latency.count / durationNs) * latency.meanNs,
  );
  const shown = (/** @type {number[]} */ values) => (medianOf(values) ?? 0).toPrecision(3);
  return `${shown(products)} (counted ${shown(rounds.map((round) => round.inFlightMean))})`;
}

/**
 * Counted while every worker has one in flight: without the begin and the end of slices.
 * @param {Compared} group
 */
function steadyText({ rows }) {
  const counted = rows
    .filter(({ kind }) => kind === 'server')
    .flatMap(({ source }) => source.rounds.flatMap(({ inFlightSteady }) => inFlightSteady ?? []));
  return medianOf(counted)?.toPrecision(3) ?? null;
}

/** @param {Compared} group */
function comparedText({ rows }) {
  const all = rows.flatMap(({ source }) => source.rounds.flatMap(({ compared }) => compared ?? []));
  if (all.length === 0) return null;
  const sum = (/** @type {'replies' | 'bytes'} */ name) =>
    all.reduce((total, one) => total + one[name], 0);
  return `${formatCount(sum('replies'))}, ${formatBytes(sum('bytes'))}`;
}

/** @param {Compared} group */
function overheadText({ comparison: { standings } }) {
  const found = standings.rows.find(({ group }) => group === 'overhead');
  return found === undefined ? null : formatDuration(found.nsPerOperation);
}

/** @param {import('../lib/comparison.js').StoredLoad['placement']} placement */
function placementText({ kind, client, server, reason }) {
  if (kind === 'one-cpu') return `client and servers: ${client.join(', ')}`;
  if (kind === 'two-cpus') return `client ${client.join(', ')}; servers ${server.join(', ')}`;
  if (kind === 'pinned') return `client ${client.join(', ')} (--pin)`;
  return `any${reason === null ? '' : ` (${plainText(reason)})`}`;
}

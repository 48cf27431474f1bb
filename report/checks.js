/**
 * Self-checks of a run in blocks, as a small table with a column per load: precision, A/A,
 * ceilings, Little's law, compared replies. Pure.
 */

import {
  formatCount,
  formatDuration,
  formatRatio,
  formatShare,
  formatWidth,
  plainText,
} from '../lib/format.js';
import { flightName, shapeName } from '../lib/load-name.js';
import { comparedShare, figureOf, medianOf } from '../stats/metrics.js';
import { figureOfEntries } from '../stats/standings.js';
import { tableOfItems } from './model.js';

/** @typedef {import('./analysis/rows.js').Group} Group */
/** @typedef {import('./analysis/standings.js').Comparison} Comparison */
/** @typedef {Comparison & { stored: NonNullable<Comparison['stored']> }} Sliced */
/** @typedef {Group & { comparison: Sliced }} Compared */

/**
 * @typedef {object} Check
 * @property {string} name
 * @property {(string | null)[]} texts one per load; null: unknown
 */

/**
 * @param {readonly Group[]} groups
 * @param {Pick<import('../lib/result.js').Result, 'comparison'>} result
 * @returns {import('../lib/report-types.js').Table[]} empty if nothing was measured in blocks
 */
export function checkTables(groups, { comparison }) {
  const compared = /** @type {Compared[]} */ (
    groups.filter(({ comparison }) => comparison?.stored)
  );
  if (compared.length === 0) return [];
  const checks = checksOf(compared, comparison?.spentNs ?? 0).filter(({ texts }) =>
    texts.some((text) => text !== null),
  );
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
 * @returns {[string, string]} two lines if connections or values are included
 */
function headOf({ inFlight, ...shape }) {
  const more = shapeName(shape).replace(/^,? /, '');
  return more === '' ? ['', flightName({ inFlight })] : [flightName({ inFlight }), more];
}

/** @param {readonly Compared[]} groups @param {number} spentNs @returns {Check[]} */
function checksOf(groups, spentNs) {
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
      return `${ratio.toFixed(3)}${formatWidth(halfWidth, ratio, formatRatio)}`;
    }),
    each('ratios are of', figureText),
    each('time in segments that count', ({ comparison: { stored } }) =>
      stored.measuredNs === undefined || spentNs === 0
        ? null
        : `${formatShare(stored.measuredNs / spentNs)} of ${formatDuration(spentNs)}`,
    ),
    each('throughput × latency', littleText),
    each('in flight, steady part', steadyText),
    each('replies compared', comparedText),
    each('counted by servers', countedText),
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

/**
 * @param {Compared} group
 * @returns {string | null} reason why intervals are not of the typical speed: unknown garbage
 *   collection of a contender; null: they are, or no garbage is charged
 */
function figureText({ comparison: { stored, entries } }) {
  if (stored.garbage !== 'own' || figureOfEntries(entries) === 'typical') return null;
  const names = entries
    .filter(({ group, ownGarbage }) => /networked|embedded|again/.test(group) && !ownGarbage)
    .map(({ name }) => plainText(name));
  return `trimmed means: garbage of ${names.join(', ')} unknown`;
}

/** @param {readonly Compared[]} groups */
function copied([{ comparison }]) {
  const again = comparison.stored.contenders.find(({ group }) => group === 'again');
  return plainText(again?.of ?? '');
}

/**
 * Little's law: operations per second times mean latency equals the number in flight, which is
 * counted separately. Only rows with a server: an embedded store replies within the call.
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
 * Counted while every worker has one in flight, without start and end of segments.
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
  const replies = all.reduce((sum, one) => sum + one.replies, 0);
  const share = comparedShare(all.map((compared) => ({ compared })));
  return `${formatCount(replies)}${share ? `, ${formatShare(share)} in full` : ''}`;
}

/** @param {Compared} group @returns {string | null} number of segments with a server count */
function countedText({ rows }) {
  const all = rows.flatMap(({ source }) => source.rounds.flatMap(({ counted }) => counted ?? []));
  const sum = (/** @type {'operations' | 'replies'} */ name) =>
    all.reduce((total, one) => total + one[name], 0);
  if (sum('replies') === 0) return null;
  return `${formatCount(sum('operations'))} for ${formatCount(sum('replies'))} replies`;
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

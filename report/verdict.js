/**
 * What a race by slices says, in words and first of all: who is fastest, who cannot be told from
 * it, how far the others are, and which differences the run resolves. Pure.
 */

import { formatRatio, formatShare, plainText } from '../lib/format.js';

/** @typedef {import('./analysis/rows.js').Group} Group */
/** @typedef {import('./analysis/standings.js').Comparison} Comparison */
/** @typedef {import('../stats/standings.js').Row} Row */

/** So many are named of those that are slower. */
const NAMED_MAX = 4;

/**
 * @param {readonly Group[]} groups
 * @returns {string[]} a paragraph for each load
 */
export function verdictLines(groups) {
  return groups.flatMap(({ comparison }) => (comparison ? verdictOf(comparison) : []));
}

/** @param {Comparison} comparison */
function verdictOf({ load, standings: { rows, resolves } }) {
  const kind = rows.some(({ group }) => group === 'networked') ? 'networked' : 'embedded';
  const [fastest, ...others] = rows.filter(({ group }) => group === kind);
  if (fastest === undefined) return [];
  const what = kind === 'networked' ? 'networked driver' : 'embedded store';
  const where = `${load.inFlight} in flight`;
  if (others.length === 0) return [`One ${what}, ${where}: ${plainText(fastest.name)}.`];
  const parts = [`Fastest ${what}, ${where}: ${plainText(fastest.name)}${tiesOf(fastest)}.`];
  const slower = others.filter(({ name }) => !fastest.tiedWith.includes(name));
  if (slower.length > 0) {
    const named = slower.slice(0, NAMED_MAX).map(ratioText).join(', ');
    const more = slower.length > NAMED_MAX ? ` and ${slower.length - NAMED_MAX} more` : '';
    parts.push(`Slower: ${named}${more}.`);
  }
  parts.push(...cpuOf(fastest, others));
  if (resolves !== null) parts.push(`Resolves differences of ${formatShare(resolves)}.`);
  return [parts.join(' ')];
}

/** @param {Row} fastest */
function tiesOf({ tiedWith }) {
  return tiedWith.length === 0 ? '' : `; tied: ${tiedWith.map(plainText).join(', ')}`;
}

/** @param {Row} row */
function ratioText({ name, vsFastest }) {
  if (vsFastest === null) return plainText(name);
  return `${plainText(name)} ${formatRatio(vsFastest.ratio)} ± ${formatShare(vsFastest.halfWidth)}`;
}

/**
 * Where time does not tell a tie apart and the client's CPU time does.
 * @param {Row} fastest
 * @param {readonly Row[]} others
 * @returns {string[]}
 */
function cpuOf(fastest, others) {
  const less = others.flatMap((row) => {
    const ratio = row.witnesses['clientCpu']?.ratio;
    if (!fastest.tiedWith.includes(row.name) || !ratio || ratio.answer === 'cannot tell') return [];
    const amount = formatRatio(1 / ratio.ratio);
    return [`${plainText(row.name)} ${amount} of ${plainText(fastest.name)}’s`];
  });
  return less.length === 0 ? [] : [`Client CPU per operation of the tied: ${less.join(', ')}.`];
}

/**
 * @param {readonly Group[]} groups
 * @returns {string[]} the check of the run itself, a line for each load
 */
export function comparisonNotes(groups) {
  return groups.flatMap(({ comparison, rows }) => {
    if (!comparison) return [];
    const { standings, load } = comparison;
    const { resolves, again } = standings;
    const copy = load.contenders.find(({ group }) => group === 'again')?.of ?? '';
    const undecided = standings.rows.flatMap(({ vsFastest }) => vsFastest?.cannotTellBelow || []);
    const parts = [
      ...(resolves === null ? [] : [`resolves differences of ${formatShare(resolves)}`]),
      ...(again === null
        ? []
        : [
            `A/A (${plainText(copy)} twice) ${again.ratio.toFixed(3)} ± ${formatShare(again.halfWidth)}`,
          ]),
      ...(undecided.length === 0
        ? []
        : [`ties: cannot tell below ${formatShare(Math.max(...undecided))}`]),
      ...ceilingText(standings.rows),
      ...littleText(rows),
      placementText(load.placement),
    ];
    return [`${load.inFlight} in flight: ${parts.join('; ')}`];
  });
}

/** @param {readonly Row[]} rows @returns {string[]} */
function ceilingText(rows) {
  const ceilings = rows.filter(({ group }) => group === 'ceiling');
  if (ceilings.length === 0) return [];
  const each = ceilings.map(
    ({ name, nsPerOperation }) =>
      `${plainText(name)} ${Math.round(1e9 / nsPerOperation).toLocaleString('en-US')}`,
  );
  return [`server ceilings, ops/s: ${each.join(', ')}`];
}

/**
 * Little's law: operations per second times mean latency is the number in flight.
 * @param {Group['rows']} rows
 * @returns {string[]}
 */
function littleText(rows) {
  const all = rows.flatMap(({ source, kind }) =>
    kind === 'overhead' ? [] : source.rounds.flatMap((round) => lawOf(round)),
  );
  if (all.length === 0) return [];
  return [
    `throughput × latency is within ${formatShare(Math.max(...all))} of the number in flight as counted`,
  ];
}

/** @param {import('../lib/result.js').Round} round @returns {number[]} */
function lawOf({ latency, durationNs, inFlightMean }) {
  if (latency === null || !(durationNs > 0) || !(inFlightMean > 0)) return [];
  const expected = (latency.count / durationNs) * latency.meanNs;
  return [Math.abs(expected / inFlightMean - 1)];
}

/** @param {import('../lib/comparison.js').StoredLoad['placement']} placement */
function placementText({ kind, client, server, reason }) {
  if (kind === 'one-cpu') return `client and servers on processor ${client.join(', ')}`;
  if (kind === 'two-cpus') {
    return `client on processor ${client.join(', ')}, servers on ${server.join(', ')}`;
  }
  if (kind === 'pinned') return `client on processors ${client.join(', ')} (--pin)`;
  return `client and servers on any processor${reason === null ? '' : ` (${reason})`}`;
}

/**
 * What a race by slices says, in words: who is fastest, who cannot be told from it, how far the
 * others are, and which differences the run resolves. Pure.
 */

import { formatRatio, formatShare, plainText } from '../lib/format.js';
import { flightName } from '../lib/load-name.js';

/** @typedef {import('./analysis/rows.js').Group} Group */
/** @typedef {import('./analysis/standings.js').Comparison} Comparison */
/** @typedef {import('../stats/standings.js').Row} Row */
/** @typedef {import('../stats/separation.js').Ratio} Ratio */

/** So many are named of those that are slower, where room is short. */
const NAMED_MAX = 4;

/**
 * @param {readonly Group[]} groups
 * @param {{ short?: boolean }} [options] short: names only the fastest of those that are slower
 * @returns {string[]} a paragraph for each load
 */
export function verdictLines(groups, { short = false } = {}) {
  const most = short ? NAMED_MAX : Infinity;
  return groups.flatMap(({ comparison }) => (comparison ? verdictOf(comparison, most) : []));
}

/**
 * @param {Comparison} comparison
 * @param {number} most slower ones that are named
 */
function verdictOf({ load, standings: { rows, resolves } }, most) {
  const kind = rows.some(({ group }) => group === 'networked') ? 'networked' : 'embedded';
  const [fastest, ...others] = rows.filter(({ group }) => group === kind);
  if (fastest === undefined) return [];
  const what = kind === 'networked' ? 'networked driver' : 'embedded store';
  const where = flightName(load);
  if (others.length === 0) return [`One ${what}, ${where}: ${plainText(fastest.name)}.`];
  const tied = others.filter(({ name }) => fastest.tiedWith.includes(name));
  const slower = others.filter((one) => !tied.includes(one));
  const parts = [
    `Fastest ${what}, ${where}: ${plainText(fastest.name)}${tieText(tied)}.`,
    ...cpuSentence(fastest, tied),
    ...slowerSentence(slower, most),
    ...(resolves === null ? [] : [`Resolves differences of ${formatShare(resolves)}.`]),
  ];
  return [parts.join(' ')];
}

/**
 * @param {readonly Row[]} tied with the fastest
 * @returns {string} `; tied: a, b (cannot tell below 4.1 %)`
 */
function tieText(tied) {
  if (tied.length === 0) return '';
  const below = Math.max(...tied.map(({ vsFastest }) => vsFastest?.cannotTellBelow ?? 0));
  const names = tied.map(({ name }) => plainText(name)).join(', ');
  return `; tied: ${names} (cannot tell below ${formatShare(below)})`;
}

/**
 * @param {readonly Row[]} slower
 * @param {number} most
 * @returns {string[]}
 */
function slowerSentence(slower, most) {
  if (slower.length === 0) return [];
  const named = slower.slice(0, most);
  const left = slower.length - named.length;
  const widths = new Set(
    named.flatMap(({ vsFastest }) => (vsFastest ? formatShare(vsFastest.halfWidth) : [])),
  );
  const [width] = widths;
  // Pooled, the interval is the same for all: it is said once.
  const isCommon = widths.size === 1 && named.length > 1;
  const names = named.map((row) => ratioText(row.name, row.vsFastest, { bare: isCommon }));
  const more = left > 0 ? ` and ${left} more` : '';
  return [`Slower${isCommon ? ` (each ± ${width})` : ''}: ${names.join(', ')}${more}.`];
}

/**
 * @param {string} name
 * @param {Ratio | null} ratio
 * @param {{ bare?: boolean }} [options] bare: without the interval
 */
function ratioText(name, ratio, { bare = false } = {}) {
  if (ratio === null) return plainText(name);
  const interval = bare ? '' : ` ± ${formatShare(ratio.halfWidth)}`;
  return `${plainText(name)} ${formatRatio(ratio.ratio)}${interval}`;
}

/**
 * Where time does not tell a tie apart and CPU time per operation does.
 * @param {Row} fastest
 * @param {readonly Row[]} tied
 * @returns {string[]}
 */
function cpuSentence(fastest, tied) {
  const sides = /** @type {const} */ ([
    ['clientCpu', 'client'],
    ['serverCpu', 'server'],
  ]);
  const told = sides.flatMap(([witness, side]) => {
    const decided = tied.flatMap(({ name, witnesses }) => {
      const ratio = witnesses[witness]?.ratio ?? null;
      if (ratio === null || ratio.answer === 'cannot tell') return [];
      // Ratios are of speeds: what takes more CPU time has the smaller one.
      return [ratioText(name, { ...ratio, ratio: 1 / ratio.ratio })];
    });
    return decided.length === 0 ? [] : [`${side} ${decided.join(', ')}`];
  });
  if (told.length === 0) return [];
  return [`CPU per operation tells them apart: ${told.join('; ')} of ${plainText(fastest.name)}.`];
}

/**
 * @param {readonly Group[]} groups
 * @returns {string[]} remarks on rows that a reader would stumble over
 */
export function comparisonNotes(groups) {
  return groups.flatMap(({ comparison }) => {
    if (!comparison) return [];
    const { standings, load } = comparison;
    return standings.rows.flatMap(({ name, ofCeiling, drift }) => [
      ...(ofCeiling !== null && ofCeiling.ratio > 1 ? [aboveText(name, ofCeiling, load)] : []),
      ...(drift?.marked ? [driftText(name, drift, load)] : []),
    ]);
  });
}

/**
 * @param {string} name
 * @param {Ratio} ratio
 * @param {Comparison['load']} load
 */
function aboveText(name, ratio, load) {
  const what =
    ratio.answer === 'faster'
      ? 'more than its server ceiling, whose single connection is no limit for it'
      : 'its server ceiling, as far as the intervals tell';
  return `${plainText(name)}, ${flightName(load)}, reaches ${what}: ${ratioText('', ratio).trim()}`;
}

/**
 * @param {string} name
 * @param {import('../stats/drift.js').Drift} drift
 * @param {Comparison['load']} load
 */
function driftText(name, { ratio, low, high }, load) {
  const change = ratio < 1 ? 'less' : 'more';
  const half = Math.sqrt(high / low) - 1;
  return (
    `${plainText(name)}, ${flightName(load)}, drifted: the last third of its slices took ` +
    `${formatShare(Math.abs(ratio - 1))} ± ${formatShare(half)} ${change} time than the first`
  );
}

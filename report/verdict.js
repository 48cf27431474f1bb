/**
 * What a run says, in words: who is fastest, who is not separated from it, how far the others are,
 * and which differences the run resolves. Pure.
 */

import { formatRatio, formatShare, formatThroughput, plainText } from '../lib/format.js';
import { flightName } from '../lib/load-name.js';
import { isDecided } from '../stats/separation.js';
import { ratioText } from './answers.js';

/** @typedef {import('./analysis/rows.js').Group} Group */
/** @typedef {import('./analysis/standings.js').Comparison} Comparison */
/** @typedef {import('../stats/standings.js').Row} Row */
/** @typedef {import('../stats/separation.js').Ratio} Ratio */

/** So many are named of those that are slower; tables have all. */
const NAMED_MAX = 4;

/**
 * @param {Comparison} comparison
 * @returns {string[]} the sentences of its load as one; none without a contender
 */
export function verdictOf({ load, standings: { rows, resolves } }) {
  const kind = rows.some(({ group }) => group === 'networked') ? 'networked' : 'embedded';
  const [fastest, ...others] = rows.filter(({ group }) => group === kind);
  if (fastest === undefined) return [];
  const what = kind === 'networked' ? 'networked driver' : 'embedded store';
  const where = flightName(load);
  if (others.length === 0) return [`One ${what}, ${where}: ${plainText(fastest.name)}.`];
  if (fastest.rank === null) {
    const told = `${plainText(fastest.name)}, ${formatThroughput(1e9 / fastest.nsPerOperation)} ops/s`;
    const next = namedText(others[0].name, others[0].vsFastest);
    const figures = `Highest figure, ${what}, ${where}: ${told}; next ${next}`;
    return [`${figures}. Not resolved: one round has no interval.`];
  }
  const close = others.filter(({ name }) => fastest.tiedWith.includes(name));
  const slower = others.filter((one) => one.vsFastest?.answer === 'slower');
  const parts = [
    `Fastest ${what}, ${where}: ${plainText(fastest.name)}${tieText(close)}.`,
    ...cpuSentence(fastest, close),
    ...slowerSentence(slower),
    ...(resolves === null ? [] : [`Resolves differences of ${formatShare(resolves)}.`]),
  ];
  return [parts.join(' ')];
}

/**
 * @param {readonly Row[]} close not separated from the fastest
 * @returns {string} `; tied: a (within 4.1 %); not resolved: b, c (below 14 %)`
 */
function tieText(close) {
  const answers = /** @type {const} */ (['tied', 'not resolved']);
  return answers
    .map((answer) => {
      const own = close.filter(({ vsFastest }) => vsFastest?.answer === answer);
      if (own.length === 0) return '';
      const most = Math.max(...own.map(({ vsFastest }) => vsFastest?.possible ?? 0));
      const names = own.map(({ name }) => plainText(name)).join(', ');
      return `; ${answer}: ${names} (${answer === 'tied' ? 'within' : 'below'} ${formatShare(most)})`;
    })
    .join('');
}

/**
 * @param {readonly Row[]} slower
 * @returns {string[]}
 */
function slowerSentence(slower) {
  if (slower.length === 0) return [];
  const named = slower.slice(0, NAMED_MAX);
  const left = slower.length - named.length;
  const widths = new Set(
    named.flatMap(({ vsFastest }) =>
      vsFastest?.halfWidth ? formatShare(vsFastest.halfWidth) : [],
    ),
  );
  const [width] = widths;
  // Pooled, the interval is the same for all: it is said once.
  const isCommon = widths.size === 1 && named.length > 1;
  const names = named.map((row) =>
    isCommon
      ? `${plainText(row.name)} ${formatRatio(row.vsFastest?.ratio ?? null)}`
      : namedText(row.name, row.vsFastest),
  );
  const more = left > 0 ? ` and ${left} more` : '';
  return [`Slower${isCommon ? ` (each ± ${width})` : ''}: ${names.join(', ')}${more}.`];
}

/**
 * @param {string} name
 * @param {Ratio | null} ratio
 */
function namedText(name, ratio) {
  return ratio === null ? plainText(name) : `${plainText(name)} ${ratioText(ratio)}`;
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
      if (ratio === null || !isDecided(ratio.answer)) return [];
      // Ratios are of speeds: what takes more CPU time has the smaller one.
      return [namedText(name, { ...ratio, ratio: 1 / ratio.ratio })];
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
  return `${plainText(name)}, ${flightName(load)}, reaches ${what}: ${ratioText(ratio)}`;
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

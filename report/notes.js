/**
 * Notes on all rows of a result, one line each: run-to-run noise, comparison of driver versions,
 * scaling over processes.
 */

import { formatCount, formatRatio, formatShare, plainText } from '../lib/format.js';
import { loadName } from '../lib/load-name.js';
import { pairsOf } from './analysis/pairs.js';
import { scalingsOf } from './analysis/scaling.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('./analysis/rows.js').Group} Group */

/**
 * @param {Result} result
 * @param {Group[]} groups
 * @returns {string[]}
 */
export function noteLines(result, groups) {
  return [
    ...noiseLine(groups),
    ...pairsOf(groups, result.storages).map(pairLine),
    ...scalingsOf(groups, result.environment).map(scalingLine),
  ];
}

/**
 * @param {Group[]} groups
 * @returns {string[]}
 */
function noiseLine(groups) {
  const parts = groups.flatMap(({ load, noise, comparison }) =>
    // The A/A row says it better.
    comparison !== undefined ||
    // In an open loop the throughput is what was offered.
    noise.noise === null ||
    load.kind === 'rate'
      ? []
      : [`±${formatShare(noise.noise)} (${loadName(load)}, n ${formatCount(noise.n)})`],
  );
  return parts.length === 0 ? [] : [`run-to-run noise: ${parts.join(', ')}`];
}

/** @param {import('./analysis/pairs.js').Pair} pair */
function pairLine({ a, b, load, comparison }) {
  const { ratio, low, high, pHolm, n, verdict, roundsNeeded } = comparison;
  const shown = pHolm !== null && pHolm < 0.001 ? 'p < 0.001' : `p ${(pHolm ?? 1).toFixed(3)}`;
  const range = low === null || high === null ? '' : `${rangeText(low, high)}, ${shown}, `;
  const needed =
    verdict === 'undecided' && roundsNeeded ? `; --rounds ${roundsNeeded} may decide` : '';
  const answer = verdict === 'undecided' ? cannotTell(low, high) : verdict;
  return plainText(
    `${a.label} vs ${b.label}, ${loadName(load)}: ${formatRatio(ratio)} ` +
      `(${range}n ${n}): ${answer}${needed}`,
  );
}

/** @param {import('./analysis/scaling.js').Scaling} scaling */
function scalingLine({ label, load, processes, ratio, low, high, verdict, reason }) {
  const range = low === null || high === null ? '' : ` (${rangeText(low, high)})`;
  const said = {
    more: 'faster',
    less: 'slower',
    same: 'no gain',
    undecided: cannotTell(low, high),
  }[verdict];
  return plainText(
    `${label}, ${loadName({ ...load, processes: 1 })}: ${processes} processes reach ` +
      `${formatRatio(ratio)} of one process${range}: ${said}${reason === null ? '' : `; ${reason}`}`,
  );
}

/**
 * @param {number | null} low
 * @param {number | null} high
 * @returns {string} `cannot tell below 6.0 %`: the greatest difference that the interval leaves
 */
function cannotTell(low, high) {
  if (low === null || high === null) return 'cannot tell';
  return `cannot tell below ${formatShare(Math.max(1 / low, high) - 1)}`;
}

/**
 * @param {number} low
 * @param {number} high
 */
function rangeText(low, high) {
  return `${low.toFixed(3)}–${high.toFixed(3)}`;
}

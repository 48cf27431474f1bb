/**
 * Versions of a driver in one run by slices, each against the installed one: a table of ratios with
 * intervals, of speed and of what bears witness to it, and a sentence for each. Pure.
 */

import { formatCount, formatRatio, formatShare, plainText } from '../lib/format.js';
import { flightName, shapeName } from '../lib/load-name.js';
import { figureOf, UNKNOWN } from '../stats/metrics.js';
import { tableOfItems } from './model.js';

/** @typedef {import('./analysis/pairs.js').SlicePair} SlicePair */
/** @typedef {import('../stats/separation.js').Ratio} Ratio */
/** @typedef {import('../lib/report-types.js').Metric} Metric */

/** What takes less is the better one: the amount is the inverse of the ratio of speeds. */
export const WITNESSES = Object.freeze(
  /** @type {const} */ ([
    ['clientCpu', 'client CPU'],
    ['serverCpu', 'server CPU'],
    ['latency', 'typical latency'],
  ]),
);

/**
 * @param {string} key
 * @param {string} name
 * @param {Metric['better']} better
 * @param {number} drop
 * @param {(pair: SlicePair) => Ratio | undefined} of
 * @returns {Metric}
 */
function ratioMetric(key, name, better, drop, of) {
  const [first, ...rest] = name.split(' ');
  const head = /** @type {[string, string]} */ ([first, rest.join(' ')]);
  return {
    ...{ key, name, unit: '×', better, drop, shows: ['interval'] },
    ...(rest.length > 0 && { head }),
    of(pair) {
      const ratio = of(pair);
      if (ratio === undefined) return UNKNOWN;
      const { low, high, halfWidth: spread, n } = ratio;
      return better === 'more'
        ? figureOf(ratio.ratio, n, { low, high, spread })
        : figureOf(1 / ratio.ratio, n, { low: 1 / high, high: 1 / low, spread });
    },
  };
}

const SPEC = {
  row: [
    { key: 'pair', name: 'versions', of: (/** @type {SlicePair} */ pair) => nameOf(pair) },
    {
      ...{ key: 'load', name: 'in flight', align: /** @type {const} */ ('right') },
      of: (/** @type {SlicePair} */ { load }) => `${formatCount(load.inFlight)}${shapeName(load)}`,
    },
  ],
  metrics: [
    ratioMetric('speed', 'speed', 'more', 0, ({ ratios }) => ratios.speed),
    ...WITNESSES.map(([key, name], i) =>
      ratioMetric(key, name, 'less', i + 1, ({ ratios }) => ratios.witnesses[key]),
    ),
    /** @type {Metric} */ ({
      ...{ key: 'answer', name: 'verdict', unit: 'text', better: null, drop: 0, align: 'left' },
      of: ({ ratios: { speed } }) => figureOf(answerText(speed), speed.n),
    }),
  ],
};

/**
 * @param {readonly SlicePair[]} pairs
 * @returns {import('../lib/report-types.js').Table[]} none without any
 */
export function pairTables(pairs) {
  if (pairs.length === 0) return [];
  const isOfServers = pairs.every(({ a, b }) => [a, b].every(({ label }) => / on /.test(label)));
  const title = isOfServers ? 'A driver on several servers' : 'Versions of a driver';
  const [first, ...row] = SPEC.row;
  const spec = isOfServers ? { ...SPEC, row: [{ ...first, name: 'servers' }, ...row] } : SPEC;
  return [tableOfItems(`${title}: ratios in the same blocks`, spec, pairs)];
}

/**
 * @param {readonly SlicePair[]} pairs
 * @returns {string[]} a sentence for each
 */
export function pairVerdicts(pairs) {
  return pairs.map((pair) => {
    const { load, ratios } = pair;
    const { speed, witnesses } = ratios;
    const where = `${nameOf(pair)}, ${flightName(load)}`;
    const amount = `${formatRatio(speed.ratio)} ± ${formatShare(speed.halfWidth)}`;
    if (speed.answer !== 'cannot tell') return `${where}: ${speed.answer}, ${amount}.`;
    return `${where}: ${answerText(speed)} (${amount}).${witnessText(witnesses)}`;
  });
}

/**
 * Where time does not decide and CPU time per operation does.
 * @param {Record<string, Ratio>} witnesses
 */
function witnessText(witnesses) {
  const told = WITNESSES.flatMap(([key, name]) => {
    const ratio = witnesses[key];
    if (ratio === undefined || ratio.answer === 'cannot tell' || key === 'latency') return [];
    const how = ratio.answer === 'faster' ? 'less' : 'more';
    return [`${how} ${name}, ${formatRatio(1 / ratio.ratio)} ± ${formatShare(ratio.halfWidth)}`];
  });
  return told.length === 0 ? '' : ` Per operation it takes ${told.join('; ')}.`;
}

/** @param {Ratio} ratio */
export function answerText({ answer, cannotTellBelow }) {
  return cannotTellBelow === null ? answer : `cannot tell below ${formatShare(cannotTellBelow)}`;
}

/** @param {SlicePair} pair */
function nameOf({ a, b }) {
  return `${plainText(a.label)} vs ${plainText(b.label)}`;
}

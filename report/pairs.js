/**
 * Versions of a driver in one run, each against the installed one: a table of ratios with
 * intervals, of speed and of supporting metrics, and one sentence each. Pure.
 */

import { formatCount, plainText } from '../lib/format.js';
import { flightName, shapeName } from '../lib/load-name.js';
import { figureOf, ratioValue, UNKNOWN } from '../stats/metrics.js';
import { isDecided } from '../stats/separation.js';
import { isOfServers } from './analysis/pairs.js';
import { answerText, partsText, ratioText } from './answers.js';
import { tableOfItems } from './model.js';

/** @typedef {import('./analysis/pairs.js').Pair} Pair */
/** @typedef {import('../stats/separation.js').Ratio} Ratio */
/** @typedef {import('../lib/report-types.js').Metric} Metric */

/** Metrics for which less is better: the amount is the inverse of the ratio of speeds. */
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
 * @param {(pair: Pair) => Ratio | undefined} of
 * @returns {Metric}
 */
function ratioMetric(key, name, better, drop, of) {
  return {
    key,
    name: name.replace(' ', '\n'),
    unit: '×',
    better,
    drop,
    shows: ['interval'],
    of(pair) {
      const ratio = of(pair);
      if (ratio === undefined) return UNKNOWN;
      return ratioValue(better === 'more' ? ratio : inverse(ratio));
    },
  };
}

/**
 * @param {Ratio} ratio @returns {Ratio} inverted: of amounts for a ratio of speeds, and vice versa
 */
function inverse({ ratio, low, high, ...rest }) {
  return { ...rest, ratio: 1 / ratio, low: high && 1 / high, high: low && 1 / low };
}

const SPEC = {
  row: [
    { key: 'pair', name: 'versions', of: (/** @type {Pair} */ pair) => nameOf(pair) },
    {
      key: 'load',
      name: 'in flight',
      align: /** @type {const} */ ('right'),
      of: (/** @type {Pair} */ { comparison: { load } }) =>
        load.kind === 'burst'
          ? flightName(load)
          : `${formatCount(load.inFlight ?? 1)}${shapeName(load)}`,
    },
  ],
  metrics: [
    ratioMetric('speed', 'speed', 'more', 0, ({ ratios }) => ratios.speed),
    ...WITNESSES.map(([key, name], i) =>
      ratioMetric(key, name, 'less', i + 1, ({ ratios }) => ratios.witnesses[key]),
    ),
    /** @type {Metric} */ ({
      key: 'answer',
      name: 'verdict',
      unit: 'text',
      better: null,
      drop: 0,
      align: 'left',
      of: ({ ratios: { speed } }) => figureOf(answerText(speed), speed.n),
    }),
  ],
};

/**
 * @param {readonly Pair[]} pairs
 * @returns {import('../lib/report-types.js').Table[]} empty without pairs
 */
export function pairTables(pairs) {
  if (pairs.length === 0) return [];
  const ofServers = isOfServers(pairs);
  const title = ofServers ? 'A driver on several servers' : 'Versions of a driver';
  const [first, ...row] = SPEC.row;
  const spec = ofServers ? { ...SPEC, row: [{ ...first, name: 'servers' }, ...row] } : SPEC;
  return [tableOfItems(`${title}: ratios in the same rounds`, spec, pairs)];
}

/**
 * @param {readonly Pair[]} pairs
 * @returns {string[]} one sentence per pair
 */
export function pairVerdicts(pairs) {
  return pairs.map((pair) => {
    const { comparison, ratios } = pair;
    const { speed, witnesses } = ratios;
    const where = `${nameOf(pair)}, ${flightName(comparison.load)}`;
    const pauses = comparison.standings.isBusy ? '' : pausesText(ratios);
    if (isDecided(speed.answer)) return `${where}: ${speed.answer}, ${ratioText(speed)}.${pauses}`;
    return `${where}: ${answerText(speed)} (${ratioText(speed)}).${pauses}${witnessText(witnesses)}`;
  });
}

/**
 * Pauses and late operations, which hardly affect the typical speed, are compared separately.
 * @param {Pair['ratios']} ratios
 */
function pausesText({ speed, isUneven, long }) {
  const { own, base, isDecided: differs } = long;
  const uneven = isUneven || speed.answer === 'split' ? ` It is ${partsText(speed)}.` : '';
  return `${uneven}${differs ? ` Slices over three times as long: ${own} against ${base}.` : ''}`;
}

/**
 * A note if CPU time per operation decides and throughput does not.
 * @param {Record<string, Ratio>} witnesses
 */
function witnessText(witnesses) {
  const metrics = WITNESSES.flatMap(([key, name]) => {
    const ratio = witnesses[key];
    if (ratio === undefined || !isDecided(ratio.answer) || key === 'latency') return [];
    const how = ratio.answer === 'faster' ? 'less' : 'more';
    return [`${how} ${name}, ${ratioText(inverse(ratio))}`];
  });
  return metrics.length === 0 ? '' : ` Per operation it takes ${metrics.join('; ')}.`;
}

/** @param {Pair} pair */
function nameOf({ a, b }) {
  return `${plainText(a.label)} vs ${plainText(b.label)}`;
}

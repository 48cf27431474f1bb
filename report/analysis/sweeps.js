/**
 * Sweeps: the same test at several numbers in flight, of connections or of characters per value, as
 * one curve per storage with its knee. Pure; every format reads these.
 */

import { kneedle } from '../../stats/kneedle.js';
import { groupBy } from './groups.js';

/** @typedef {import('../../lib/result.js').Load} Load */
/** @typedef {import('./rows.js').Row} Row */

/**
 * @typedef {object} Axis what is swept
 * @property {'inFlight' | 'connections' | 'valueSize'} key
 * @property {string} name `requests in flight`
 * @property {string} unit of one: `in flight`
 * @property {number} pointsMin fewer are no curve
 * @property {(load: Load, valueSize: number) => number} of
 * @property {(load: Load) => string | null} fixed said of a sweep along another axis
 * @property {(x: number, throughput: number) => number} gain what its knee is the knee of: what the
 *   user gets, which rises with x
 */

/** @type {readonly Axis[]} */
export const AXES = Object.freeze([
  {
    key: /** @type {const} */ ('inFlight'),
    name: 'requests in flight',
    unit: 'in flight',
    // One in flight and a window are what a race has without a sweep.
    pointsMin: 3,
    of: ({ inFlight }) => inFlight ?? 1,
    fixed: ({ inFlight }) => `${inFlight ?? 1} in flight`,
    gain: (_, throughput) => throughput,
  },
  {
    key: /** @type {const} */ ('connections'),
    name: 'connections',
    unit: 'connection',
    pointsMin: 2,
    of: ({ connections }) => connections ?? 1,
    fixed: ({ connections }) => (connections === undefined ? null : `${connections} connections`),
    gain: (_, throughput) => throughput,
  },
  {
    key: /** @type {const} */ ('valueSize'),
    name: 'characters per value',
    unit: 'character',
    pointsMin: 2,
    of: ({ valueSize = 0 }, ofDataset) => valueSize || ofDataset,
    fixed: ({ valueSize }) => (valueSize === undefined ? null : `values of ${valueSize}`),
    // Operations only get fewer: what rises is what they carry.
    gain: (x, throughput) => x * throughput,
  },
]);

/**
 * @typedef {object} SweepPoint
 * @property {number} x
 * @property {Row} row
 *
 * @typedef {object} SweepCurve
 * @property {string} label of the storage
 * @property {SweepPoint[]} points ascending, those with a figure
 * @property {import('../../stats/kneedle.js').Bend} bend of the figures
 * @property {{ same: number, of: number }} rounds those whose own curve has the same knee
 * @property {SweepPoint} best of the greatest gain
 *
 * @typedef {object} Sweep
 * @property {Axis} axis
 * @property {string} workload
 * @property {string[]} fixed what is the same in all points, where it is not as usual: `core a`,
 *   `4 connections`
 * @property {number[]} xs ascending
 * @property {SweepCurve[]} curves those with a server first, the greatest throughput first
 */

/**
 * @param {readonly Row[]} rows
 * @param {{ dataset: { valueSize: number } }} result
 * @returns {Sweep[]}
 */
export function sweepsOf(rows, { dataset: { valueSize } }) {
  const fit = rows.filter(
    ({ source: { load }, kind, throughput }) =>
      (load.kind === 'sync' || load.kind === 'window') &&
      kind !== 'overhead' &&
      (throughput?.value ?? 0) > 0,
  );
  return AXES.flatMap((axis) => {
    const groups = groupBy(fit, (row) => otherwise(row, axis, valueSize));
    return [...groups.values()].flatMap((own) => sweepOf(axis, own, valueSize));
  });
}

/**
 * @param {Row} row
 * @param {Axis} axis
 * @param {number} valueSize of the dataset
 * @returns {string} all that must be the same in a sweep along the axis
 */
function otherwise({ source: { workload, load, parameters } }, axis, valueSize) {
  const others = AXES.filter((one) => one !== axis).map((one) => one.of(load, valueSize));
  return JSON.stringify([workload, parameters ?? null, load.processes ?? 1, ...others]);
}

/**
 * @param {Axis} axis
 * @param {Row[]} rows
 * @param {number} valueSize
 * @returns {Sweep[]} none where too few points were measured
 */
function sweepOf(axis, rows, valueSize) {
  const x = (/** @type {Row} */ { source: { load } }) => axis.of(load, valueSize);
  const xs = [...new Set(rows.map(x))].sort((a, b) => a - b);
  if (xs.length < axis.pointsMin) return [];
  const curves = [...groupBy(rows, ({ label }) => label)].map(([label, own]) => {
    const points = xs.flatMap((at) => {
      // Several amounts of operations (--ops) are one point: the last, which is the longest.
      const row = own.findLast((one) => x(one) === at);
      return row === undefined ? [] : [{ x: at, row }];
    });
    return curveOf(label, points, axis);
  });
  const isEmbedded = (/** @type {SweepCurve} */ { best }) => Number(best.row.kind === 'embedded');
  curves.sort(
    (a, b) => isEmbedded(a) - isEmbedded(b) || throughputOf(b.best.row) - throughputOf(a.best.row),
  );
  const [{ source }] = rows;
  return [{ axis, workload: source.workload, fixed: fixedOf(source, axis), xs, curves }];
}

/**
 * @param {Row['source']} source of a point
 * @param {Axis} axis
 * @returns {string[]}
 */
function fixedOf({ parameters = {}, load }, axis) {
  const { processes = 1 } = load;
  return [
    ...Object.entries(parameters).map(([name, value]) => `${name} ${value}`),
    ...AXES.flatMap((one) => (one === axis ? [] : (one.fixed(load) ?? []))),
    ...(processes === 1 ? [] : [`${processes} processes`]),
  ];
}

/**
 * @param {string} label
 * @param {SweepPoint[]} points at least one
 * @param {Axis} axis
 * @returns {SweepCurve} what gave wrong answers takes no part in the knee
 */
function curveOf(label, points, axis) {
  const y = (/** @type {SweepPoint} */ { x, row }) => axis.gain(x, throughputOf(row));
  const good = points.filter(({ row }) => row.mark !== 'wrong');
  const bend = kneedle(good.map((point) => ({ x: point.x, y: y(point) })));
  const best = (good.length === 0 ? points : good).reduce((a, b) => (y(b) > y(a) ? b : a));
  return { label, points, bend, best, rounds: agreement(good, axis, bend) };
}

/**
 * A knee has no interval: how sure it is shows in how many rounds have it by themselves.
 * @param {readonly SweepPoint[]} points
 * @param {Axis} axis
 * @param {import('../../stats/kneedle.js').Bend} bend
 * @returns {SweepCurve['rounds']}
 */
function agreement(points, axis, bend) {
  const rates = points.map(({ row }) =>
    row.source.rounds.filter(({ state }) => state === 'measured').map((one) => one.throughput),
  );
  const of = points.length === 0 ? 0 : Math.min(...rates.map((own) => own.length));
  let same = 0;
  for (let round = 0; round < of; round += 1) {
    const own = kneedle(points.map(({ x }, i) => ({ x, y: axis.gain(x, rates[i][round]) })));
    if (own.state === bend.state && own.x === bend.x) same += 1;
  }
  return { same, of };
}

/** @param {Row} row */
export function throughputOf({ throughput }) {
  return throughput?.value ?? 0;
}

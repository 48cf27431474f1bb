/**
 * Sweeps: the same test with several numbers in flight, connections or value sizes, as one curve
 * per storage with its knee. Pure; input of every format.
 */

import { kneedle } from '../../stats/kneedle.js';
import { groupBy } from './groups.js';

/** @typedef {import('../../lib/result.js').Load} Load */
/** @typedef {import('./rows.js').Row} Row */

/**
 * @typedef {object} Axis swept parameter
 * @property {'inFlight' | 'connections' | 'valueSize'} key
 * @property {string} name `requests in flight`
 * @property {string} unit unit of a value: `in flight`
 * @property {number} pointsMin minimum number of points of a curve
 * @property {(load: Load, valueSize: number) => number} of
 * @property {(load: Load) => string | null} fixed text of this parameter in a sweep along another
 *   axis
 * @property {(x: number, throughput: number) => number} gain quantity whose knee is found; it
 *   increases with x
 */

/** @type {readonly Axis[]} */
export const AXES = Object.freeze([
  {
    key: /** @type {const} */ ('inFlight'),
    name: 'requests in flight',
    unit: 'in flight',
    // One in flight and a window are the default loads of a race.
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
    // Operations per second decrease; the transferred bytes increase.
    gain: (x, throughput) => x * throughput,
  },
]);

/**
 * @typedef {object} SweepPoint
 * @property {number} x
 * @property {Row} row
 *
 * @typedef {object} SweepCurve
 * @property {string} label label of the storage
 * @property {SweepPoint[]} points points with a figure, ascending
 * @property {import('../../stats/kneedle.js').Bend} bend bend of the figures
 * @property {{ same: number, of: number }} rounds number of rounds whose own curve has the same
 *   knee
 * @property {SweepPoint} best fraction of the maximum gain
 *
 * @typedef {object} Sweep
 * @property {Axis} axis
 * @property {string} workload
 * @property {string[]} fixed constant parameters of all points, unless default: `core a`, `4
 *   connections`
 * @property {number[]} xs ascending
 * @property {SweepCurve[]} curves with a server first, then by descending throughput
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
 * @param {number} valueSize value size of the dataset
 * @returns {string} parameters that must be equal in a sweep along the axis
 */
function otherwise({ source: { workload, load, parameters } }, axis, valueSize) {
  const others = AXES.filter((one) => one !== axis).map((one) => one.of(load, valueSize));
  return JSON.stringify([workload, parameters ?? null, load.processes ?? 1, ...others]);
}

/**
 * @param {Axis} axis
 * @param {Row[]} rows
 * @param {number} valueSize
 * @returns {Sweep[]} empty if too few points were measured
 */
function sweepOf(axis, rows, valueSize) {
  const x = (/** @type {Row} */ { source: { load } }) => axis.of(load, valueSize);
  const xs = [...new Set(rows.map(x))].sort((a, b) => a - b);
  if (xs.length < axis.pointsMin) return [];
  const curves = [...groupBy(rows, ({ label }) => label)].map(([label, own]) => {
    const points = xs.flatMap((at) => {
      // Several amounts of operations (--ops) are one point: the last and longest.
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
 * @param {Row['source']} source source of a point
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
 * @returns {SweepCurve} wrong replies exclude a point from the knee
 */
function curveOf(label, points, axis) {
  const y = (/** @type {SweepPoint} */ { x, row }) => axis.gain(x, throughputOf(row));
  const good = points.filter(({ row }) => row.mark !== 'wrong');
  const bend = kneedle(good.map((point) => ({ x: point.x, y: y(point) })));
  const best = (good.length === 0 ? points : good).reduce((a, b) => (y(b) > y(a) ? b : a));
  return { label, points, bend, best, rounds: agreement(good, axis, bend) };
}

/**
 * A knee has no interval; the number of rounds with the same knee shows its stability.
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

/**
 * Reports of sweeps: a table with a row per storage and a column per point, a sentence with the
 * knees, and a plot with a curve per storage. Pure.
 */

import {
  formatCount,
  formatDuration,
  formatShare,
  formatThroughput,
  plainText,
} from '../lib/format.js';
import { figureOf, metric, UNKNOWN } from '../stats/metrics.js';
import { kneeSummary } from '../workloads/operations-plots.js';
import { throughputOf } from './analysis/sweeps.js';
import { tableOfItems } from './model.js';
import { snakeCase } from './text.js';

/** @typedef {import('./analysis/sweeps.js').Sweep} Sweep */
/** @typedef {import('./analysis/sweeps.js').SweepCurve} SweepCurve */
/** @typedef {import('./analysis/sweeps.js').SweepPoint} SweepPoint */
/** @typedef {import('../lib/report-types.js').Metric} Metric */
/** @typedef {import('../lib/report-types.js').Table} Table */

/** Reasons of a missing knee, for tables and for sentences. */
const WITHOUT = Object.freeze({
  rising: { state: 'none', reason: 'it was still rising at the last point' },
  flat: { state: 'flat', reason: 'it never rose by 10 %' },
  few: { state: 'unknown', reason: 'fewer than three points' },
});

/** @type {[string, string]} */
export const KNEE_EXPLAINED = [
  'knee',
  'the point of diminishing returns: farthest above the straight line from the first to the ' +
    'last, both axes scaled to 1 (Kneedle, sensitivity 1; Satopää, Albrecht, Irwin and Raghavan, ' +
    'ICDCSW 2011). none: the curve was still rising at the last point; flat: it never rose by 10 %. ' +
    'rounds: how many have the same knee by themselves. By value size: of characters per second.',
];

/**
 * @param {readonly Sweep[]} sweeps
 * @returns {Table[]} one per sweep
 */
export function sweepTables(sweeps) {
  return sweeps.map((sweep) => {
    const metrics = [...sweep.xs.map((x, i) => pointMetric(x, i, sweep)), ...kneeMetrics(sweep)];
    const row = [{ key: 'storage', name: 'storage', of: (/** @type {any} */ one) => one.label }];
    const title = `${titleOf(sweep)}: ops/s by ${sweep.axis.name}`;
    return tableOfItems(title, { row, metrics }, sweep.curves);
  });
}

/** @param {Sweep} sweep */
function titleOf({ workload, fixed }) {
  return plainText([workload, ...fixed].join(', '));
}

/**
 * @param {number} x
 * @param {number} i
 * @param {Sweep} sweep
 * @returns {Metric}
 */
function pointMetric(x, i, { xs }) {
  // The first and the last column stay on a narrow terminal.
  const isEnd = i === 0 || i === xs.length - 1;
  return {
    key: `at_${x}`,
    name: formatCount(x),
    unit: 'ops/s',
    better: 'more',
    drop: isEnd ? 0 : 1 + i / 100,
    shows: ['interval if wide'],
    of({ points }) {
      const point = points.find((/** @type {SweepPoint} */ one) => one.x === x);
      return point?.row.throughput ?? UNKNOWN;
    },
  };
}

/**
 * @param {Sweep} sweep
 * @returns {Metric[]}
 */
function kneeMetrics({ axis: { gain } }) {
  return [
    {
      key: 'knee',
      name: 'knee',
      unit: 'count',
      better: null,
      drop: 0,
      of: ({ bend, rounds }) =>
        bend.state === 'knee'
          ? figureOf(bend.x, rounds.of)
          : { ...WITHOUT[/** @type {'few'} */ (bend.state)] },
    },
    {
      key: 'knee_share',
      name: 'knee, of the best',
      unit: '%',
      better: null,
      drop: 0.5,
      head: ['of the', 'best'],
      of({ best, rounds, ...curve }) {
        const knee = kneeIn(/** @type {any} */ (curve));
        if (knee === null) return UNKNOWN;
        const at = (/** @type {SweepPoint} */ { x, row }) => gain(x, throughputOf(row));
        return figureOf(at(knee) / at(best), rounds.of);
      },
    },
    metric(
      { key: 'knee_rounds', name: 'rounds', unit: 'text', drop: 0.7 },
      ({ rounds: { same, of } }) => `${same} of ${of}`,
    ),
    metric(
      {
        key: 'knee_p99',
        name: 'knee, p99',
        unit: 'ns',
        better: 'less',
        drop: 0.6,
        head: ['p99', 'there'],
      },
      (curve) => kneeIn(curve)?.row.latency?.p99Ns,
    ),
  ];
}

/**
 * @param {Pick<SweepCurve, 'bend' | 'points'>} curve
 * @returns {SweepPoint | null}
 */
function kneeIn({ bend, points }) {
  return points.find(({ x }) => x === bend.x) ?? null;
}

/**
 * @param {readonly Sweep[]} sweeps
 * @returns {string[]} one sentence per sweep: `Knee by requests in flight: …`
 */
export function sweepVerdicts(sweeps) {
  return sweeps.flatMap((sweep) => {
    const { axis, xs, curves } = sweep;
    if (xs.length < 3) return [];
    const last = formatCount(xs[xs.length - 1]);
    const texts = curves.map((curve) => {
      const knee = kneeIn(curve);
      const name = plainText(curve.label);
      if (knee !== null) return `${name} ${kneeText(knee, curve, sweep)}`;
      const why = curve.bend.state === 'flat' ? 'flat' : `none up to ${last}`;
      return `${name} ${why}`;
    });
    return [`Knee by ${axis.name}${whereText(sweep)}: ${texts.join('; ')}.`];
  });
}

/** @param {Sweep} sweep */
function whereText({ fixed }) {
  return fixed.length === 0 ? '' : ` (${fixed.map(plainText).join(', ')})`;
}

/**
 * @param {SweepPoint} knee
 * @param {SweepCurve} curve
 * @param {Sweep} sweep
 * @returns {string} `100 (93 % of its best, p99 1.2 ms, in 5 of 6 rounds)`
 */
function kneeText(knee, { best, rounds }, { axis }) {
  const at = (/** @type {SweepPoint} */ { x, row }) => axis.gain(x, throughputOf(row));
  const share = at(knee) / at(best);
  const p99 = knee.row.latency?.p99Ns ?? null;
  const parts = [
    knee === best ? 'its best' : `${formatShare(share)} of its best`,
    ...(p99 === null ? [] : [`p99 ${formatDuration(p99)}`]),
    ...(rounds.of > 1 ? [`in ${rounds.same} of ${rounds.of} rounds`] : []),
  ];
  return `${formatCount(knee.x)} (${parts.join(', ')})`;
}

/**
 * @param {readonly Sweep[]} sweeps
 * @returns {{ plots: import('../lib/report-types.js').PlotSpec[], tables: Table[] }[]} one part of
 *   a document per sweep; its table has a row per point, for the plot only
 */
export function sweepParts(sweeps) {
  return sweeps.map((sweep) => {
    const items = sweep.curves.flatMap((curve) =>
      curve.points.map((point) => ({ ...point, label: curve.label, curve })),
    );
    const row = [
      { key: 'storage', name: 'storage', of: (/** @type {any} */ one) => one.label },
      { key: 'x', name: sweep.axis.name, of: (/** @type {any} */ one) => one.x },
    ];
    const table = tableOfItems('', { row, metrics: [THROUGHPUT] }, items);
    return { plots: [plotOf(sweep)], tables: [table] };
  });
}

/**
 * @param {readonly Sweep[]} sweeps
 * @returns {Map<string, [string, boolean][]>} by benchmark id: columns of CSV, such as
 *   `knee_in_flight`: whether it is the knee of its curve
 */
export function kneeColumns(sweeps) {
  /** @type {Map<string, [string, boolean][]>} */
  const columns = new Map();
  for (const { axis, curves } of sweeps) {
    const name = `knee_${snakeCase(axis.key)}`;
    for (const { points, bend } of curves) {
      for (const { x, row } of points) {
        const { id } = row.source;
        columns.set(id, [...(columns.get(id) ?? []), [name, x === bend.x]]);
      }
    }
  }
  return columns;
}

/** @type {Metric} */
const THROUGHPUT = {
  key: 'throughput',
  name: 'ops/s',
  unit: 'ops/s',
  better: 'more',
  drop: 0,
  of: ({ row }) => row.throughput,
};

/**
 * @param {Sweep} sweep
 * @returns {import('../lib/report-types.js').PlotSpec}
 */
function plotOf(sweep) {
  const { axis, workload, xs } = sweep;
  const isWide = xs[0] > 0 && xs[xs.length - 1] / xs[0] >= 30;
  return {
    kind: 'lines',
    first: true,
    metric: 'throughput',
    head: 'storage',
    id: () => ['sweep', axis.key, workload, ...sweep.fixed].join('-'),
    title: () => `Throughput by ${axis.name}, ${titleOf(sweep)}`,
    x: (/** @type {any} */ { keys }) => keys.x,
    xName: axis.name,
    xText: formatCount,
    thing: axis.unit,
    yName: 'operations per second',
    ...(isWide && { xScale: 'log' }),
    scales: ['linear', 'log'],
    range: { note: 'Line: 95 % interval.' },
    knee: (/** @type {any[]} */ rows) => rows[0]?.benchmarks[0].curve.bend.x ?? null,
    summary: kneeSummary(
      formatCount,
      ({ x, y }) => `knee at ${formatCount(x)}, ${formatThroughput(y)} ops/s`,
    ),
    note:
      'Verified operations per second. Ring: the knee, where the curve is farthest above the line from its ' +
      'first point to its last, both axes scaled to 1 (Kneedle, Satopää et al. 2011).',
  };
}

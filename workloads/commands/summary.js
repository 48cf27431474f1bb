/** The summary of the command list: each route to Redis, means over the tests. */

import { clientCpu, figureOf, numberOf, p50, serverCpu } from '../../stats/metrics.js';
import {
  baselineOf,
  COMMAND_P50,
  CONNECT_P50,
  commonTests,
  cpuShown,
  meanOf,
  medianOf,
  metricValues,
  proxyCpuOf,
  ROUTES,
  rateOf,
  routeOf,
  routesIn,
} from './analysis.js';

/** @typedef {import('../../lib/report-types.js').Metric} Metric */
/** @typedef {import('../../lib/report-types.js').Scope} Scope */
/** @typedef {import('../../stats/metrics.js').Shown} Shown */

/** @param {any} benchmark @param {Scope} scope @returns {any[]} with the same kind of connection */
function groupOf({ keys: { keepAlive } }, { table }) {
  return table.filter(({ keys }) => keys.keepAlive === keepAlive);
}

/**
 * @param {(benchmark: any, scope: Scope) => number | null} of
 * @param {'geometric' | 'arithmetic'} kind
 * @returns {(benchmark: any, scope: Scope) => number | null} mean over the tests of the row
 */
function over(of, kind) {
  return (benchmark, scope) => {
    const common = commonTests(groupOf(benchmark, scope));
    const own = scope.row.filter(({ keys }) => common.has(keys.test));
    return meanOf(
      own.map((one) => of(one, scope)),
      kind,
    );
  };
}

/**
 * @param {Omit<Shown, 'relative'>} shown
 * @param {(benchmark: any, scope: Scope) => number | null} of the row
 * @returns {Metric}
 */
function column(shown, of) {
  return {
    better: null,
    drop: 0,
    ...shown,
    relative: true,
    of: (benchmark, scope) => figureOf(of(benchmark, scope), benchmark.n),
  };
}

const rate = over(rateOf, 'geometric');
const baseline = over(baselineOf, 'geometric');
const metric = (/** @type {string} */ name) =>
  over((benchmark) => medianOf(metricValues(benchmark, name)), 'geometric');

/** @param {Metric} metric */
const of = (metric) => (/** @type {any} */ benchmark, /** @type {Scope} */ scope) =>
  numberOf(metric.of(benchmark, scope));

/**
 * @param {any} benchmark @param {Scope} scope @returns {number | null} ratio to the rate of the
 *   first route
 */
function toFirst(benchmark, scope) {
  const group = groupOf(benchmark, scope);
  const [first] = routesIn(group.filter((one) => rateOf(one) !== null));
  const row = group.filter((one) => routeOf(one) === first);
  const [own, base] = [rate(benchmark, scope), rate(benchmark, { ...scope, row })];
  return own === null || base === null ? null : own / base;
}

/** @param {any} benchmark @param {Scope} scope */
function baselineToRate(benchmark, scope) {
  const [own, other] = [rate(benchmark, scope), baseline(benchmark, scope)];
  return own === null || other === null ? null : other / own;
}

/**
 * @param {string} side
 * @param {(benchmark: any, scope: Scope) => number | null} ns
 */
function cpu(side, ns) {
  return column({ ...cpuShown(side), drop: 3 }, over(ns, 'arithmetic'));
}

/** @type {import('../../lib/report-types.js').TableSpec} */
export const summary = {
  expand: (benchmark) => [{ ...benchmark, mark: null, throughput: {} }],
  table: ['storage'],
  row: [
    {
      key: 'connections',
      name: 'connections',
      of: ({ keys: { keepAlive } }) => (keepAlive ? 'kept' : 'one each'),
    },
    { key: 'route', name: 'route', of: routeOf },
  ],
  metrics: [
    column(
      { key: 'tests', name: 'tests', unit: 'count', drop: 6 },
      (benchmark, scope) => commonTests(groupOf(benchmark, scope)).size,
    ),
    column({ key: 'throughput', name: 'ops/s', unit: 'ops/s', better: 'more' }, rate),
    column(
      {
        key: 'to_first',
        name: 'of the first route',
        unit: '×',
        better: 'more',
        head: ['of first', 'route'],
      },
      toFirst,
    ),
    column(
      { key: 'latency_p50', name: 'p50', unit: 'ns', better: 'less', drop: 2 },
      over(of(p50), 'geometric'),
    ),
    column({ ...CONNECT_P50, drop: 4 }, metric('connectNsP50')),
    column({ ...COMMAND_P50, drop: 4 }, metric('commandNsP50')),
    cpu('client', of(clientCpu)),
    cpu('proxy', proxyCpuOf),
    cpu('Redis', of(serverCpu)),
    column(
      {
        key: 'benchmark',
        name: 'redis-benchmark',
        unit: 'requests/s',
        better: 'more',
        head: ['redis-', 'benchmark'],
        drop: 1,
      },
      baseline,
    ),
    column(
      { key: 'benchmark_to_driver', name: 'its ratio', unit: '×', better: 'more', drop: 1 },
      baselineToRate,
    ),
  ],
  title: ([{ label }]) =>
    `${label}: routes to Redis, means over the tests that every route answers`,
  shown: (rows) =>
    rows
      .filter(({ benchmarks }) => benchmarks.some((one) => rateOf(one) !== null))
      .sort((a, b) => rankOf(a) - rankOf(b)),
};

/** @param {import('../../lib/report-types.js').TableRow} row */
function rankOf({ keys: { connections, route } }) {
  return ROUTES.indexOf(String(route)) + (connections === 'kept' ? 0 : ROUTES.length);
}

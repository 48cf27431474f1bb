/**
 * Report of the command list per storage: a summary of the routes to Redis, the tests by route with
 * ratios, the speed-up of persistent connections, redis-benchmark on the same routes, and CPU time.
 */

import { plainText } from '../../lib/format.js';
import { labelOf } from '../../lib/label.js';
import { clientCpu, figureOf, metric, p50, p99, serverCpu, UNKNOWN } from '../../stats/metrics.js';
import { ratioMetric } from '../paired-ratio.js';
import {
  baselineFailureOf,
  baselineOf,
  COMMAND_P50,
  CONNECT_P50,
  cpuShown,
  isAnsweredByProxy,
  isRefusedByProxy,
  medianOf,
  metricValues,
  proxyCpuOf,
  ROUTES,
  rateFigure,
  ratesOf,
  refusalOf,
  routeOf,
  routesIn,
  toolOf,
} from './analysis.js';
import { summary } from './summary.js';

/** @typedef {import('../../lib/report-types.js').Metric} Metric */
/** @typedef {import('../../lib/report-types.js').TableRow} TableRow */
/** @typedef {import('../../lib/report-types.js').Table} Table */
/** @typedef {import('../../lib/report-types.js').TableSpec} TableSpec */

/** @param {any} benchmark */
function connectionsOf({ keys: { keepAlive } }) {
  return keepAlive ? 'connections kept' : 'one connection per request';
}

/** @type {Metric} the message of a refusal is the reason */
const rate = {
  key: 'throughput',
  name: 'ops/s',
  unit: 'ops/s',
  better: 'more',
  drop: 0,
  of(benchmark) {
    const { source, state } = benchmark;
    const words = refusalOf(source);
    if (words !== null) return { state: 'refused', reason: words };
    if (state === 'planned') return UNKNOWN;
    if (state !== 'measured') return { state, reason: source.reason };
    return rateFigure(benchmark) ?? UNKNOWN;
  },
};

/**
 * @param {TableRow[]} rows
 * @returns {TableRow[]} ordered by test, then by route
 */
function order(rows) {
  const tests = [...new Set(rows.map(({ keys }) => keys['test']))];
  const at = (/** @type {TableRow} */ { keys }) => ROUTES.indexOf(String(keys['route']));
  return tests.flatMap((test) =>
    rows.filter(({ keys }) => keys['test'] === test).sort((a, b) => at(a) - at(b)),
  );
}

/** @param {readonly any[]} benchmarks */
function routeColumns(benchmarks) {
  return routesIn(benchmarks).map((route, i) => ({
    key: route.toLowerCase().replace(' ', '_'),
    name: route,
    more: i,
    has: onRoute(route),
  }));
}

/** @param {TableRow} row @param {(benchmark: any) => unknown} has */
const someOf = ({ benchmarks }, has) => benchmarks.some(has);
const ran = (/** @type {any} */ { source }) => source.rounds.length > 0;

/** @type {Pick<TableSpec, 'expand' | 'table'>} one per storage and kind of connection */
const BY_CONNECTIONS = Object.freeze({
  expand: (benchmark) => [{ ...benchmark, mark: null, throughput: {} }],
  table: ['storage', 'keepAlive'],
});
const TEST = { key: 'test', name: 'test' };

/** @type {Omit<TableSpec, 'metrics' | 'title'>} tests, with a column per route */
const BY_ROUTE = Object.freeze({
  ...BY_CONNECTIONS,
  row: [TEST],
  columns: routeColumns,
  shown: (rows) => (rows.some((row) => someOf(row, ran)) ? rows : []),
});

/** @param {string} route */
const onRoute = (route) => (/** @type {any} */ benchmark) => routeOf(benchmark) === route;

/** @param {readonly any[]} row @param {(benchmark: any) => boolean} is */
function rateIn(row, is) {
  const found = row.find(is);
  return found && ratesOf(found);
}

/**
 * @param {string} a route
 * @param {string} b
 * @param {{ key: string, name: string, head?: [string, string], drop: number }} shown
 * @returns {(routes: string[]) => Metric[]} empty if one of the routes is missing
 */
function between(a, b, shown) {
  return (routes) => {
    if (!routes.includes(a) || !routes.includes(b)) return [];
    return [ratioMetric(shown, (_, { row }) => [rateIn(row, onRoute(a)), rateIn(row, onRoute(b))])];
  };
}

const [DIRECT_TCP, PROXIED_TCP, DIRECT_UNIX, PROXIED_UNIX] = ROUTES;
const RATIOS = [
  between(PROXIED_TCP, DIRECT_TCP, {
    key: 'proxied_to_direct_tcp',
    name: 'proxied\n/ direct, TCP',
    drop: 1,
  }),
  between(PROXIED_UNIX, DIRECT_UNIX, {
    key: 'proxied_to_direct_unix',
    name: 'proxied\n/ direct, unix',
    drop: 2,
  }),
  between(DIRECT_UNIX, DIRECT_TCP, {
    key: 'unix_to_tcp_direct',
    name: 'unix / TCP, direct',
    head: ['unix / TCP', 'direct'],
    drop: 3,
  }),
  between(PROXIED_UNIX, PROXIED_TCP, {
    key: 'unix_to_tcp_proxied',
    name: 'unix / TCP, proxied',
    head: ['unix / TCP', 'proxied'],
    drop: 4,
  }),
];

/** @type {TableSpec} */
const routes = {
  ...BY_ROUTE,
  metrics: [{ ...rate, name: '' }],
  across: (table) => RATIOS.flatMap((ratio) => ratio(routesIn(table))),
  title: ([one]) => `${one.label}, ${connectionsOf(one)}: ops/s`,
};

const keptToOwn = ratioMetric({ key: 'kept_to_own' }, (_, { row }) => [
  rateIn(row, ({ keys }) => keys.keepAlive),
  rateIn(row, ({ keys }) => !keys.keepAlive),
]);

/** @type {TableSpec} */
const keptConnections = {
  ...BY_ROUTE,
  table: ['storage'],
  columns: (table) => routeColumns(table.filter(({ keys }) => keys.keepAlive)),
  metrics: [keptToOwn],
  title: ([{ label }]) => `${label}: speed-up from keep-alive`,
  shown(rows) {
    const kinds = [true, false].map((kept) =>
      rows.some((row) => someOf(row, (one) => one.keys.keepAlive === kept && ran(one))),
    );
    return kinds.every(Boolean) ? rows : [];
  },
};

/** Relative to the same value of the run's first storage. */
const toFirstStorage = ratioMetric({ key: 'to_first_storage' }, (benchmark, { result }) => {
  const variant = JSON.stringify(benchmark.source.parameters);
  const first = result.benchmarks.find(
    (/** @type {any} */ { parameters }) => JSON.stringify(parameters) === variant,
  );
  return [ratesOf(benchmark), first && ratesOf({ source: first })];
});

/** @type {TableSpec} from blocks, if drivers run in the same blocks */
const storages = {
  ...BY_ROUTE,
  expand: (benchmark, { comparison, benchmarks: [first] }) =>
    comparison === undefined || labelOf(benchmark.source) === labelOf(first)
      ? []
      : [{ ...benchmark, mark: null, throughput: {} }],
  metrics: [toFirstStorage],
  title: ([one], { benchmarks: [first] }) =>
    `${one.label}, ${connectionsOf(one)}: speed, ${plainText(labelOf(first))} = 1`,
};

/** @type {Metric} */
const baseline = {
  key: 'benchmark',
  name: '',
  unit: 'requests/s',
  better: 'more',
  drop: 0,
  of(benchmark) {
    const perSecond = baselineOf(benchmark);
    if (perSecond !== null) return figureOf(perSecond, benchmark.n);
    const reason = baselineFailureOf(benchmark);
    if (reason === null) return UNKNOWN;
    return { state: refusalOf(benchmark.source) === null ? 'failed' : 'refused', reason };
  },
};

/** @param {string} label @returns {Metric} */
const baselineRatio = (label) =>
  ratioMetric(
    { key: 'benchmark_to_driver', name: `of ${label}`, head: ['redis-b./', 'driver'], drop: 1 },
    (one) => [metricValues(one, 'benchmarkPerSecond'), ratesOf(one)],
  );

/** @type {TableSpec} */
const redisBenchmark = {
  ...BY_ROUTE,
  metrics: ([{ label }]) => [baseline, baselineRatio(label)],
  title: ([one], result) =>
    `${toolOf(result).name}, ${connectionsOf(one)}: requests/s, and their ratio to ${one.label}`,
  shown: (rows) => (rows.some((row) => someOf(row, baselineOf)) ? rows : []),
};

/** @param {string} side */
function cpuHead(side) {
  const { name, head } = cpuShown(side);
  return { name, head, drop: 2 };
}

const median = (/** @type {string} */ name) => (/** @type {any} */ benchmark) =>
  medianOf(metricValues(benchmark, name));

/** @type {TableSpec} */
const times = {
  ...BY_CONNECTIONS,
  row: [
    TEST,
    { key: 'route', name: 'route', of: routeOf },
    { key: 'id', name: 'id', hidden: true },
  ],
  metrics: [
    rate,
    { ...p50, drop: 1 },
    { ...p99, drop: 1 },
    metric({ ...CONNECT_P50, drop: 3 }, median('connectNsP50')),
    metric({ ...COMMAND_P50, optional: true, drop: 3 }, median('commandNsP50')),
    { ...clientCpu, ...cpuHead('client') },
    metric({ ...cpuShown('proxy'), drop: 2 }, proxyCpuOf),
    { ...serverCpu, ...cpuHead('Redis') },
    metric(
      {
        key: 'benchmark',
        name: 'benchmark requests/s',
        unit: 'requests/s',
        better: 'more',
        head: ['redis-', 'bench./s'],
        drop: 5,
      },
      baselineOf,
    ),
    metric(
      {
        key: 'benchmark_p50',
        name: 'benchmark p50',
        unit: 'ns',
        better: 'less',
        head: ['redis-', 'bench. p50'],
        drop: 4,
      },
      median('benchmarkNsP50'),
    ),
  ],
  order,
  title: ([one]) => `${one.label}, ${connectionsOf(one)}: where the time goes`,
};

/**
 * @param {readonly any[]} benchmarks
 * @returns {import('../../lib/report-types.js').List[]} distinct messages of refusals
 */
function refusals(benchmarks) {
  /** @type {Map<string, { subject: string, words: string, n: number }>} */
  const messages = new Map();
  for (const { source, keys } of benchmarks) {
    const words = refusalOf(source);
    if (words === null) continue;
    const subject = `${keys.test}, ${keys.way}`;
    const key = JSON.stringify([subject, words]);
    messages.set(key, { subject, words, n: (messages.get(key)?.n ?? 0) + 1 });
  }
  const items = [...messages.values()].map(({ subject, words, n }) => ({
    subject: plainText(subject),
    text: plainText(`${words} (${n} ${n === 1 ? 'benchmark' : 'benchmarks'})`),
    hint: null,
    untrusted: true,
  }));
  return [{ kind: 'skipped', title: 'Refused, not counted as operations', items }];
}

/**
 * @param {readonly any[]} benchmarks
 * @returns {string[]} replies that did not come from Redis, and failures of redis-benchmark with
 *   its messages
 */
function notes(benchmarks) {
  const silent = benchmarks.filter(isAnsweredByProxy).map(({ keys }) => keys.test);
  const failed = benchmarks.flatMap((benchmark) => {
    const failure = baselineFailureOf(benchmark);
    if (failure === null || refusalOf(benchmark.source) !== null) return [];
    const { test, way, transport } = benchmark.keys;
    return [`redis-benchmark, ${test}, ${way} ${transport}: ${failure}`];
  });
  const names = [...new Set(silent)].join(', ');
  return [
    ...(silent.length === 0 ? [] : [`answered by the proxy, never sent to Redis: ${names}`]),
    ...new Set(failed),
  ].map(plainText);
}

/**
 * @param {readonly any[]} entries
 * @param {(value: number) => string} format
 * @param {readonly string[]} names names of the columns
 */
function summaryOfBars(entries, format, names) {
  const parts = names.map((name, i) => {
    const own = entries.map(({ values }) => values[i]).filter((value) => value !== null);
    if (own.length === 0) return `${name}: none`;
    return `${name}: ${format(Math.min(...own))} to ${format(Math.max(...own))}`;
  });
  return `ops/s of ${entries.length} tests. ${parts.join('; ')}.`;
}

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = {
  row: null,
  section: ['storage'],
  skipped: true,
  refused: ({ source }) => isRefusedByProxy(source),
  tables: [summary, routes, storages, keptConnections, redisBenchmark, times],
  plots: [
    {
      kind: 'bars',
      layout: 'grouped',
      each: 'table',
      columns: 'throughput',
      head: 'test',
      id(
        /** @type {Table[]} */ [
          {
            rows: [{ benchmarks }],
          },
        ],
      ) {
        const [{ label, keys }] = benchmarks;
        return `commands-${label}-${keys.keepAlive ? 'kept' : 'own'}`;
      },
      title: (/** @type {Table[]} */ [{ title }]) => `Commands, ${title.replace(': ops/s', '')}`,
      note: 'Bars: geometric mean of the rounds. No bar: refused, skipped or failed.',
      axis: 'ops/s',
      summary: summaryOfBars,
    },
  ],
  notes,
  lists: refusals,
  legend: (_, result) => [
    'ops/s: verified operations per second, geometric mean of the rounds. Ratios: the same of ' +
      'pairs of one round, from two rounds on with the 95 % interval. With one connection per ' +
      'request an operation is connect, command and close; connect and command are medians of ' +
      `these parts. ${toolOf(result).text}: the same connections, keys and values, in the ` +
      'same blocks, otherwise right before or after each test; its latency excludes connecting. ' +
      'CPU: per verified operation.',
    'LRANGE_500 reads 450 elements, as in redis-benchmark; LPUSH_LRANGE is its LPUSH that fills ' +
      'the list for LRANGE; MSET sets 10 keys.',
  ],
};

/**
 * What is shown of the command list: where the time goes, a row for each test and route. The tables
 * of ratios between routes are report/commands.js.
 */

import { median } from 'simple-statistics';
import { clientCpu, figureOf, metric, p50, p99, serverCpu, UNKNOWN } from '../../stats/metrics.js';

/** @typedef {import('../../lib/report-types.js').Metric} Metric */
/** @typedef {import('../../lib/report-types.js').TableRow} TableRow */

const ROUTES = Object.freeze(['direct TCP', 'proxied TCP', 'direct unix', 'proxied unix']);
/** The server's name under which the proxy's processor time is recorded. */
const PROXY = 'nutcracker';

/** @param {any} benchmark */
function routeOf({ keys: { way, transport } }) {
  return `${way} ${transport === 'tcp' ? 'TCP' : transport}`;
}

/**
 * @param {any} benchmark
 * @param {string} name of a figure of the rounds
 * @returns {number | null} median of the rounds that have it
 */
function medianFact({ source }, name) {
  /** @type {any[]} */
  const rounds = source.rounds;
  const known = rounds.map(({ facts }) => facts?.[name]).filter((one) => typeof one === 'number');
  return known.length === 0 ? null : median(known);
}

/** @type {Metric} the proxy's words of a refusal are its reason */
const rate = {
  ...{ key: 'throughput', name: 'ops/s', unit: 'ops/s', better: 'more', drop: 0 },
  of({ source, state }) {
    /** @type {any[]} */
    const rounds = source.rounds;
    const words = rounds.map(({ facts }) => facts?.refusal);
    if (words.length > 0 && words.every((text) => typeof text === 'string')) {
      return { state: 'refused', reason: words[0] };
    }
    if (state === 'planned') return UNKNOWN;
    if (state !== 'measured') return { state, reason: source.reason };
    const right = rounds.filter((one) => one.state === 'measured' && one.outcomes.ok > 0);
    if (right.length === 0) return UNKNOWN;
    return figureOf(median(right.map(({ throughput }) => throughput)), right.length);
  },
};

/** @param {any} benchmark @returns {number | null} for each verified operation */
function proxyCpu({ source }) {
  let [ns, ok] = [0, 0];
  for (const { others, outcomes } of source.rounds) {
    const used = others?.[PROXY];
    if (used === undefined) continue;
    ns += used.cpuNs;
    ok += outcomes.ok;
  }
  return ok === 0 ? null : ns / ok;
}

/**
 * @param {TableRow[]} rows
 * @returns {TableRow[]} by test in their order, then by route
 */
function order(rows) {
  const tests = [...new Set(rows.map(({ keys }) => keys['test']))];
  const at = (/** @type {TableRow} */ { keys }) => ROUTES.indexOf(String(keys['route']));
  return tests.flatMap((test) =>
    rows.filter(({ keys }) => keys['test'] === test).sort((a, b) => at(a) - at(b)),
  );
}

const cpuHead = (/** @type {string} */ side) => ({
  head: /** @type {[string, string]} */ (['CPU µs', side]),
  drop: 2,
});

/** @type {readonly Metric[]} */
const METRICS = Object.freeze([
  rate,
  { ...p50, drop: 1 },
  { ...p99, drop: 1 },
  metric(
    {
      ...{ key: 'connect_p50', name: 'connect', unit: 'ns', better: 'less' },
      ...{ head: ['connect', 'p50'], drop: 3 },
    },
    (one) => medianFact(one, 'connectNsP50'),
  ),
  metric(
    {
      ...{ key: 'command_p50', name: 'command', unit: 'ns', better: 'less', optional: true },
      ...{ head: ['command', 'p50'], drop: 3 },
    },
    (one) => medianFact(one, 'commandNsP50'),
  ),
  { ...clientCpu, name: 'client CPU', ...cpuHead('client') },
  metric(
    {
      ...{ key: 'proxy_cpu', name: 'proxy CPU', unit: 'ns/op', as: 'µs', better: 'less' },
      ...cpuHead('proxy'),
    },
    proxyCpu,
  ),
  { ...serverCpu, name: 'Redis CPU', ...cpuHead('Redis') },
  metric(
    {
      ...{ key: 'benchmark', name: 'benchmark requests/s', unit: 'requests/s', better: 'more' },
      ...{ head: ['redis-', 'bench./s'], drop: 5 },
    },
    (one) => medianFact(one, 'benchmarkPerSecond'),
  ),
  metric(
    {
      ...{ key: 'benchmark_p50', name: 'benchmark p50', unit: 'ns', better: 'less' },
      ...{ head: ['redis-', 'bench. p50'], drop: 4 },
    },
    (one) => medianFact(one, 'benchmarkNsP50'),
  ),
]);

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = {
  skipped: true,
  tables: [
    {
      expand: (benchmark) => [{ ...benchmark, mark: null, throughput: {} }],
      table: ['storage', 'keepAlive'],
      row: [
        { key: 'test', name: 'test' },
        { key: 'route', name: 'way', of: routeOf },
        { key: 'id', name: 'id', hidden: true },
      ],
      metrics: METRICS,
      order,
      title([{ label, keys }]) {
        const connections = keys.keepAlive ? 'connections kept' : 'a connection for each request';
        return `${label}, ${connections}: where the time goes`;
      },
    },
  ],
};

/**
 * The command list in the formats of redis-benchmark: `-q`, one line per test, and `--csv`, its
 * columns. The driver's figures come first, then those of redis-benchmark on the same connections.
 */

import { plainText } from '../../lib/format.js';
import { labelOf } from '../../lib/label.js';
import { decode } from '../../measure/hdr.js';
import { Histogram } from '../../measure/histogram.js';
import {
  baselineFailureOf,
  baselineOf,
  medianOf,
  metricValues,
  rateOf,
  refusalOf,
  routeOf,
  toolName,
} from './analysis.js';
import { TESTS } from './tests.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */

/**
 * @typedef {object} Line figures of one test on one route; null: unknown
 * @property {string} client `ioredis`, or redis-benchmark with its version
 * @property {string} route `direct TCP`
 * @property {boolean} keepAlive
 * @property {string} title title of the test
 * @property {number | null} perSecond
 * @property {readonly (number | null)[]} ns mean, minimum, p50, p95, p99, maximum
 * @property {string | null} reason reason of a missing figure
 */

/** Columns of redis-benchmark, and three more that identify the line. */
const HEAD =
  '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms",' +
  '"p99_latency_ms","max_latency_ms","client","route","keep_alive"';
const P50 = 2;

/**
 * @param {Result} result
 * @returns {string[]} `SET: 39215.69 requests per second, p50=0.623 msec`, under a heading per
 *   client and route
 */
export function quietLines(result) {
  /** @type {Map<string, string[]>} */
  const blocks = new Map();
  for (const line of linesOf(result)) {
    const { client, route, keepAlive } = line;
    const heading = `${client}, ${route}, keep-alive ${keepAlive ? 'on' : 'off'}`;
    blocks.set(heading, [...(blocks.get(heading) ?? []), quietLine(line)]);
  }
  return [...blocks].flatMap(([heading, lines], i) => [
    ...(i === 0 ? [] : ['']),
    heading,
    ...lines,
  ]);
}

/** @param {Line} line */
function quietLine({ title, perSecond, ns, reason }) {
  if (perSecond === null) return `${title}: ${reason}`;
  const p50 = ns[P50] === null ? '' : `, p50=${milliseconds(ns[P50])} msec`;
  return `${title}: ${perSecond.toFixed(2)} requests per second${p50}`;
}

/**
 * @param {Result} result
 * @returns {string[]} a header, and one line per client, route and test with a figure
 */
export function csvLines(result) {
  const lines = linesOf(result).filter(({ perSecond }) => perSecond !== null);
  return [
    HEAD,
    ...lines.map(({ title, perSecond, ns, client, route, keepAlive }) => {
      const figures = [
        Number(perSecond).toFixed(2),
        ...ns.map((one) => (one === null ? '' : milliseconds(one))),
      ];
      return [title, ...figures, client, route, keepAlive ? '1' : '0']
        .map((field) => `"${field.replaceAll('"', '""')}"`)
        .join();
    }),
  ];
}

/** @param {number} ns */
function milliseconds(ns) {
  return (ns / 1e6).toFixed(3);
}

/**
 * @param {Result} result
 * @returns {Line[]} by client and route, in the order of the tests
 */
function linesOf(result) {
  const { commands } = /** @type {any} */ (result.options.workloadOptions ?? {});
  const version = commands?.redisBenchmark;
  const rows = result.benchmarks.map((source) => {
    const keys = /** @type {any} */ (source.parameters);
    const label = labelOf(source);
    const common = {
      route: routeOf({ keys }),
      keepAlive: keys.keepAlive,
      title: TESTS[keys.test]?.title ?? keys.test,
    };
    return {
      own: { ...common, ...ownFigures(source), client: plainText(label) },
      beside: { ...common, ...toolFigures(source), client: plainText(String(toolName(version))) },
    };
  });
  const ours = rows.map(({ own }) => own);
  return [...ours, ...(version === undefined ? [] : rows.map(({ beside }) => beside))];
}

/** @param {Benchmark} source */
function ownFigures(source) {
  const perSecond = rateOf({ source });
  const words = refusalOf(source);
  const reason = words === null ? (source.reason ?? source.state) : `refused: ${words}`;
  const latencies = source.rounds.flatMap(({ latency }) => latency ?? []);
  if (perSecond === null || latencies.length === 0) {
    return { perSecond: null, ns: [], reason: plainText(reason) };
  }
  const all = new Histogram();
  for (const one of latencies) all.merge(decode(one.histogram));
  const total = latencies.reduce((sum, { meanNs, count }) => sum + meanNs * count, 0);
  const count = latencies.reduce((sum, one) => sum + one.count, 0);
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => all.printablePercentile(share));
  const least = Math.min(...latencies.map(({ minNs }) => minNs));
  const most = Math.max(...latencies.map(({ maxNs }) => maxNs));
  return { perSecond, ns: [total / count, least, p50, p95, p99, most], reason: null };
}

/** @param {Benchmark} source result whose rates, like its latencies, are medians of the rounds */
function toolFigures(source) {
  const perSecond = baselineOf({ source });
  const of = (/** @type {string} */ name) => medianOf(metricValues({ source }, name));
  const [mean, p50, p99] = ['benchmarkNsMean', 'benchmarkNsP50', 'benchmarkNsP99'].map(of);
  const reason = plainText(baselineFailureOf({ source }) ?? 'not measured');
  return { perSecond, ns: [mean, null, p50, null, p99, null], reason };
}

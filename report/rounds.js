/**
 * Every round as a line of plain numbers, for CSV and JSON: common columns, then parameters and
 * metrics of the workloads in the result, with units in their names; and as texts, for the page.
 * Pure.
 */

import { clientCeilingOf, serverCeilingOf } from '../lib/ceilings.js';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMicroseconds,
  formatShare,
  formatThroughput,
  NONE,
  plainText,
} from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { loadName } from '../lib/load-name.js';
import { OUTCOMES } from '../lib/outcome.js';
import { sizesOf } from '../lib/value-sizes.js';
import { BRIEF, PERCENTILES } from '../measure/histogram.js';
import { comparedShare } from '../stats/metrics.js';
import { rowOf } from './analysis/rows.js';
import { partsOf } from './model.js';
import { specOf } from './specs.js';
import { snakeCase } from './text.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/result.js').Round} Round */
/** @typedef {string | number | boolean | null | undefined} Value */

/**
 * @typedef {object} Line
 * @property {Result} result
 * @property {Benchmark} source
 * @property {Round | null} round
 * @property {Result['storages'][number] | undefined} storage
 * @property {Result['servers'][number] | undefined} server
 */

/** @type {ReadonlyArray<readonly [string, (line: Line) => Value]>} */
const RUN_COLUMNS = [
  ['result_id', ({ result }) => result.id],
  ['started_at', ({ result }) => result.startedAt],
  ['dragstrip', ({ result }) => result.dragstrip],
  ['node', ({ result }) => result.environment.node],
  ['cpu', ({ result }) => result.environment.cpu],
  ['cores', ({ result }) => result.environment.cores],
  ['dataset_rows', ({ result }) => result.dataset.rows],
  ['value_size_chars', ({ result, source }) => source.load.valueSize ?? sizesOf(result.dataset)],
  ['seed', ({ result }) => result.dataset.seed],
];

/** @type {ReadonlyArray<readonly [string, (line: Line) => Value]>} */
const BENCHMARK_COLUMNS = [
  ['benchmark', ({ source }) => source.id],
  ['workload', ({ source }) => source.workload],
  ['load', ({ source }) => source.load.kind],
  ['in_flight', ({ source }) => source.load.inFlight],
  ['load_operations', ({ source }) => source.load.operations],
  ['processes', ({ source }) => source.load.processes ?? 1],
  ['load_duration_ns', ({ source }) => source.load.durationNs],
  ['rate_per_s', ({ source }) => source.load.rate],
  ['arrivals', ({ source }) => source.load.arrivals],
  ['max_in_flight', ({ source }) => source.load.maxInFlight],
  ['storage', ({ source }) => source.storage],
  ['profile', ({ source }) => source.profile],
  ['package', ({ storage }) => storage?.package],
  ['package_version', ({ storage }) => storage?.version],
  ['server', ({ storage }) => storage?.server],
  ['server_version', ({ server }) => server?.version],
  ['benchmark_state', ({ source }) => source.state],
  ['benchmark_reason', ({ source }) => source.reason],
  ['server_ceiling_ops_per_s', ({ result, storage }) => serverCeilingIn(result, storage)],
  ['client_ceiling_ops_per_s', ({ result, source }) => clientCeilingOf(result.limits, source)],
  [
    'harness_overhead_ns_per_op',
    ({ result, source }) =>
      result.harnessOverhead.find(
        ({ load, inFlight }) =>
          load === source.load.kind &&
          (inFlight === undefined || inFlight === source.load.inFlight),
      )?.nsPerOperation ?? null,
  ],
];

const CONDITIONS = ['canaryNs', 'canaryDrift', 'stealShare', 'busyShare', 'throttledNs'];
const LATENCIES = ['minNs', 'meanNs', ...Object.keys(PERCENTILES), 'maxNs'];

/** @typedef {readonly [name: string, valueIn: (round: Round) => Value]} RoundColumn */

/** Columns of CSV and JSON. @type {readonly RoundColumn[]} */
const ROUND_COLUMNS = [
  ['round', ({ round }) => round + 1],
  ['position', ({ position }) => position + 1],
  ['round_state', ({ state }) => state],
  ...fieldsOf('failure', ['code', 'message'], ({ failure }) => failure),
  ['scheduled', ({ scheduled }) => scheduled],
  ...fieldsOf('', OUTCOMES, ({ outcomes }) => outcomes),
  ['duration_ns', ifRun(({ durationNs }) => durationNs)],
  ['throughput_ops_per_s', ifRun(({ throughput }) => throughput)],
  ['in_flight_mean', ifRun(({ inFlightMean }) => inFlightMean)],
  ...fieldsOf('', CONDITIONS, ({ conditions }) => conditions),
  ...fieldsOf('', ['offered', 'sent', 'completed', 'late'], ({ open }) => open),
  ['late_max_ns', ({ open }) => open?.lateNsMax],
  ...fieldsOf('service', [...BRIEF, 'p999Ns'], ({ open }) => open?.service),
  ...['get', 'set'].flatMap(kindColumns),
  ...fieldsOf('latency', LATENCIES, ({ latency }) => latency),
  ...fieldsOf('client', ['userNs', 'systemNs'], ({ client }) => client),
  ['client_cpu_ns_per_op', (round) => perOperation(round, clientCpuNs(round))],
  ['client_rss_max_bytes', ({ client }) => client?.rssBytesMax],
  ...fieldsOf('client', ['gcCount', 'gcNs', 'allocatedBytes'], ({ client }) => client),
  ...fieldsOf('client', ['reads', 'writes', 'readBytes', 'writtenBytes'], ({ client }) => client),
  ['server_cpu_ns', ({ server }) => server?.cpuNs],
  ['server_cpu_ns_per_op', (round) => perOperation(round, round.server?.cpuNs)],
  ['server_busiest_thread_ns', ({ server }) => server?.threadNsMax],
  ['server_rss_bytes', ({ server }) => server?.rssBytes],
  ['pending_bytes_per_request', ({ pendingBytes }) => pendingBytes],
  ...fieldsOf('', ['createdNs', 'processNs', 'workNs'], (round) => round),
];

/**
 * Columns of the page: title, format of a value, and its column above, or its source.
 * @type {readonly (readonly [title: string, text: (value: any) => string,
 *   of: string | RoundColumn[1]])[]}
 */
const TITLES = [
  ['round', formatCount, 'round'],
  ['position', formatCount, 'position'],
  ['state', String, 'round_state'],
  ...['scheduled', ...OUTCOMES].map((name) => /** @type {const} */ ([name, formatCount, name])),
  ['open', formatDuration, 'created_ns'],
  ['duration', formatDuration, 'duration_ns'],
  ['ops/s', formatThroughput, 'throughput_ops_per_s'],
  ['in flight', formatThroughput, ({ inFlightMean }) => inFlightMean],
  ...Object.entries(PERCENTILES).map(
    ([field, q]) =>
      /** @type {const} */ ([`p${q * 100}`, formatDuration, `latency_${snakeCase(field)}`]),
  ),
  ['max', formatDuration, 'latency_max_ns'],
  ['client CPU, s', formatSeconds, clientCpuNs],
  ['server CPU, s', formatSeconds, 'server_cpu_ns'],
  ['client memory', formatBytes, 'client_rss_max_bytes'],
  ['GC runs', formatCount, 'client_gc_count'],
  ['GC time', formatDuration, 'client_gc_ns'],
  ['allocated per op', formatBytes, (round) => perOperation(round, round.client?.allocatedBytes)],
  ['in full', formatShare, (round) => comparedShare([round])],
  ['canary µs', formatMicroseconds, 'canary_ns'],
];

/**
 * Values without information; the page omits columns with no other value. @type {Map<string,
 * string>}
 */
const USUAL = new Map(OUTCOMES.filter((name) => name !== 'ok').map((name) => [name, '0']));
USUAL.set('in full', formatShare(1));

/** Keys of every benchmark: separate columns, or for grouping only. */
const COMMON_KEYS = new Set(
  ['id', 'storage', 'workload', 'load', 'inFlight', 'rate', 'processes', 'loadGroup'], //
);

/**
 * @param {Result} result
 * @param {import('./specs.js').ReportSpecs} specs
 * @param {ReadonlyMap<string, [string, boolean][]>} [columns] further ones by benchmark
 * @returns {import('../lib/report-types.js').RoundTable} one line per benchmark and round, followed
 *   by one per part of a series
 */
export function roundTableOf(result, specs, columns = new Map()) {
  const storages = new Map(
    result.storages.map((one) => [JSON.stringify([one.name, one.profile]), one]),
  );
  const servers = new Map(result.servers.map((one) => [one.name, one]));
  const fixed = [...RUN_COLUMNS, ...BENCHMARK_COLUMNS, ...ROUND_COLUMNS].map(([name]) => name);
  /** @type {Set<string>} */
  const more = new Set();
  /** @type {{ values: Value[], own: Map<string, Value> }[]} */
  const entries = [];
  for (const source of result.benchmarks) {
    const storage = storages.get(JSON.stringify([source.storage, source.profile]));
    const server = servers.get(storage?.server ?? '');
    // A source that did not run has a line with its state and without numbers.
    for (const round of source.rounds.length === 0 ? [null] : source.rounds) {
      const line = { result, source, round, storage, server };
      const [own, ...series] = ownValues(line, specOf(specs, source.workload));
      for (const [name, value] of columns.get(source.id) ?? []) own.set(name, value);
      for (const values of [own, ...series]) for (const name of values.keys()) more.add(name);
      entries.push({ values: valuesOf(line), own });
      const where = valuesOf({ ...line, round: null });
      if (round !== null) where[fixed.indexOf('round')] = round.round + 1;
      entries.push(...series.map((values) => ({ values: where, own: values })));
    }
  }
  const added = [...more].filter((name) => !fixed.includes(name));
  return {
    columns: [...fixed, ...added],
    lines: entries.map(({ values, own }) => [...values, ...added.map((name) => own.get(name))]),
  };
}

/**
 * @param {Line} line
 * @param {import('../lib/report-types.js').ReportSpec} spec
 * @returns {Map<string, Value>[]} parameters and metrics of the workload by column: for the round,
 *   then for each part of its series
 */
function ownValues({ result, source, round }, { tables }) {
  const rounds = round === null ? [] : [round];
  const benchmark = rowOf({ ...source, rounds }, result);
  const columns = new Map(keyEntries(benchmark));
  /** @type {Map<string, Value>[]} */
  const series = [];
  for (const table of tables) {
    const parts = partsOf(table, [benchmark], result);
    for (const part of parts) {
      const values = [...keyEntries(part), ...metricEntries(table, part, result)];
      if (parts.length > 1) series.push(new Map(values));
      else for (const [name, value] of values) columns.set(name, value);
    }
  }
  return [columns, ...series];
}

/** @param {any} benchmark @returns {[string, Value][]} */
function keyEntries({ keys }) {
  return Object.entries(keys)
    .filter(([name]) => !COMMON_KEYS.has(name))
    .map(([name, value]) => [snakeCase(name), value]);
}

/**
 * @param {import('../lib/report-types.js').TableSpec} table
 * @param {any} benchmark benchmark of one round
 * @param {Result} result
 * @returns {[string, Value][]}
 */
function metricEntries({ metrics }, benchmark, result) {
  const own = [benchmark];
  const listed = typeof metrics === 'function' ? metrics(own, result) : metrics;
  const scope = { result, table: own, row: own, all: own };
  return listed
    .filter(({ relative }) => !relative)
    .map((metric) => {
      const value = metric.of(benchmark, scope);
      return [columnName(metric), 'value' in value ? value.value : null];
    });
}

/** @type {Readonly<Record<string, string>>} */
const UNIT_NAMES = Object.freeze({ B: 'bytes', '%': 'share', '×': 'ratio', count: '', text: '' });

/**
 * @param {{ key: string, unit: string }} metric
 * @returns {string} `rows_per_s`, `client_cpu_ns_per_row`
 */
export function columnName({ key, unit }) {
  const words = unit.split('/').map((word) => UNIT_NAMES[word] ?? word);
  const name = words.join('_per_').replace(/^_/, '');
  if (name === '' || key.endsWith(`_${name}`)) return key;
  const [of, ...per] = words;
  return `_${key}`.endsWith(`_${of}`) ? [key, ...per].join('_per_') : `${key}_${name}`;
}

/** @param {Line} line @returns {Value[]} */
function valuesOf(line) {
  const { round } = line;
  const fixed = [...RUN_COLUMNS, ...BENCHMARK_COLUMNS].map(([, valueIn]) => valueIn(line));
  const measured = ROUND_COLUMNS.map(([, valueIn]) => (round === null ? null : valueIn(round)));
  return [...fixed, ...measured];
}

/**
 * @param {string} prefix prefix of the names; may be empty
 * @param {readonly string[]} fields `rssBytes`: the column is `PREFIX_rss_bytes`
 * @param {(round: Round) => any} of
 * @returns {RoundColumn[]}
 */
function fieldsOf(prefix, fields, of) {
  return fields.map((field) => [
    `${prefix === '' ? '' : `${prefix}_`}${snakeCase(field)}`,
    (round) => of(round)?.[field],
  ]);
}

/**
 * @param {(round: Round) => Value} valueIn
 * @returns {(round: Round) => Value} null for a failed round, whose zeros are not measured
 */
function ifRun(valueIn) {
  return (round) => (round.state === 'failed' ? null : valueIn(round));
}

/**
 * @param {Result} result
 * @param {Line['storage']} storage
 */
function serverCeilingIn({ limits }, storage) {
  return serverCeilingOf(limits, storage?.protocol ?? null);
}

/**
 * @param {string} name name of a kind of operation in a mix
 * @returns {RoundColumn[]}
 */
function kindColumns(name) {
  const of = (/** @type {Round} */ { kinds }) => kinds?.find((kind) => kind.name === name);
  return [...fieldsOf(name, ['ok'], of), ...fieldsOf(name, BRIEF, (round) => of(round)?.latency)];
}

/** @param {Round} round */
function clientCpuNs({ client }) {
  return client === null ? null : client.userNs + client.systemNs;
}

/**
 * @param {Round} round
 * @param {number | null | undefined} ns
 */
function perOperation({ outcomes }, ns) {
  return ns === null || ns === undefined || outcomes.ok === 0 ? null : ns / outcomes.ok;
}

/** @param {number | null} ns */
function formatSeconds(ns) {
  return ns === null ? NONE : (ns / 1e9).toFixed(3);
}

/**
 * @param {Result} result
 * @returns {import('../lib/report-types.js').RoundTexts} texts of each round of each benchmark, in
 *   the columns with at least one value
 */
export function roundTextsOf({ benchmarks }) {
  const byName = new Map(ROUND_COLUMNS);
  const rounds = benchmarks.flatMap((benchmark) => benchmark.rounds);
  const all = TITLES.map(([title, text, of]) => {
    const valueIn = typeof of === 'string' ? /** @type {RoundColumn[1]} */ (byName.get(of)) : of;
    return { title, textOf: (/** @type {Round} */ round) => text(valueIn(round) ?? null) };
  });
  const columns = all.filter(({ title, textOf }) => {
    const nothing = [NONE, USUAL.get(title)];
    return rounds.some((round) => !nothing.includes(textOf(round)));
  });
  return {
    columns: [
      { name: 'benchmark', align: 'left' },
      ...columns.map(({ title }) => ({
        name: title,
        align: /** @type {'left' | 'right'} */ (title === 'state' ? 'left' : 'right'),
      })),
    ],
    rows: benchmarks.flatMap((benchmark) =>
      benchmark.rounds.map((round) => ({
        texts: [
          plainText(`${labelOf(benchmark)}, ${benchmark.workload}, ${loadName(benchmark.load)}`),
          ...columns.map(({ textOf }) => textOf(round)),
        ],
        of: labelOf(benchmark),
      })),
    ),
  };
}

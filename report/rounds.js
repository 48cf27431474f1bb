/**
 * Every round as a line of plain numbers, for CSV: first what every workload has, then the
 * parameters and the metrics of the workloads that are in the result, with units in their names.
 * Pure.
 */

import { clientCeilingOf, serverCeilingOf } from '../lib/ceilings.js';
import { OUTCOMES } from '../lib/outcome.js';
import { sizesOf } from '../lib/value-sizes.js';
import { toRow } from './analysis/rows.js';
import { partsOf } from './model.js';
import { specOf } from './specs.js';

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
      result.harnessOverhead.find(({ load }) => load === source.load.kind)?.nsPerOperation ?? null,
  ],
];

/** @type {ReadonlyArray<readonly [string, (round: Round) => Value]>} */
const ROUND_COLUMNS = [
  ['round', ({ round }) => round + 1],
  ['position', ({ position }) => position + 1],
  ['round_state', ({ state }) => state],
  ['failure_code', ({ failure }) => failure?.code],
  ['failure_message', ({ failure }) => failure?.message],
  ['scheduled', ({ scheduled }) => scheduled],
  ...OUTCOMES.map((name) => outcomeColumn(name)),
  ['duration_ns', ifRun(({ durationNs }) => durationNs)],
  ['throughput_ops_per_s', ifRun(({ throughput }) => throughput)],
  ['in_flight_mean', ifRun(({ inFlightMean }) => inFlightMean)],
  ['canary_ns', ({ conditions }) => conditions?.canaryNs],
  ['canary_drift', ({ conditions }) => conditions?.canaryDrift],
  ['steal_share', ({ conditions }) => conditions?.stealShare],
  ['busy_share', ({ conditions }) => conditions?.busyShare],
  ['throttled_ns', ({ conditions }) => conditions?.throttledNs],
  ['offered', ({ open }) => open?.offered],
  ['sent', ({ open }) => open?.sent],
  ['completed', ({ open }) => open?.completed],
  ['late', ({ open }) => open?.late],
  ['late_max_ns', ({ open }) => open?.lateNsMax],
  ['service_p50_ns', ({ open }) => open?.service?.p50Ns],
  ['service_p99_ns', ({ open }) => open?.service?.p99Ns],
  ['service_p999_ns', ({ open }) => open?.service?.p999Ns],
  ...['get', 'set'].flatMap(kindColumns),
  ['latency_min_ns', ({ latency }) => latency?.minNs],
  ['latency_mean_ns', ({ latency }) => latency?.meanNs],
  ['latency_p50_ns', ({ latency }) => latency?.p50Ns],
  ['latency_p90_ns', ({ latency }) => latency?.p90Ns],
  ['latency_p99_ns', ({ latency }) => latency?.p99Ns],
  ['latency_p999_ns', ({ latency }) => latency?.p999Ns],
  ['latency_max_ns', ({ latency }) => latency?.maxNs],
  ['client_user_ns', ({ client }) => client?.userNs],
  ['client_system_ns', ({ client }) => client?.systemNs],
  ['client_cpu_ns_per_op', (round) => perOperation(round, clientCpuNs(round))],
  ['client_rss_max_bytes', ({ client }) => client?.rssBytesMax],
  ['client_gc_count', ({ client }) => client?.gcCount],
  ['client_gc_ns', ({ client }) => client?.gcNs],
  ['server_cpu_ns', ({ server }) => server?.cpuNs],
  ['server_cpu_ns_per_op', (round) => perOperation(round, round.server?.cpuNs)],
  ['server_busiest_thread_ns', ({ server }) => server?.threadNsMax],
  ['server_rss_bytes', ({ server }) => server?.rssBytes],
  ['pending_bytes_per_request', ({ pendingBytes }) => pendingBytes],
  ['created_ns', ({ createdNs }) => createdNs],
  ['process_ns', ({ processNs }) => processNs],
  ['work_ns', ({ workNs }) => workNs],
];

/** Keys that every benchmark has: in columns of their own, or for grouping only. */
const COMMON_KEYS = new Set(
  ['id', 'storage', 'workload', 'load', 'inFlight', 'rate', 'processes', 'loadGroup'], //
);

/**
 * @param {Result} result
 * @param {import('./specs.js').ReportSpecs} specs
 * @param {ReadonlyMap<string, [string, boolean][]>} [columns] further ones by benchmark
 * @returns {import('../lib/report-types.js').RoundTable} a line for each benchmark and round, and
 *   behind it one for each part of a series
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
    // A source that did not run has a line too, with its state and without numbers.
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
 * @returns {Map<string, Value>[]} parameters and metrics of the workload by column: of the round,
 *   then of each part of its series
 */
function ownValues({ result, source, round, storage }, { tables }) {
  const rounds = round === null ? [] : [round];
  const benchmark = toRow({ ...source, rounds }, storage?.server ?? null);
  const whole = new Map(keyEntries(benchmark));
  /** @type {Map<string, Value>[]} */
  const series = [];
  for (const table of tables) {
    const parts = partsOf(table, [benchmark], result);
    for (const part of parts) {
      const values = [...keyEntries(part), ...metricEntries(table, part, result)];
      if (parts.length > 1) series.push(new Map(values));
      else for (const [name, value] of values) whole.set(name, value);
    }
  }
  return [whole, ...series];
}

/** @param {any} benchmark @returns {[string, Value][]} */
function keyEntries({ keys }) {
  return Object.entries(keys)
    .filter(([name]) => !COMMON_KEYS.has(name))
    .map(([name, value]) => [snakeCase(name), value]);
}

/**
 * @param {import('../lib/report-types.js').TableSpec} table
 * @param {any} benchmark of one round
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
function columnName({ key, unit }) {
  const words = unit.split('/').map((word) => UNIT_NAMES[word] ?? word);
  const name = words.join('_per_');
  if (name === '' || key.endsWith(`_${name}`)) return key;
  return words[0] === key ? name : `${key}_${name}`;
}

/** @param {string} name */
function snakeCase(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** @param {Line} line @returns {Value[]} */
function valuesOf(line) {
  const { round } = line;
  const fixed = [...RUN_COLUMNS, ...BENCHMARK_COLUMNS].map(([, valueIn]) => valueIn(line));
  const measured = ROUND_COLUMNS.map(([, valueIn]) => (round === null ? null : valueIn(round)));
  return [...fixed, ...measured];
}

/**
 * @param {import('../lib/types.js').Outcome} name
 * @returns {readonly [string, (round: Round) => Value]}
 */
function outcomeColumn(name) {
  return [name, ({ outcomes }) => outcomes[name]];
}

/**
 * @param {(round: Round) => Value} valueIn
 * @returns {(round: Round) => Value} null for a round that failed: its zeros are no measurement
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
 * @param {string} name of a kind of operation, where the workload mixes them
 * @returns {(readonly [string, (round: Round) => Value])[]}
 */
function kindColumns(name) {
  const of = (/** @type {Round} */ { kinds }) => kinds?.find((kind) => kind.name === name);
  return [
    [`${name}_ok`, (round) => of(round)?.ok],
    [`${name}_p50_ns`, (round) => of(round)?.latency?.p50Ns],
    [`${name}_p99_ns`, (round) => of(round)?.latency?.p99Ns],
  ];
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

/**
 * The common tables: storages by verified operations per second, a table per load; for an open loop
 * by offered rate. Also the default for workloads that declare no report.
 */

import { isOfLoad } from '../lib/comparison.js';
import { formatCount, formatElapsed, plainText } from '../lib/format.js';
import { loadName, shapeName } from '../lib/load-name.js';
import {
  clientCpu,
  figureOf,
  memory,
  metric,
  metricValues,
  network,
  p50,
  p99,
  p999,
  poolWaits,
  rank,
  ratioValue,
  serverCpu,
  throughput,
  UNKNOWN,
} from '../stats/metrics.js';
import { explainOperations, shortLegend } from './operations-legend.js';
import { operationsPlots } from './operations-plots.js';

/** @typedef {import('../lib/report-types.js').Metric} Metric */
/** @typedef {import('../lib/report-types.js').TableSpec} TableSpec */

/** @type {Metric} */
const versusFastest = {
  key: 'versus_fastest',
  name: 'vs\nfastest',
  unit: '×',
  better: 'more',
  drop: 1,
  relative: true,
  shows: ['interval'],
  of: ({ ratio }) => (ratio === null ? UNKNOWN : ratioValue(ratio)),
};

/**
 * @param {readonly any[]} table table whose contenders have a common baseline
 * @returns {Metric}
 */
function versusReference(table) {
  const names = new Set(table.flatMap(({ against }) => against ?? []));
  const [name] = names.size === 1 ? [plainText([...names].join())] : ['reference'];
  return { ...versusFastest, key: 'versus_reference', name: `vs\n${name}` };
}

const notOk = metric(
  { key: 'not_ok', name: 'not\nok', unit: 'count', better: 'less', drop: 0 },
  ({ wrong, notRun, scheduled }) => (scheduled === 0 ? null : wrong + notRun),
);

const changed = metric(
  {
    key: 'changed',
    name: 'values changed by others',
    unit: 'count',
    head: ['changed', 'by others'],
    drop: 1,
  },
  (one) => sumOf(metricValues(one, 'changed')),
);

/** @param {readonly unknown[]} values */
function sumOf(values) {
  return values.reduce((/** @type {number} */ sum, value) => sum + Number(value), 0);
}

const bottleneck = metric(
  {
    key: 'bottleneck',
    name: 'bottleneck',
    unit: 'text',
    relative: true,
    align: 'left',
    drop: 6,
  },
  ({ bound }) => bound?.verdict,
);

const ofClientCeiling = metric(
  {
    key: 'of_client_ceiling',
    name: 'of client\nceiling',
    unit: '%',
    better: 'more',
    drop: 3,
    optional: true,
    relative: true,
  },
  (one) => one.ofClientCeiling,
);

/** @type {Metric} */
const ofServerCeiling = {
  key: 'of_server_ceiling',
  name: 'of server ceiling',
  unit: '%',
  better: 'more',
  head: ['of', 'ceiling'],
  drop: 4,
  optional: true,
  relative: true,
  of: ({ ofServerCeiling }) => ofServerCeiling,
};

/** @type {Metric} */
const clientCpuWithInterval = {
  ...clientCpu,
  shows: ['interval if wide'],
  of({ clientCpuNs, n, standing }) {
    const { halfWidth: spread = null } = standing?.witnesses['clientCpu'] ?? {};
    return figureOf(clientCpuNs, n, { spread });
  },
};

const pendingMemory = metric(
  {
    key: 'pending',
    name: 'memory per pending request',
    unit: 'B/request',
    as: 'B',
    head: ['per', 'pending'],
    drop: 11,
    better: 'less',
    optional: true,
  },
  (one) => one.pendingBytes,
);

/**
 * @type {readonly Metric[]} metrics of an open loop: response times count from the due time of an
 *   operation
 */
const OPEN = Object.freeze([
  metric(
    { key: 'offered', name: 'offered\nops/s', unit: 'ops/s' },
    ({ source }) => source.load.rate,
  ),
  { ...throughput, name: 'achieved\nops/s' },
  { ...p50, name: 'response\np50', drop: 3 },
  { ...p99, name: 'response\np99', drop: 0 },
  { ...p999, name: 'response\np99.9', drop: 2 },
  metric(
    { key: 'service_p99', name: 'service\np99', unit: 'ns', better: 'less', drop: 1 },
    ({ open }) => open?.service?.p99Ns,
  ),
  share('late', 4),
  share('dropped', 1),
  { ...memory, drop: 7 },
]);

/**
 * @param {'late' | 'dropped'} name
 * @param {number} drop
 * @returns {Metric} fraction of the offered operations
 */
function share(name, drop) {
  return metric(
    { key: `${name}_share`, name, unit: '%', as: 'part', better: 'less', drop },
    ({ open }) => (!open || open.offered === 0 ? null : open[name] / open.offered),
  );
}

/**
 * @param {readonly any[]} table
 * @returns {Metric[]} p99 per kind of operation, for mixes
 */
function kindMetrics(table) {
  const names = new Set(
    table.flatMap(({ kinds }) => kinds.map((/** @type {any} */ one) => one.name)),
  );
  return [...names].map((name) =>
    metric(
      {
        key: `${name}_p99`,
        name: `${plainText(name)}\np99`,
        unit: 'ns',
        better: 'less',
        drop: 2,
      },
      ({ kinds }) => kinds.find((/** @type {any} */ one) => one.name === name)?.p99Ns,
    ),
  );
}

/** @type {TableSpec} */
export const operationsTable = {
  where: ({ source }) => source.parameters === undefined,
  table: ['workload', 'loadGroup'],
  row: [
    { key: 'storage', name: 'storage' },
    { key: 'id', name: 'id', hidden: true },
  ],
  metrics(table) {
    const anyWrong = [
      ...(table.some(({ wrong, notRun }) => wrong + notRun > 0) ? [notOk] : []),
      ...(table.some((one) => sumOf(metricValues(one, 'changed')) > 0) ? [changed] : []),
    ];
    const isShared = table.some(({ source }) => source.rounds.some(hasAgents));
    const near = isShared ? [network] : [];
    if (table[0].source.load.kind === 'rate') {
      const [offered, ...rest] = OPEN;
      return [offered, ...anyWrong, ...rest, ...poolWaits, ...near, ...kindMetrics(table)];
    }
    const isAgainst = table.some(({ against }) => against !== null);
    const versus = isAgainst ? versusReference(table) : versusFastest;
    // A single round has no rank, but the same columns.
    const isCompared = table.some(({ isSliced }) => isSliced);
    // Beside the client ceiling, the server ceiling needs its full name.
    const both = table.some((one) => one.ofClientCeiling !== null);
    const ofServer = both
      ? { ...ofServerCeiling, head: /** @type {[string, string]} */ (['of server', 'ceiling']) }
      : ofServerCeiling;
    return [
      ...[
        throughput,
        ...anyWrong,
        { ...rank, optional: !isCompared },
        versus,
        ofClientCeiling,
        ofServer,
      ],
      ...[{ ...p50, drop: 7.5 }, p99, p999, ...poolWaits, ...kindMetrics(table)],
      ...[clientCpuWithInterval, serverCpu, bottleneck, ...near, memory, pendingMemory],
    ];
  },
  title: titleOf,
  namesRounds: true,
  id: ([{ keys }]) => `${keys.workload} ${keys.loadGroup}`,
};

/** @param {import('../lib/result.js').Round} round */
function hasAgents({ agents }) {
  return agents !== undefined;
}

/**
 * @param {import('../lib/result.js').Load} load
 * @param {import('../lib/result.js').Result} result
 * @returns {string} `, 5,000 operations`, `, 10.0 s`, `, slices of 8 ms`; empty: unknown
 */
function amountText(load, { comparison }) {
  const { operations, durationNs } = load;
  if (operations !== null) return `, ${formatCount(operations)} operations`;
  if (durationNs !== null) return `, ${formatElapsed(durationNs / 1e6)}`;
  const bySlices = comparison?.loads.some((one) => isOfLoad(one, { load }));
  if (comparison === undefined || !bySlices) return '';
  return `, segments of ${Number((comparison.sliceNs / 1e6).toPrecision(3))} ms`;
}

/**
 * @param {readonly any[]} table
 * @param {import('../lib/result.js').Result} result
 */
function titleOf(table, result) {
  const { workload, load } = table[0].source;
  const { kind, inFlight, operations, processes = 1 } = load;
  const each = kind === 'sync' && processes > 1 ? ' in each' : '';
  const rounds = Math.max(...table.map(({ source }) => source.rounds.length));
  const offered =
    kind === 'burst'
      ? `all ${formatCount(operations)} at once`
      : kind === 'rate'
        ? offeredText(table)
        : `${formatCount(inFlight ?? 1)} in flight${each}${shapeName(load)}${amountText(load, result)}`;
  const { connections: _, valueSize: __, ...bare } = load;
  const name = kind === 'rate' ? 'open loop' : loadName(bare);
  return `${plainText(workload)}, ${name}: ${offered}, ${formatCount(rounds)} ${
    rounds === 1 ? 'round' : 'rounds'
  }`;
}

/**
 * @param {readonly any[]} table
 * @returns {string} `constant arrivals, 10.0 s each`
 */
function offeredText(table) {
  const { arrivals, durationNs, operations } = table[0].source.load;
  const amounts = new Set(table.map(({ source }) => source.load.operations));
  const amount =
    durationNs !== null
      ? `, ${formatElapsed(durationNs / 1e6)} each`
      : amounts.size === 1
        ? `, ${formatCount(operations)} operations each`
        : '';
  return `${arrivals} arrivals${amount}`;
}

/** @param {readonly any[]} benchmarks */
const shownOf = (benchmarks) => benchmarks.filter(operationsTable.where ?? Boolean);

/** Report of single rows: the default, and the base of others. */
export const operationsReport = Object.freeze({
  tables: [operationsTable],
  plots: operationsPlots,
  legend: (/** @type {readonly any[]} */ benchmarks) => shortLegend(shownOf(benchmarks)),
  explain: (/** @type {readonly any[]} */ benchmarks) => explainOperations(shownOf(benchmarks)),
});

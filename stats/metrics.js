/**
 * The metrics of tables: a name, a unit, which direction is better, and a pure function from a
 * benchmark to a value. A value is `{ value, low, high, n }`, or a state with its reason if there
 * is none. A new metric is one line here, or in the report of a workload.
 *
 * A benchmark here is a row of report/analysis/rows.js: its keys, its rounds and their totals.
 */

import { mean } from 'simple-statistics';
import { roundTripTo } from './fleet.js';
import { CONFIDENCE, figureOver, studentHalf } from './interval.js';
import { medianOfSorted } from './percentile.js';

/** @typedef {import('../lib/report-types.js').Metric} Metric */
/** @typedef {import('../lib/report-types.js').Value} Value */
/** @typedef {import('../lib/report-types.js').Display} Display */
/** @typedef {import('../lib/report-types.js').Scope} Scope */
/** @typedef {Display & Partial<Pick<Metric, 'better' | 'optional' | 'relative'>>} Hints */
/** @typedef {Pick<Metric, 'key' | 'name' | 'unit'> & Hints} Shown */

/** @type {Value} */
export const UNKNOWN = Object.freeze({ state: 'unknown', reason: null });

/**
 * @param {number | string | null | undefined} value
 * @param {number} n number of rounds
 * @param {{ low?: number | null, high?: number | null, spread?: number | null }} [interval]
 * @returns {Value}
 */
export function figureOf(value, n, { low = null, high = null, spread = null } = {}) {
  if (value === null || value === undefined) return UNKNOWN;
  return spread === null ? { value, low, high, n } : { value, low, high, n, spread };
}

/**
 * @param {Value} value
 * @returns {number | null} null for a state
 */
export function numberOf(value) {
  return 'value' in value && typeof value.value === 'number' ? value.value : null;
}

/**
 * @param {import('./separation.js').Ratio} ratio
 * @returns {Value} value with the interval that its answer was decided by
 */
export function ratioValue({ ratio, low, high, halfWidth: spread, n }) {
  return figureOf(ratio, n, ratio === 1 && spread === 0 ? {} : { low, high, spread });
}

/**
 * @param {Shown} shown
 * @param {(benchmark: any, scope: Scope) => number | string | null | undefined} of
 * @returns {Metric}
 */
export function metric(shown, of) {
  const value = (/** @type {any} */ benchmark, /** @type {Scope} */ scope) =>
    figureOf(of(benchmark, scope), benchmark.n ?? 1);
  return { better: null, drop: 0, ...shown, of: value };
}

/**
 * @param {any} benchmark
 * @param {Scope} scope
 * @returns {Value} reason why it has no figure
 */
export function absent({ state, source }, { result }) {
  if (state === 'measured') return UNKNOWN;
  const shown = state !== 'planned' ? state : result.state === 'running' ? 'not yet' : 'not run';
  return { state: shown, reason: source.reason };
}

/** @type {Metric} */
export const throughput = {
  key: 'throughput',
  name: 'ops/s',
  unit: 'ops/s',
  better: 'more',
  drop: 0,
  shows: ['interval', 'n'],
  of: (benchmark, scope) => benchmark.throughput ?? absent(benchmark, scope),
};

/**
 * @param {(round: any) => number} count rows per round
 * @returns {Metric}
 */
export function rowRate(count) {
  return {
    key: 'rows',
    name: 'rows/s',
    unit: 'rows/s',
    better: 'more',
    drop: 0,
    shows: ['interval', 'n'],
    of(benchmark, scope) {
      const rounds = measuredWithMetrics(benchmark);
      const rates = rounds.map((round) =>
        round.durationNs > 0 ? (count(round) / round.durationNs) * 1e9 : 0,
      );
      return figureOver(rates) ?? absent(benchmark, scope);
    },
  };
}

/** @param {any} benchmark @returns {any[]} rounds measured whole that have figures of their own */
export function measuredWithMetrics({ source }) {
  return source.rounds.filter(
    (/** @type {any} */ { state, metrics }) => state === 'measured' && metrics !== undefined,
  );
}

/** @type {Metric} */
export const rank = {
  key: 'rank',
  name: 'rank',
  unit: 'rank',
  better: 'less',
  drop: 2.5,
  optional: true,
  relative: true,
  of: ({ rank, n }) =>
    rank === null
      ? { state: 'unknown', reason: 'not a contender, or fewer than two rounds' }
      : { value: rank.best, low: rank.best, high: rank.worst, n },
};

const latency = Object.freeze({ unit: 'ns', better: /** @type {const} */ ('less') });

export const p50 = metric(
  { key: 'latency_p50', name: 'p50', ...latency, drop: 5 },
  (one) => one.latency?.p50Ns,
);
export const p99 = metric(
  { key: 'latency_p99', name: 'p99', ...latency, drop: 2 },
  (one) => one.latency?.p99Ns,
);
export const p999 = metric(
  { key: 'latency_p999', name: 'p99.9', ...latency, drop: 9 },
  (one) => one.latency?.p999Ns,
);

/**
 * @param {string} side
 * @param {(benchmark: any) => number | null} of nanoseconds per verified operation
 * @param {Hints} hints
 */
function cpu(side, of, hints) {
  const cpuHints = { as: 'µs', better: /** @type {const} */ ('less'), ...hints };
  const head = /** @type {[string, string]} */ ([side, 'CPU µs']);
  const name = `${side} CPU µs/op`;
  return {
    ...metric({ key: `${side}_cpu`, name, unit: 'ns/op', head, ...cpuHints }, of),
    /**
     * @param {string} unit unit other than an operation
     * @param {(benchmark: any) => number | null} perOperation units per operation
     * @param {Hints} [more]
     * @returns {Metric}
     */
    per(unit, perOperation, more = {}) {
      const each = (/** @type {any} */ benchmark) => {
        const [ns, many] = [of(benchmark), perOperation(benchmark)];
        return ns === null || many === null ? null : ns / many;
      };
      const shown = { key: `${side}_cpu`, name: `${side} CPU µs`, unit: `ns/${unit}`, head };
      return metric({ ...shown, ...cpuHints, ...more }, each);
    },
  };
}

export const clientCpu = cpu('client', ({ clientCpuNs }) => clientCpuNs, { drop: 7 });
export const serverCpu = cpu('server', ({ serverCpuNs }) => serverCpuNs, { drop: 8 });

/** Time until the driver's pool assigned a connection to a request, if the driver reports it. */
export const poolWaits = [poolWait('p50', 5.5), poolWait('p99', 4.5)];

/**
 * @param {'p50' | 'p99'} percentile
 * @param {number} drop
 */
function poolWait(percentile, drop) {
  return metric(
    {
      key: `pool_wait_${percentile}`,
      name: `pool wait ${percentile}`,
      ...latency,
      drop,
      head: /** @type {[string, string]} */ (['pool wait', percentile]),
      optional: true,
    },
    ({ source }) =>
      medianOfAll(
        source.rounds
          .filter((/** @type {any} */ { poolWait: own }) => own)
          .map((/** @type {any} */ { poolWait: own }) => own[`${percentile}Ns`]),
      ),
  );
}

/** Round trip between the load machines and the server. */
export const network = metric(
  {
    key: 'network',
    name: 'network round trip',
    unit: 'ns',
    better: 'less',
    head: ['network', 'round trip'],
    drop: 6,
    optional: true,
  },
  ({ source }, { result }) => roundTripTo(source, result),
);

export const memory = metric(
  {
    key: 'client_rss_max',
    name: 'client memory',
    unit: 'B',
    head: ['client', 'memory'],
    better: 'less',
    drop: 10,
  },
  (one) => one.rssBytesMax,
);

/**
 * @param {any} benchmark
 * @param {string} name name of one of the workload's own figures
 * @returns {unknown[]} figures by round; undefined for a round without one
 */
export function metricValues({ source }, name) {
  return source.rounds
    .filter((/** @type {any} */ { metrics, state }) => metrics !== undefined && state !== 'failed')
    .map((/** @type {any} */ { metrics }) => metrics[name]);
}

/**
 * @param {unknown[]} values
 * @returns {number | null} null if any is missing
 */
export function medianOfAll(values) {
  const numbers = values.filter((value) => typeof value === 'number');
  return numbers.length < values.length ? null : medianOf(numbers);
}

/**
 * @param {readonly number[]} values
 * @returns {number | null} null if there are no values
 */
export function medianOf(values) {
  return values.length === 0 ? null : medianOfSorted(Float64Array.from(values).sort());
}

/**
 * The ratio of a metric to that of the baseline benchmark of the table.
 * @param {Metric} of
 * @param {(table: readonly any[], scope: Scope) => any} baseline undefined: none
 * @param {{ key: string, name: string } & Hints} shown
 * @returns {Metric}
 */
export function ratioTo(of, baseline, { key, name, ...hints }) {
  const ratio = (/** @type {any} */ benchmark, /** @type {Scope} */ scope) => {
    const base = baseline(scope.table, scope);
    const other = base === undefined ? null : numberOf(of.of(base, scope));
    const own = numberOf(of.of(benchmark, scope));
    return other === null || own === null ? null : own / other;
  };
  const shown = { key, name, unit: '×', better: of.better, relative: true, ...hints };
  return metric(shown, ratio);
}

/**
 * A count of the client's process (`client` of rounds) per verified operation: context switches,
 * voluntary or not (getrusage(2)); its system calls `read` and `write`, and their bytes
 * (/proc/PID/io); its allocation (engine/garbage.js).
 * @param {string} field
 * @param {Pick<Shown, 'key' | 'name'> & { unit?: string }} shown
 * @returns {Metric}
 */
function clientCount(field, shown) {
  const of = (/** @type {any} */ { source }) => countPerOperation(source, field);
  return metric({ unit: 'count/op', ...shown, better: 'less', optional: true }, of);
}

/**
 * @param {{ rounds?: readonly any[] }} benchmark
 * @param {string} field field of `client` in its rounds
 * @returns {number | null} total over all measured rounds; null: a round has no count
 */
export function countPerOperation({ rounds = [] }, field) {
  let [count, operations] = [0, 0];
  for (const { client, outcomes, state } of rounds) {
    if (state !== 'measured') continue;
    count += client?.[field] ?? Number.NaN;
    operations += outcomes.ok;
  }
  return operations > 0 && !Number.isNaN(count) ? count / operations : null;
}

/**
 * By the server's own count, per reply in the counted segments.
 * @param {'operations' | 'errors'} of
 * @returns {Metric}
 */
function serverCount(of) {
  const shown = { key: `server_${of}`, name: `${of} of the server`, unit: 'count/op' };
  return metric({ ...shown, better: 'less', optional: true }, ({ source: { rounds = [] } }) => {
    const counted = rounds.flatMap((/** @type {any} */ round) => round.counted ?? []);
    let [count, replies] = [0, 0];
    for (const one of counted) {
      count += one[of] ?? Number.NaN;
      replies += one.replies;
    }
    return replies > 0 && !Number.isNaN(count) ? count / replies : null;
  });
}

/**
 * Memory retained by the client's process per operation: mean over rounds, whose processes are
 * fresh, with Student's interval. Not on logarithms, since it may be zero or less.
 * @param {{ rounds?: readonly any[] }} benchmark
 * @returns {{ value: number, low: number, high: number, n: number, operations: number } | null}
 *   operations of a process; null: fewer than two rounds have counted it
 */
export function memoryGrowthOf({ rounds = [] }) {
  const counted = rounds.flatMap(({ client, state }) =>
    state === 'measured' && client?.keptOperations > 0 ? [client] : [],
  );
  const n = counted.length;
  if (n < 2) return null;
  const perOperation = counted.map((one) => one.keptBytes / one.keptOperations);
  const value = mean(perOperation);
  const half = studentHalf(perOperation, CONFIDENCE);
  const operations = mean(counted.map(({ keptOperations }) => keptOperations));
  return { value, low: value - half, high: value + half, n, operations };
}

/** @type {Metric} */
const memoryGrowth = {
  key: 'memory_growth',
  name: 'memory growth',
  unit: 'B/op',
  better: 'less',
  drop: 0,
  optional: true,
  shows: ['interval', 'n'],
  of({ source }) {
    const growth = memoryGrowthOf(source);
    return growth === null ? UNKNOWN : figureOf(growth.value, growth.n, growth);
  },
};

/**
 * @param {{ compared?: { replies: number, whole?: number } }[]} rounds
 * @returns {number | null} share of the replies that were compared in full, since wrong bytes after
 *   the tag of the others would not be detected; null: not counted
 */
export function comparedShare(rounds) {
  const all = rounds.flatMap(({ compared }) => compared ?? []);
  const replies = all.reduce((sum, one) => sum + one.replies, 0);
  const inFull = all.reduce((sum, one) => sum + (one.whole ?? Number.NaN), 0);
  return replies > 0 && !Number.isNaN(inFull) ? inFull / replies : null;
}

const comparedInFull = metric(
  {
    key: 'compared_in_full',
    name: 'replies compared in full',
    unit: '%',
    as: 'part',
    better: 'more',
    optional: true,
  },
  ({ source }) => comparedShare(source.rounds ?? []),
);

/** Shown in the files of every table of benchmarks, but not on a screen. */
export const IN_FILES = Object.freeze([
  clientCount('voluntarySwitches', {
    key: 'voluntary_switches',
    name: 'voluntary context switches',
  }),
  clientCount('involuntarySwitches', {
    key: 'involuntary_switches',
    name: 'involuntary context switches',
  }),
  clientCount('reads', { key: 'reads', name: 'reads' }),
  clientCount('writes', { key: 'writes', name: 'writes' }),
  clientCount('readBytes', { key: 'read_bytes', name: 'bytes read', unit: 'B/op' }),
  clientCount('writtenBytes', { key: 'written_bytes', name: 'bytes written', unit: 'B/op' }),
  clientCount('allocatedBytes', { key: 'allocated_bytes', name: 'bytes allocated', unit: 'B/op' }),
  serverCount('operations'),
  serverCount('errors'),
  memoryGrowth,
  comparedInFull,
]);

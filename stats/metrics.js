/**
 * The metrics that tables are made of: a name, a unit, which way is better, and a pure function
 * from a benchmark to a value. A value is `{ value, low, high, n }`, or a state with its reason
 * where there is none. A new metric is one line here, or in the report of a workload.
 *
 * A benchmark here is what report/analysis/rows.js makes of a source: its keys, its rounds and what
 * they come to together.
 */

import { roundTripTo } from './fleet.js';
import { figureOver } from './interval.js';
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
 * @param {number} n rounds behind it
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
 * @returns {Value} with the interval that its answer was decided by
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
 * @returns {Value} why it has no figure
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
 * @param {(round: any) => number} count of rows in a round
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
      ? { state: 'unknown', reason: 'it is no contender, or has fewer than two rounds' }
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
  const own = { as: 'µs', better: /** @type {const} */ ('less'), ...hints };
  const head = /** @type {[string, string]} */ ([side, 'CPU µs']);
  const name = `${side} CPU µs/op`;
  return {
    ...metric({ key: `${side}_cpu`, name, unit: 'ns/op', head, ...own }, of),
    /**
     * @param {string} unit other than an operation
     * @param {(benchmark: any) => number | null} perOperation how many an operation has
     * @param {Hints} [more]
     * @returns {Metric}
     */
    per(unit, perOperation, more = {}) {
      const each = (/** @type {any} */ benchmark) => {
        const [ns, many] = [of(benchmark), perOperation(benchmark)];
        return ns === null || many === null ? null : ns / many;
      };
      const shown = { key: `${side}_cpu`, name: `${side} CPU µs`, unit: `ns/${unit}`, head };
      return metric({ ...shown, ...own, ...more }, each);
    },
  };
}

export const clientCpu = cpu('client', ({ clientCpuNs }) => clientCpuNs, { drop: 7 });
export const serverCpu = cpu('server', ({ serverCpuNs }) => serverCpuNs, { drop: 8 });

/** Until the pool of a driver gave a request its connection, where the driver shows it. */
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

/** Between the load machines and the server. */
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
 * @param {string} name of one of the workload's own figures
 * @returns {unknown[]} by round; undefined where a round has none
 */
export function metricValues({ source }, name) {
  return source.rounds
    .filter((/** @type {any} */ { metrics, state }) => metrics !== undefined && state !== 'failed')
    .map((/** @type {any} */ { metrics }) => metrics[name]);
}

/**
 * @param {unknown[]} values
 * @returns {number | null} null where one of them is not there
 */
export function medianOfAll(values) {
  const numbers = values.filter((value) => typeof value === 'number');
  return numbers.length < values.length ? null : medianOf(numbers);
}

/**
 * @param {readonly number[]} values
 * @returns {number | null} null without any
 */
export function medianOf(values) {
  return values.length === 0 ? null : medianOfSorted(Float64Array.from(values).sort());
}

/**
 * The ratio of a metric to that of one benchmark of the table.
 * @param {Metric} of
 * @param {(table: readonly any[], scope: Scope) => any} baseline undefined: there is none
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
 * How often the client's process lost its processor, for each verified operation: because it waited
 * for something, or because another one took it (getrusage(2)).
 * @param {'voluntary' | 'involuntary'} kind
 * @returns {Metric}
 */
function switches(kind) {
  const shown = { key: `${kind}_switches`, name: `${kind} context switches`, unit: 'count/op' };
  return metric({ ...shown, better: 'less', optional: true }, ({ source: { rounds = [] } }) => {
    const measured = rounds.filter((/** @type {any} */ { state }) => state === 'measured');
    let [count, operations] = [0, 0];
    for (const { client, outcomes } of measured) {
      count += client?.[`${kind}Switches`] ?? Number.NaN;
      operations += outcomes.ok;
    }
    return operations > 0 && !Number.isNaN(count) ? count / operations : null;
  });
}

/** In the files of every table of benchmarks, and not on a screen. */
export const IN_FILES = Object.freeze([switches('voluntary'), switches('involuntary')]);

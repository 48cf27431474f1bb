/**
 * The gates of a run: which contender is compared with which, when they are evaluated, and their
 * outcome, in `result.gates`. stats/gate.js makes the decision.
 */

import { entriesOf, entriesOfRounds, WITNESSES } from '../lib/comparison.js';
import { usageError } from '../lib/errors.js';
import { formatRatio, formatShare } from '../lib/format.js';
import { GATE_METRICS } from '../lib/gate.js';
import { labelOf } from '../lib/label.js';
import { processMeans } from '../stats/blocks.js';
import { countedOf, decideGate, ERROR, errorSpent, estimateOf, isSplit } from '../stats/gate.js';
import { countPerOperation } from '../stats/metrics.js';
import { ROUNDS_LEAST } from '../stats/precision.js';
import { busynessOf, figureOfEntries, soundOf } from '../stats/standings.js';

/** @typedef {import('../lib/gate.js').Gate} Gate */
/** @typedef {import('../lib/gate.js').GateMetric} GateMetric */
/** @typedef {import('../lib/gate.js').GateResult} GateResult */
/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('./targets.js').StorageTarget} StorageTarget */

/** Wake-ups of the event loop and messages to the parent that the count may include. */
const WAKE_UPS_MAX = 16;
const WAKE_UP_BYTES = 8;

/** Names in entries; slices have no others. @type {Readonly<Record<string, string>>} */
const SLICED_WITNESSES = Object.freeze({ 'client-cpu': 'clientCpu', 'server-cpu': 'serverCpu' });

/**
 * Values of metrics in rounds.
 * @type {Readonly<Record<string, import('../lib/comparison.js').Witness>>}
 */
const OF_ROUNDS = Object.freeze({
  ...WITNESSES,
  p50: ({ latency }) => latency?.p50Ns,
  p90: ({ latency }) => latency?.p90Ns,
  p99: ({ latency }) => latency?.p99Ns,
  'p99.9': ({ latency }) => latency?.p999Ns,
  memory: ({ client }) => client?.rssBytesMax,
  ...Object.fromEntries(
    Object.keys(GATE_METRICS).flatMap((metric) => {
      const field = countOf(/** @type {GateMetric} */ (metric));
      const of = (/** @type {import('../lib/result.js').Round} */ round) =>
        countPerOperation({ rounds: [round] }, String(field));
      return field === null ? [] : [[metric, of]];
    }),
  ),
});

/**
 * Metrics that decide nothing while the machine is too busy, unless their whole interval is beyond
 * the limit, or within it, by a factor of two: identical code differed by 20 to 50 % there. Counts,
 * CPU time and memory are unaffected.
 */
const OF_TIME = new Set(['throughput', 'p50', 'p90', 'p99', 'p99.9']);
const FAR = Math.log(2);

/** @param {GateMetric} metric @returns {string | null} field of `client` in rounds */
function countOf(metric) {
  const { field = null } = /** @type {{ field?: string }} */ (GATE_METRICS[metric]);
  return field;
}

/**
 * @typedef {object} Match
 * @property {StorageTarget} candidate
 * @property {StorageTarget | null} reference
 */

/**
 * The candidate of a driver is the last of its contenders; the baseline is the installed version or
 * the one named by --reference. Without contenders each storage is compared with limits by itself.
 * @param {readonly StorageTarget[]} storages
 * @param {{ against: readonly string[], reference?: string }} plan
 * @returns {Match[]}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: no contender has this name
 */
export function matchesOf(storages, { reference: named }) {
  const able = storages.filter(({ unavailable }) => unavailable === null);
  const bases = able.filter(({ base }) => base === undefined);
  const matches = bases.flatMap(matchOf);
  /** @param {StorageTarget} base @returns {Match[]} */
  function matchOf(base) {
    const family = able.filter(
      (one) => one === base || (one.base === base.definition.name && one.profile === base.profile),
    );
    if (family.length === 1)
      return named === undefined ? [{ candidate: base, reference: null }] : [];
    const reference = named === undefined ? base : family.find((one) => isCalled(one, named));
    if (reference === undefined) return [];
    const candidate = family.findLast((one) => one !== reference);
    return candidate === undefined ? [] : [{ candidate, reference }];
  }
  if (named !== undefined && matches.length === 0) {
    throw usageError(
      `--reference ${named}: not a contender of this run`,
      `name one of ${able.map(({ driver, definition }) => driver?.text ?? definition.name).join(', ')}`,
    );
  }
  const withReference = matches.filter(({ reference }) => reference !== null);
  return withReference.length > 0 ? withReference : matches;
}

/**
 * @param {StorageTarget} target
 * @param {string} name
 */
function isCalled({ definition, driver }, name) {
  return definition.name === name || driver?.text === name;
}

/**
 * @typedef {object} Test one gate on one benchmark
 * @property {Gate} gate
 * @property {Benchmark} candidate
 * @property {Benchmark | null} reference
 * @property {{ rounds: number, before: number, spent: number }} look the last evaluation: its
 *   rounds, and the error spent before and after it
 * @property {GateResult | null} done
 */

export class Gates {
  /** @type {Test[]} */
  #tests;

  /**
   * @param {readonly Gate[]} gates
   * @param {readonly Match[]} matches
   * @param {Result} result receives `gates`
   * @throws {import('../lib/errors.js').DragstripError} E_USAGE: a ratio without a baseline
   */
  constructor(gates, matches, result) {
    this.result = result;
    this.#tests = gates.flatMap((written) =>
      matches.flatMap(({ candidate, reference }) => {
        const isCount = GATE_METRICS[written.metric].unit === 'count';
        // "writes>1.02" alone is ambiguous.
        const gate = isCount && reference === null ? { ...written, isRatio: false } : written;
        if (gate.isRatio && reference === null) {
          throw usageError(
            `--fail-if ${JSON.stringify(gate.text)}: a ratio needs a baseline`,
            'add --against ioredis@5, --against ./my-fork or --baseline NAME; or give a unit: p99>5ms',
          );
        }
        return benchmarksOf(result, candidate).map((benchmark) => ({
          gate,
          candidate: benchmark,
          look: { rounds: 0, before: 0, spent: 0 },
          done: null,
          reference: reference === null ? null : partnerOf(result, benchmark, reference),
        }));
      }),
    );
    this.#store();
  }

  /**
   * Evaluates the gates after a round in slices.
   * @param {number} planned planned rounds, as currently estimated
   * @returns {boolean} all are decided, or one has failed
   */
  look(planned) {
    for (const test of this.#tests) {
      if (test.done !== null) continue;
      const counted = this.#counted(test);
      if (counted !== null) {
        test.done = toResult(test, counted, null);
        continue;
      }
      const rounds = test.candidate.rounds.length;
      const { spent: before } = test.look;
      const spent = errorSpent(rounds, planned) / this.#tests.length;
      if (rounds < ROUNDS_LEAST || spent <= before) continue;
      const estimate = this.#estimate(test, 1 - (spent - before));
      if (estimate === null) continue;
      test.look = { rounds, before, spent };
      const { outcome } = decideGate(estimate, test.gate);
      if (outcome === 'undecided' || this.#busyText(test, estimate) !== null) continue;
      test.done = toResult(test, estimate, null);
    }
    this.#store();
    const isDone = this.#tests.length > 0 && this.#tests.every(({ done }) => done !== null);
    return isDone || this.#tests.some(({ done }) => done?.outcome === 'failed');
  }

  /** The last evaluation, of the undecided gates. */
  finish() {
    this.#store(true);
  }

  #store(last = false) {
    this.result.gates = this.#tests.map((test) => {
      if (test.done !== null) return test.done;
      // All remaining error; the error of an evaluation of the same rounds is not spent twice.
      const { rounds, before, spent } = test.look;
      const used = rounds === test.candidate.rounds.length ? before : spent;
      const confidence = 1 - (ERROR / this.#tests.length - used);
      const estimate = this.#counted(test) ?? this.#estimate(test, confidence);
      const decision = toResult(test, estimate, estimate === null ? whyNone(test) : null);
      const busy = this.#busyText(test, estimate);
      const undecided = { ...decision, outcome: /** @type {const} */ ('undecided') };
      if (busy !== null) {
        return { ...undecided, reason: busy, roundsNeeded: null };
      }
      return last ? decision : undecided;
    });
  }

  /**
   * @param {Test} test
   * @param {import('../stats/gate.js').Estimate | null} estimate
   * @returns {string | null} reason why it decides nothing; null: it does, or there is none
   */
  #busyText({ gate, candidate }, estimate) {
    const load = OF_TIME.has(gate.metric) ? loadOf(this.result, candidate) : undefined;
    if (load === undefined || estimate === null) return null;
    if (Math.abs(estimate.value - Math.log(gate.limit)) - estimate.half > FAR) return null;
    const { isBusy, waiting } = busynessOf(soundOf(entriesOf(load)));
    if (!isBusy) return null;
    const share = `clients waited for a processor ${formatShare(Number(waiting))} of the time`;
    return `the machine was too busy${waiting === null ? '' : `: ${share}`}`;
  }

  /**
   * @param {Test} test
   * @returns {import('../stats/gate.js').Estimate | null} null: no count, or it needs an interval
   */
  #counted({ gate, candidate, reference }) {
    const field = countOf(gate.metric);
    const { isEstimated } = /** @type {{ isEstimated?: boolean }} */ (GATE_METRICS[gate.metric]);
    if (field === null || isEstimated || isWrong(candidate, reference)) return null;
    const { rounds, load } = candidate;
    return countedOf({
      count: countPerOperation(candidate, field),
      reference: gate.isRatio && reference ? countPerOperation(reference, field) : 1,
      limit: gate.limit,
      isBatched: gate.isRatio && load.kind !== 'sync',
      wakeUps: (GATE_METRICS[gate.metric].unit === 'B' ? WAKE_UP_BYTES : 1) * WAKE_UPS_MAX,
      operations: rounds.reduce((sum, { outcomes }) => sum + outcomes.ok, 0),
      n: rounds.length,
    });
  }

  /**
   * @param {Test} test
   * @param {number} confidence
   */
  #estimate({ gate, candidate, reference }, confidence) {
    if (isWrong(candidate, reference)) return null;
    const of = (/** @type {import('../stats/blocks.js').Figure} */ figure) => {
      const logs = logsOf(this.result, gate.metric, candidate, reference, figure);
      return estimateOf(logs, { confidence, isRatio: gate.isRatio });
    };
    if (gate.metric !== 'throughput') return of('trimmed');
    const mean = of('mean');
    const typical = gate.isRatio ? of('typical') : mean;
    return typical && { ...typical, mean: mean?.value };
  }
}

/**
 * @param {Test} test
 * @param {import('../stats/gate.js').Estimate | null} estimate
 * @param {string | null} reason
 * @returns {GateResult}
 */
function toResult({ gate, candidate, reference }, estimate, reason) {
  const { text, metric, op, limit, isRatio } = gate;
  const about = { gate: text, metric, op, limit, isRatio, benchmark: candidate.id };
  const against = isRatio ? (reference?.id ?? null) : null;
  if (estimate === null) {
    const none = { value: null, low: null, high: null, confidence: 0.95, n: 0, roundsNeeded: null };
    return { ...about, reference: against, outcome: 'undecided', reason, ...none };
  }
  const { value, half, confidence, n } = estimate;
  return {
    ...about,
    reference: against,
    ...decideGate(estimate, gate),
    reason: isSplit(estimate, gate) ? splitText(estimate) : reason,
    value: Math.exp(value),
    low: Math.exp(value - half),
    high: Math.exp(value + half),
    confidence,
    n,
  };
}

/** @param {import('../stats/gate.js').Estimate} estimate */
function splitText({ value, mean = value }) {
  const [typical, all] = [value, mean].map((log) => formatRatio(Math.exp(log)));
  return `typically ${typical}, with all pauses and late operations ${all}`;
}

/** @param {Benchmark} candidate @param {Benchmark | null} reference */
function isWrong(candidate, reference) {
  return hasWrong(candidate) || (reference !== null && hasWrong(reference));
}

/** @param {Test} test */
function whyNone({ candidate, reference, gate }) {
  const all = [candidate, ...(gate.isRatio && reference !== null ? [reference] : [])];
  const wrong = all.find((one) => one.state === 'failed' || hasWrong(one));
  if (wrong !== undefined) return `${labelOf(wrong)} failed`;
  const field = /** @type {'reads'} */ (countOf(gate.metric));
  const unseen = all.find(({ rounds: own }) => own.some((one) => one.client?.[field] === null));
  if (unseen !== undefined) {
    return `${labelOf(unseen)} does not receive its replies by read(2), or their number is unknown`;
  }
  const rounds = Math.min(...all.map((one) => one.rounds.length));
  return rounds < 2 ? 'fewer than two rounds' : `${gate.metric} is unknown in at least one round`;
}

/** @param {Benchmark} benchmark */
function hasWrong({ rounds }) {
  return rounds.some(
    ({ outcomes, state }) =>
      state === 'failed' ||
      outcomes.miss + outcomes.mismatch + outcomes.error + outcomes.timeout > 0,
  );
}

/**
 * @param {Result} result
 * @param {StorageTarget} target
 */
function benchmarksOf({ benchmarks }, { definition, profile }) {
  return benchmarks.filter(
    (one) => one.storage === definition.name && one.profile === profile && one.state !== 'skipped',
  );
}

/**
 * @param {Result} result
 * @param {Benchmark} benchmark
 * @param {StorageTarget} reference
 * @returns {Benchmark | null} the same figure of the baseline
 */
function partnerOf(result, benchmark, reference) {
  const key = (/** @type {Benchmark} */ { workload, parameters, load }) =>
    JSON.stringify([workload, parameters, load]);
  return benchmarksOf(result, reference).find((one) => key(one) === key(benchmark)) ?? null;
}

/**
 * @param {Pick<Result, 'comparison'>} result
 * @param {Benchmark} candidate
 * @returns {import('../lib/comparison.js').StoredLoad | undefined} its slices; undefined: it ran
 *   whole
 */
function loadOf({ comparison }, { id }) {
  return comparison?.loads.find(({ contenders }) =>
    contenders.some(({ benchmark }) => benchmark === id),
  );
}

/**
 * @param {Result} result
 * @param {import('../lib/gate.js').GateMetric} metric
 * @param {Benchmark} candidate
 * @param {Benchmark | null} reference
 * @param {import('../stats/blocks.js').Figure} figure figure of slices, one that their garbage
 *   allows
 * @returns {number[][]} by contender and round: the candidate, the baseline, and for slices the
 *   second copy of the baseline
 */
export function logsOf({ comparison }, metric, candidate, reference, figure) {
  const ids = [candidate.id, ...(reference === null ? [] : [reference.id])];
  const isOfSlices = metric === 'throughput' || SLICED_WITNESSES[metric] !== undefined;
  const load = isOfSlices ? loadOf({ comparison }, candidate) : undefined;
  const both = [candidate, ...(reference === null ? [] : [reference])];
  const entries = soundOf(
    load !== undefined
      ? entriesOf(load)
      : entriesOfRounds(
          both.map(({ id, rounds }) => ({ name: id, group: 'networked', rounds })),
          { witnesses: OF_ROUNDS },
        ),
  );
  const names = ids.map(
    (id) => load?.contenders.find(({ benchmark }) => benchmark === id)?.name ?? id,
  );
  const again = entries.find(({ group, of }) => group === 'again' && of === names[1]);
  const witness = SLICED_WITNESSES[metric] ?? metric;
  const means = processMeans(
    entries.map(({ time, witnesses }) =>
      metric === 'throughput' ? time : (witnesses?.[witness] ?? time.map(() => [])),
    ),
    { figure: figure === 'typical' ? figureOfEntries(entries) : figure },
  );
  return [...names, ...(again === undefined ? [] : [again.name])].map((name) => {
    const own = means[entries.findIndex((entry) => entry.name === name)] ?? [];
    return metric === 'throughput' ? own.map((log) => Math.log(1e9) - log) : own;
  });
}

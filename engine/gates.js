/**
 * The gates of a run: which contender is held against which, when they are looked at, and what came
 * of it, in `result.gates`. The decision is stats/gate.js.
 */

import { entriesOf, entriesOfRounds, WITNESSES } from '../lib/comparison.js';
import { usageError } from '../lib/errors.js';
import { labelOf } from '../lib/label.js';
import { processMeans } from '../stats/blocks.js';
import { confidenceOf, dueAt, estimateOf, judgeGate } from '../stats/gate.js';
import { soundOf } from '../stats/standings.js';

/** @typedef {import('../lib/gate.js').Gate} Gate */
/** @typedef {import('../lib/gate.js').GateResult} GateResult */
/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('./targets.js').StorageTarget} StorageTarget */

/** Fewer rounds are not looked at: their variance is hardly known. */
const ROUNDS_MIN = 6;
/** Where no limit says how precise: as --precision. */
const PRECISION = 0.03;

/** By their names in entries; of slices there are no others. @type {Readonly<Record<string, string>>} */
const SLICED_WITNESSES = Object.freeze({ 'client-cpu': 'clientCpu', 'server-cpu': 'serverCpu' });

/** Of rounds. @type {Readonly<Record<string, import('../lib/comparison.js').Witness>>} */
const OF_ROUNDS = Object.freeze({
  ...WITNESSES,
  p50: ({ latency }) => latency?.p50Ns,
  p90: ({ latency }) => latency?.p90Ns,
  p99: ({ latency }) => latency?.p99Ns,
  'p99.9': ({ latency }) => latency?.p999Ns,
  memory: ({ client }) => client?.rssBytesMax,
});

/**
 * @typedef {object} Match
 * @property {StorageTarget} candidate
 * @property {StorageTarget | null} reference
 */

/**
 * The candidate of a driver is the last of its contenders, the reference the installed version or
 * what --reference names; without contenders each storage is held to limits by itself.
 * @param {readonly StorageTarget[]} storages
 * @param {{ against: readonly string[], reference?: string }} plan
 * @returns {Match[]}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: no contender is called so
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
      `--reference ${named}: no contender of this run`,
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

/** One gate on one benchmark. @typedef {{ gate: Gate, candidate: Benchmark,
 *   reference: Benchmark | null, look: number, done: GateResult | null }} Test */

export class Gates {
  /** @type {Test[]} */
  #tests;

  /**
   * @param {readonly Gate[]} gates
   * @param {readonly Match[]} matches
   * @param {Result} result its `gates` are kept
   * @throws {import('../lib/errors.js').DragstripError} E_USAGE: a ratio to nothing
   */
  constructor(gates, matches, result) {
    this.result = result;
    this.#tests = gates.flatMap((gate) =>
      matches.flatMap(({ candidate, reference }) => {
        if (gate.isRatio && reference === null) {
          throw usageError(
            `--fail-if ${JSON.stringify(gate.text)}: a ratio, and there is nothing to compare with`,
            'add --against ioredis@5, --against ./my-fork or --baseline NAME; or give a unit: p99>5ms',
          );
        }
        return benchmarksOf(result, candidate).map((benchmark) => ({
          gate,
          candidate: benchmark,
          look: 0,
          done: null,
          reference: reference === null ? null : partnerOf(result, benchmark, reference),
        }));
      }),
    );
    this.#store();
  }

  /**
   * After a round of a run by slices.
   * @returns {boolean} all are decided, or one has failed
   */
  look() {
    for (const test of this.#tests) {
      if (test.done !== null) continue;
      const estimate = this.#estimate(test, confidenceOf({ ...test, tests: this.#tests.length }));
      if (estimate === null || estimate.n < ROUNDS_MIN) continue;
      const limit = test.gate.isRatio ? test.gate.limit : 1;
      if (estimate.half > dueAt(limit, test.look, PRECISION)) continue;
      test.look += 1;
      const { outcome } = judgeGate(estimate, test.gate);
      if (outcome !== 'undecided') test.done = toResult(test, estimate, null);
    }
    this.#store();
    const isDone = this.#tests.length > 0 && this.#tests.every(({ done }) => done !== null);
    return isDone || this.#tests.some(({ done }) => done?.outcome === 'failed');
  }

  /** The last look, at those that are not decided. */
  finish() {
    this.#store(true);
  }

  #store(last = false) {
    this.result.gates = this.#tests.map((test) => {
      if (test.done !== null) return test.done;
      const about = { look: test.look, tests: this.#tests.length, last };
      const estimate = this.#estimate(test, confidenceOf(about));
      const found = toResult(test, estimate, estimate === null ? whyNone(test) : null);
      return last ? found : { ...found, outcome: /** @type {const} */ ('undecided') };
    });
  }

  /**
   * @param {Test} test
   * @param {number} confidence
   */
  #estimate({ gate, candidate, reference }, confidence) {
    if (hasWrong(candidate) || (reference !== null && hasWrong(reference))) return null;
    const logs = logsOf(this.result, gate.metric, candidate, reference);
    return estimateOf(logs, { confidence, isRatio: gate.isRatio });
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
    ...judgeGate(estimate, gate),
    reason,
    value: Math.exp(value),
    low: Math.exp(value - half),
    high: Math.exp(value + half),
    confidence,
    n,
  };
}

/** @param {Test} test */
function whyNone({ candidate, reference, gate }) {
  const all = [candidate, ...(gate.isRatio && reference !== null ? [reference] : [])];
  const wrong = all.find((one) => one.state === 'failed' || hasWrong(one));
  if (wrong !== undefined) return `${labelOf(wrong)} failed`;
  const rounds = Math.min(...all.map((one) => one.rounds.length));
  return rounds < 2 ? 'fewer than two rounds' : `${gate.metric} is not known in every round`;
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
 * @returns {Benchmark | null} the same of the reference
 */
function partnerOf(result, benchmark, reference) {
  const key = (/** @type {Benchmark} */ { workload, parameters, load }) =>
    JSON.stringify([workload, parameters, load]);
  return benchmarksOf(result, reference).find((one) => key(one) === key(benchmark)) ?? null;
}

/**
 * @param {Result} result
 * @param {import('../lib/gate.js').GateMetric} metric
 * @param {Benchmark} candidate
 * @param {Benchmark | null} reference
 * @returns {number[][]} by contender and round: the candidate's, the reference's, and what else
 *   shares their variance: of slices the second copy of the first storage
 */
export function logsOf({ comparison }, metric, candidate, reference) {
  const ids = [candidate.id, ...(reference === null ? [] : [reference.id])];
  const isOfSlices = metric === 'throughput' || SLICED_WITNESSES[metric] !== undefined;
  const load = comparison?.loads.find(
    ({ contenders }) =>
      isOfSlices && contenders.some(({ benchmark }) => benchmark === candidate.id),
  );
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
  );
  return [...names, ...(again === undefined ? [] : [again.name])].map((name) => {
    const own = means[entries.findIndex((entry) => entry.name === name)] ?? [];
    return metric === 'throughput' ? own.map((log) => Math.log(1e9) - log) : own;
  });
}

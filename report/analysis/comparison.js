/**
 * The comparison document: several results against the first one, by benchmark, with the
 * differences that make them incomparable. Its schema, and its construction from results. Pure.
 * Rendering is in report/comparison.js; the command decides when to refuse it.
 */

import { z } from 'zod';
import { count, text } from '../../lib/schema-parts.js';
import { version } from '../../lib/version.js';
import { compareRuns } from '../../stats/compare.js';
import { figureOver } from '../../stats/interval.js';
import { EFFECT_MIN } from '../../stats/separation.js';
import { circumstancesOf, differencesOf } from './conditions.js';
import { referenceOf, toWitness } from './reference.js';

export const COMPARISON_NAME = 'dragstrip-comparison';

/** Hint for two runs without a valid common reference. */
export const ADVICE =
  'no verdict: two runs are samples of different states of the machine, and these have no sound ' +
  'reference in common. Measure both in one run: npx dragstrip race --against PACKAGE@VERSION for a ' +
  'driver, --storages with both profiles or with ./file.js for settings and code.';

const difference = z.object({
  what: text.describe('`node`, `driver ioredis`, `load of ioredis:default/get/sync`'),
  base: text,
  other: text,
});

const witness = z.object({
  name: z.enum(['clientCpu', 'serverCpu', 'latency']).describe('per operation'),
  ratio: z
    .number()
    .describe('amount of the other over the base, by the same reference: less is better'),
  low: z.number(),
  high: z.number(),
  verdict: z.enum(['less', 'more', 'undecided']),
});

const comparedBenchmark = z.object({
  benchmark: text.describe('id in both results'),
  metric: z.enum(['throughput', 'p99']).describe('p99: of an open loop, whose rate is fixed'),
  base: z.number().describe('operations per second, or ns: geometric mean of the rounds'),
  other: z.number(),
  ratio: z.number().nullable().describe('speed of the other over the base: above 1 is faster'),
  low: z.number().nullable(),
  high: z.number().nullable(),
  confidence: z.number().describe('of the interval, after Holm'),
  p: z.number().nullable().describe('after Holm, over all comparisons of the document'),
  n: count.describe('rounds of the side that has fewer'),
  noise: z
    .number()
    .nullable()
    .describe('relative change of the reference between the runs; null: no reference'),
  margin: z.number().describe('minimum significant difference: 1 % or that change, if greater'),
  verdict: z.enum(['faster', 'slower', 'same', 'undecided']),
  roundsNeeded: count
    .nullable()
    .describe('rounds needed to decide, if the estimates are true; null: unknown'),
  reference: text
    .nullable()
    .describe('reference of both runs; null: no valid one, so that there is no verdict'),
  witnesses: z.array(witness).optional().describe('only with a reference'),
});

const side = z.object({ file: text, id: text, startedAt: text, rounds: count });

export const comparisonSchema = z.object({
  schema: z.literal(COMPARISON_NAME),
  schemaVersion: z.literal(1),
  dragstrip: text,
  id: text,
  base: side,
  others: z.array(
    side.extend({
      differences: z.array(difference).describe('conditions that make the two incomparable'),
      circumstances: z
        .array(difference)
        .optional()
        .describe('further differences: load of the machine, release of Dragstrip'),
      benchmarks: z.array(comparedBenchmark),
      left: z
        .array(z.object({ benchmark: text, reason: text }))
        .describe('benchmarks not compared'),
    }),
  ),
  failIfSlower: z.number().nullable().describe('a share: 0.05 is 5 %'),
  regressions: count.describe('benchmarks shown to be slower by more than that'),
});

/** @typedef {z.infer<typeof comparisonSchema>} Comparison */
/** @typedef {z.infer<typeof comparedBenchmark>} ComparedBenchmark */
/** @typedef {z.infer<typeof difference>} Difference */
/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {{ file: string, result: Result }} StoredResult */

/**
 * @param {StoredResult} base
 * @param {readonly StoredResult[]} others one or more
 * @param {{ failIfSlower?: number | null }} [options] a fraction
 * @returns {Comparison}
 */
export function compareResults(base, others, { failIfSlower = null } = {}) {
  const matched = others.map((other) => matchBenchmarks(base.result, other.result));
  const pairs = matched.flatMap(({ matches }) => matches.map(toPair));
  // Holm correction over all comparisons of the document.
  const compared = compareRuns(pairs);
  let at = 0;
  const sides = others.map((other, i) => {
    const { matches, left } = matched[i];
    const benchmarks = matches.map((match) => toComparedBenchmark(match, compared[at++]));
    return {
      ...sideOf(other),
      differences: differencesOf(base.result, other.result),
      circumstances: circumstancesOf(base.result, other.result),
      benchmarks,
      left,
    };
  });
  const slower = sides
    .flatMap(({ benchmarks }) => benchmarks)
    .filter((benchmark) => isSlower(benchmark, failIfSlower));
  return {
    schema: COMPARISON_NAME,
    schemaVersion: 1,
    dragstrip: version,
    id: `${base.result.id}-against-${others.length}`,
    base: sideOf(base),
    others: sides,
    failIfSlower,
    regressions: slower.length,
  };
}

/**
 * @param {ComparedBenchmark} benchmark
 * @param {number | null} share
 * @returns {boolean} significantly slower, by more than `share`
 */
export function isSlower({ verdict, ratio }, share) {
  return share !== null && verdict === 'slower' && (ratio ?? 1) < 1 - share;
}

/** @param {StoredResult} stored */
function sideOf({ file, result: { id, startedAt, benchmarks } }) {
  const rounds = Math.max(0, ...benchmarks.map((benchmark) => benchmark.rounds.length));
  return { file, id, startedAt, rounds };
}

/**
 * @typedef {object} Match
 * @property {Benchmark} base
 * @property {Benchmark} other
 * @property {import('./reference.js').Reference | null} reference
 */

/**
 * @param {Result} base
 * @param {Result} other
 * @returns {{ matches: Match[], left: { benchmark: string, reason: string }[] }}
 */
function matchBenchmarks(base, other) {
  const ofOther = new Map(other.benchmarks.map((benchmark) => [benchmark.id, benchmark]));
  const ofBase = new Set(base.benchmarks.map(({ id }) => id));
  /** @type {Match[]} */
  const matches = [];
  const left = other.benchmarks
    .filter(({ id }) => !ofBase.has(id))
    .map(({ id }) => ({ benchmark: id, reason: 'only in the other result' }));
  for (const benchmark of base.benchmarks) {
    const partner = ofOther.get(benchmark.id);
    const reason =
      partner === undefined ? 'only in the first result' : (unfit(benchmark) ?? unfit(partner));
    if (partner === undefined || reason !== null)
      left.push({ benchmark: benchmark.id, reason: `${reason}` });
    else {
      const reference = referenceOf(base, other, benchmark);
      matches.push({ base: benchmark, other: partner, reference });
    }
  }
  return { matches, left };
}

/**
 * @param {Benchmark} benchmark
 * @returns {string | null} reason of a missing figure
 */
function unfit(benchmark) {
  const wrong = benchmark.rounds.some(
    ({ outcomes }) => outcomes.miss + outcomes.mismatch + outcomes.error + outcomes.timeout > 0,
  );
  if (wrong) return 'it has wrong replies';
  if (benchmark.state === 'failed' || benchmark.state === 'skipped')
    return `it is ${benchmark.state}`;
  return valuesOf(benchmark).length === 0 ? 'it was not measured' : null;
}

/** @param {Benchmark} benchmark */
function metricOf({ load }) {
  return load.kind === 'rate' ? /** @type {const} */ ('p99') : /** @type {const} */ ('throughput');
}

/**
 * @param {Benchmark} benchmark
 * @returns {number[]} values of its measured rounds, more is better: times are inverted
 */
function valuesOf(benchmark) {
  const measured = benchmark.rounds.filter(({ state }) => state === 'measured');
  return metricOf(benchmark) === 'throughput'
    ? measured.flatMap(({ throughput }) => (throughput > 0 ? throughput : []))
    : measured.flatMap(({ latency }) => (latency?.p99Ns ? 1 / latency.p99Ns : []));
}

/**
 * Widens the margin by the shift of the reference, which is not a change of the benchmark.
 * @param {Match} match
 * @returns {import('../../stats/compare.js').Runs}
 */
function toPair({ base, other, reference }) {
  if (reference === null) return { a: valuesOf(other), b: valuesOf(base) };
  const margin = Math.max(EFFECT_MIN, reference.shift);
  return { a: reference.other, b: reference.base, margin };
}

/** In the form of documents. */
const VERDICTS = Object.freeze({
  faster: /** @type {const} */ ('faster'),
  slower: /** @type {const} */ ('slower'),
  tied: /** @type {const} */ ('same'),
  'not resolved': /** @type {const} */ ('undecided'),
});

/**
 * @param {Match} match
 * @param {import('../../stats/compare.js').Compared} compared
 * @returns {ComparedBenchmark}
 */
function toComparedBenchmark({ base, other, reference }, compared) {
  const metric = metricOf(base);
  const centre = (/** @type {Benchmark} */ benchmark) => {
    const mean = figureOver(valuesOf(benchmark))?.value ?? 0;
    return metric === 'p99' ? 1 / mean : mean;
  };
  const { ratio, low, high, confidence, p, n, margin, answer, roundsNeeded } = compared;
  return {
    benchmark: base.id,
    metric,
    base: centre(base),
    other: centre(other),
    ratio,
    low,
    high,
    confidence,
    p,
    n,
    noise: reference?.shift ?? null,
    margin,
    verdict: reference === null ? 'undecided' : VERDICTS[answer],
    roundsNeeded: reference === null ? null : roundsNeeded,
    reference: reference?.name ?? null,
    ...(reference !== null && { witnesses: reference.witnesses.flatMap(toWitness) }),
  };
}

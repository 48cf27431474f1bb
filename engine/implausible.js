/**
 * Figures that a storage cannot reach with requests to its server: faster than the server ceiling,
 * whose requests are pre-encoded and whose replies are only framed, or with less CPU time of the
 * server, if its operations were not counted. Such a benchmark has no rank. Pure.
 */

import { entriesOf } from '../lib/comparison.js';
import { labelOf } from '../lib/label.js';
import { standingsOf } from '../stats/standings.js';

/**
 * Compared with the lower end of the interval. If the server's operations were not counted, a
 * factor of two is sufficient, however wide the interval is: with a count it can only be noise.
 */
const OF_CEILING_MAX = 1.1;
const OF_CEILING_NEVER = 2;
/**
 * Confidence of that interval if the server's operations were counted: of the 24 comparisons in a
 * race of 12 storages, one at 95 % was above it by chance in 1 of 200 races (bench/cheats.js).
 */
const CONFIDENCE_COUNTED = 0.999;
/** More operations of the server per operation are worth a note. */
const PER_OPERATION_MAX = 1.02;
/**
 * Tolerated errors per reply that the driver hides; above it, its rank would reflect other work.
 */
const HIDDEN_MAX = 0.005;
const HINT = 'check for replies without a request to the server: a cache, a default value';
/**
 * Lowest accepted share of the server's CPU time per operation at the ceiling, which is the
 * minimum. Compared with the upper end of the storage's interval.
 */
const OF_SERVER_CPU_MIN = 0.5;

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../stats/standings.js').Row} Row */

/**
 * @param {Result} result all benchmarks of an implausible storage get the reason, since
 *   they come from the same code
 * @returns {import('../lib/result.js').Warning[]} one warning per such storage
 */
export function markImplausible({ comparison, benchmarks }) {
  /** @type {Map<string, import('../lib/result.js').Warning>} */
  const warnings = new Map();
  for (const load of comparison?.loads ?? []) {
    // The ceiling has one connection.
    if (load.connections !== undefined) continue;
    const entries = entriesOf(load);
    const { rows } = standingsOf(entries);
    const certain = standingsOf(entries, { confidence: CONFIDENCE_COUNTED }).rows;
    for (const row of rows) {
      const { benchmark: id, ceiling } =
        load.contenders.find(({ name }) => name === row.name) ?? {};
      const benchmark = benchmarks.find((one) => one.id === id);
      if (benchmark?.state !== 'measured' || warnings.has(row.name)) continue;
      const isCounted = benchmark.rounds.some(({ counted }) => counted !== undefined);
      const least = rows.find(({ name }) => name === ceiling);
      const ofCounted = isCounted && certain.find(({ name }) => name === row.name);
      const reason = ofCounted
        ? aboveCeiling(ofCounted, isCounted)
        : (aboveCeiling(row, isCounted) ?? belowServer(row, least));
      if (reason === null) continue;
      for (const one of benchmarks) if (labelOf(one) === row.name) one.unranked = reason;
      const message = `no rank: ${reason}`;
      warnings.set(row.name, {
        code: 'W_IMPLAUSIBLE',
        message,
        hint: HINT,
        benchmark: benchmark.id,
      });
    }
  }
  return [...warnings.values()];
}

/**
 * Several commands per operation, and hidden error replies: both are allowed, and reported.
 * @param {Pick<Result, 'benchmarks'>} result benchmarks with many such errors lose their
 *   rank
 * @returns {import('../lib/result.js').Warning[]}
 */
export function countWarnings({ benchmarks }) {
  return benchmarks.flatMap((benchmark) => {
    const counted = benchmark.rounds.flatMap((round) => round.counted ?? []);
    const sum = (/** @type {(one: typeof counted[number]) => number | null} */ of) =>
      counted.reduce((total, one) => total + (of(one) ?? 0), 0);
    const perOperation = sum(({ operations }) => operations) / sum(({ due }) => due);
    const hidden = sum(({ errors }) => errors);
    const hiddenText = `the server sent ${hidden} errors that it did not report`;
    if (hidden > HIDDEN_MAX * sum(({ replies }) => replies)) benchmark.unranked ??= hiddenText;
    const warning = (/** @type {string} */ code, /** @type {string} */ message) => ({
      code,
      message,
      hint: null,
      benchmark: benchmark.id,
    });
    return [
      ...(perOperation > PER_OPERATION_MAX && Number.isFinite(perOperation)
        ? [warning('W_COMMANDS', `${perOperation.toFixed(2)} commands per operation`)]
        : []),
      ...(hidden > 0 ? [warning('W_HIDDEN_ERRORS', hiddenText)] : []),
    ];
  });
}

/**
 * @param {Row} row
 * @param {boolean} isCounted
 * @returns {string | null}
 */
function aboveCeiling({ group, ofCeiling }, isCounted) {
  if (group !== 'networked' || ofCeiling === null) return null;
  const { low, ratio } = ofCeiling;
  const isFarAbove = !isCounted && ratio >= OF_CEILING_NEVER;
  if (low === null || (low <= OF_CEILING_MAX && !isFarAbove)) return null;
  return `${percent(ratio)} of the speed of its server ceiling, which no driver can exceed`;
}

/**
 * @param {Row} row
 * @param {Row} [ceiling]
 * @returns {string | null}
 */
function belowServer({ group, witnesses }, ceiling) {
  const { value = Number.NaN, halfWidth = null } = witnesses['serverCpu'] ?? {};
  const least = ceiling?.witnesses['serverCpu']?.value ?? Number.NaN;
  // On a busy machine a single round is within a factor of two by chance.
  if (group !== 'networked' || halfWidth === null) return null;
  if (!((value * (1 + halfWidth)) / least < OF_SERVER_CPU_MIN)) return null;
  return `its server used ${percent(value / least)} of the CPU time of the server ceiling`;
}

/** @param {number} share */
function percent(share) {
  return `${Math.round(share * 100)} %`;
}

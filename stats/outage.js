/**
 * The outage of an open loop: the longest time in which verified replies fell behind the offered
 * rate, for example while a cluster promotes a replica. Pure.
 */

/** A rate below this share of the offered one is too low. */
const OUTAGE_SHARE = 0.8;
/**
 * Number of windows over which the rate is averaged: single ones vary, and retries arrive in
 * bursts.
 */
const SMOOTH_WINDOWS = 10;
/** Shorter gaps are pauses of a garbage collector or of the machine. */
const WINDOWS_MIN = 5;
/** A load with fewer windows does not determine the usual rate. */
const TOTAL_MIN = 20;

/**
 * @typedef {object} Outage
 * @property {number} startNs time since the start of the load
 * @property {number} durationNs a multiple of the timeline's window
 * @property {number} share share of the offered operations completed in that time
 */

/**
 * @param {{ windowNs: number, operations: readonly number[] }} timeline counts of verified replies
 * @param {number} rate offered operations per second
 * @param {number} durationNs time in which they were offered
 * @returns {Outage | null} null: none, or the load was never served at its rate
 */
export function longestOutage({ windowNs, operations }, rate, durationNs) {
  const count = windowNs > 0 ? Math.floor(durationNs / windowNs) : 0;
  if (count < TOTAL_MIN) return null;
  // The timeline omits windows at the end in which nothing was completed.
  const windows = Array.from({ length: count }, (_, i) => operations[i] ?? 0);
  const limit = (rate * windowNs * OUTAGE_SHARE) / 1e9;
  const isShort = (/** @type {number} */ i) => i >= 0 && i < count && windows[i] < limit;
  const smooth = windows.map((_, i) => meanAround(windows, i) < limit);
  // Overload, not an outage.
  if (smooth.filter(Boolean).length * 2 >= count) return null;
  const run = longestRun(smooth);
  if (run === null) return null;
  let { first, last } = run;
  // Smoothing blurs the edges, so they are those of single windows.
  while (first < last && !isShort(first)) first += 1;
  while (first < last && !isShort(last)) last -= 1;
  while (isShort(first - 1)) first -= 1;
  while (isShort(last + 1)) last += 1;
  const length = last - first + 1;
  if (length < WINDOWS_MIN) return null;
  const done = sum(windows.slice(first, last + 1));
  return {
    startNs: first * windowNs,
    durationNs: length * windowNs,
    share: done / ((limit / OUTAGE_SHARE) * length),
  };
}

/** @param {readonly number[]} windows @param {number} i */
function meanAround(windows, i) {
  const from = Math.max(0, i - SMOOTH_WINDOWS / 2);
  const around = windows.slice(from, i + SMOOTH_WINDOWS / 2);
  return sum(around) / around.length;
}

/**
 * @param {readonly boolean[]} flags
 * @returns {{ first: number, last: number } | null} the longest run of true; null: none
 */
function longestRun(flags) {
  /** @type {{ first: number, last: number } | null} */
  let best = null;
  for (let first = 0; first < flags.length; first += 1) {
    if (!flags[first]) continue;
    let last = first;
    while (flags[last + 1]) last += 1;
    if (best === null || last - first > best.last - best.first) best = { first, last };
    first = last;
  }
  return best;
}

/** @param {readonly number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

/**
 * The knee of a ramp: the highest offered rate that was sustained. Pure. The usual definition by
 * curvature (Satopää et al., "Finding a Kneedle in a Haystack", 2011) needs more points than a ramp
 * has; this one is an operator's: the server keeps up, and response times have not begun to rise
 * steeply.
 */

/** A rate is achieved within this share of it. */
const ACHIEVED_MIN = 0.99;
/** A response time above this multiple of that at the lowest rate indicates queueing. */
const RISE_MAX = 5;

/**
 * @typedef {object} Step
 * @property {number} offered operations per second
 * @property {number} achieved
 * @property {number} dropped share of operations that were not sent
 * @property {number | null} p99Ns response time; null: unknown
 */

/**
 * @param {readonly Step[]} steps steps of one storage
 * @returns {number | null} the rate before the first one that was not sustained; null: all were,
 *   the first was not, or there is only one
 */
export function kneeOf(steps) {
  const { taken, beyond } = split(steps);
  return beyond === 0 ? null : (taken.at(-1)?.offered ?? null);
}

/**
 * @param {readonly Step[]} steps steps of one storage
 * @returns {number | null} the highest sustained rate; null: not even the first
 */
export function sustainedOf(steps) {
  return split(steps).taken.at(-1)?.offered ?? null;
}

/**
 * @param {readonly Step[]} steps
 * @returns {{ taken: Step[], beyond: number }} steps before the first one that was not sustained,
 *   and the number of the others
 */
function split(steps) {
  const sorted = [...steps].sort((a, b) => a.offered - b.offered);
  const least = sorted[0]?.p99Ns ?? null;
  const at = sorted.findIndex(
    ({ offered, achieved, dropped, p99Ns }) =>
      achieved < offered * ACHIEVED_MIN ||
      dropped > 0 ||
      (p99Ns !== null && least !== null && p99Ns > least * RISE_MAX),
  );
  const taken = at < 0 ? sorted : sorted.slice(0, at);
  return { taken, beyond: sorted.length - taken.length };
}

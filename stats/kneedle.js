/**
 * The knee of a curve that rises and flattens: Kneedle (V. Satopää, J. Albrecht, D. Irwin and B.
 * Raghavan, "Finding a Kneedle in a Haystack: Detecting Knee Points in System Behavior", ICDCS
 * Workshops 2011), offline, sensitivity 1, without its smoothing: a sweep has a handful of points,
 * each the mean of many slices. Pure. The knee of an open loop, whose x is a rate, is in knee.js.
 */

/** Fewer points do not determine a bend. */
const POINTS_MIN = 3;
/**
 * Sensitivity of the paper: number of mean steps by which the difference has to fall below its
 * maximum.
 */
const SENSITIVITY = 1;
/** A curve that rises by less has no useful knee. */
const RISE_MIN = 0.1;

/**
 * @typedef {object} Bend
 * @property {'knee' | 'rising' | 'flat' | 'few'} state rising: it had not flattened at the last
 *   point; flat: it never rose by a tenth
 * @property {number | null} x x of the knee
 */

/**
 * Both axes are scaled linearly to 0 … 1; the knee is the point farthest above the straight line
 * from the first point to the last. It is a knee only if the difference falls again by more than a
 * mean step in x before the curve ends.
 * @param {readonly { x: number, y: number }[]} points in any order, each x once
 * @returns {Bend}
 */
export function kneedle(points) {
  if (points.length < POINTS_MIN) return { state: 'few', x: null };
  const sorted = [...points].sort((a, b) => a.x - b.x);
  const ys = sorted.map(({ y }) => y);
  const [least, most] = [Math.min(...ys), Math.max(...ys)];
  if (!(most >= ys[0] * (1 + RISE_MIN))) return { state: 'flat', x: null };
  const first = sorted[0].x;
  const span = sorted[sorted.length - 1].x - first;
  const above = sorted.map(({ x, y }) => (y - least) / (most - least) - (x - first) / span);
  const fall = SENSITIVITY / (sorted.length - 1);
  /** @type {number | null} */
  let best = null;
  for (let i = 1; i < above.length - 1; i += 1) {
    const isPeak = above[i] > above[i - 1] && above[i] >= above[i + 1];
    if (!isPeak || !fallsBelow(above, i, above[i] - fall)) continue;
    if (best === null || above[i] > above[best]) best = i;
  }
  return best === null ? { state: 'rising', x: null } : { state: 'knee', x: sorted[best].x };
}

/**
 * @param {readonly number[]} above
 * @param {number} peak
 * @param {number} threshold
 * @returns {boolean} whether it is passed before a higher peak is reached
 */
function fallsBelow(above, peak, threshold) {
  for (let i = peak + 1; i < above.length; i += 1) {
    if (above[i] > above[peak]) return false;
    if (above[i] < threshold) return true;
  }
  return false;
}

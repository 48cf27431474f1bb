/**
 * The studentised range: the largest of k independent normal means minus the smallest, over the
 * standard error with ν degrees of freedom. Tukey's test of all pairs uses its quantile.
 *
 * Goals: exact to about 1e-10 for 2 to some dozen means. Non-goals: several groups of ranges.
 *
 * P(Q ≤ q) = ∫ f(s) H(q s) ds with f the density of √(χ²/ν) and H(w) = k ∫ φ(z) (Φ(z) −
 * Φ(z − w))^(k−1) dz, as in M. D. Copenhaver and B. Holland, "Computation of the distribution of
 * the maximum studentized range statistic", 1988. Both integrands are analytic and fall as a normal
 * density does, so the plain trapezoidal rule converges exponentially (L. N. Trefethen and J. A. C.
 * Weideman, SIAM Review 56, 2014) and needs neither their panels nor Gauss' nodes.
 */

import { usageError } from '../lib/errors.js';
import { logGamma, normalShare } from './distributions.js';

const Z_MAX = 8.5;
const Z_STEP = 0.125;
const Z_COUNT = (2 * Z_MAX) / Z_STEP + 1;
/** Step and reach of the outer integral, in standard deviations of ln s. */
const S_STEP = 0.25;
const S_REACH = 9;
const BISECTIONS = 60;
/** Φ is read from a table in steps, and extended from there by its Taylor series. */
const TABLE_STEP = 1 / 64;
const TABLE_MAX = 9;
const TABLE = Float64Array.from({ length: (2 * TABLE_MAX) / TABLE_STEP + 1 }, (_, i) =>
  normalShare(i * TABLE_STEP - TABLE_MAX),
);
const DENSITY = 1 / Math.sqrt(2 * Math.PI);

/** @param {number} z @returns {number} Φ(z), within 1e-14 */
function normal(z) {
  if (z <= -TABLE_MAX) return 0;
  if (z >= TABLE_MAX) return 1;
  const i = Math.round((z + TABLE_MAX) / TABLE_STEP);
  const at = i * TABLE_STEP - TABLE_MAX;
  const h = z - at;
  const a2 = at * at;
  // Derivatives of φ are φ times Hermite's polynomials.
  const series =
    1 +
    h *
      (-at / 2 +
        h *
          ((a2 - 1) / 6 +
            h * ((at * (3 - a2)) / 24 + h * ((a2 * (a2 - 6) + 3) / 120 + h * hermite5(at)))));
  return TABLE[i] + DENSITY * Math.exp(-a2 / 2) * h * series;
}

/** @param {number} x */
function hermite5(x) {
  const square = x * x;
  return (-x * (square * (square - 10) + 15)) / 720;
}

const NODES = Float64Array.from({ length: Z_COUNT }, (_, i) => i * Z_STEP - Z_MAX);
const NODE_NORMAL = NODES.map((z) => normal(z));
const NODE_DENSITY = NODES.map((z) => DENSITY * Math.exp((-z * z) / 2));

/**
 * @param {number} w
 * @param {number} k
 * @returns {number} probability that the range of k standard normal values is below w
 */
function rangeProbability(w, k) {
  if (w <= 0) return 0;
  let sum = 0;
  for (let i = 0; i < Z_COUNT; i += 1) {
    const inside = NODE_NORMAL[i] - normal(NODES[i] - w);
    sum += NODE_DENSITY[i] * inside ** (k - 1);
  }
  return Math.min(1, k * sum * Z_STEP);
}

/**
 * @param {number} q
 * @param {number} k number of means, 2 or more
 * @param {number} df degrees of freedom of the variance, 1 or more
 * @returns {number} probability that the studentised range is above q
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: k or df is out of range
 */
export function studentizedRangeTail(q, k, df) {
  if (!(k >= 2 && df >= 1)) throw usageError(`studentizedRangeTail: ${k} means, ${df} degrees`);
  if (q <= 0) return 1;
  // With u = ln s the density is in proportion to exp(ν (u − exp(2u) / 2)), about normal.
  const half = df / 2;
  const logNorm = half * Math.log(half) - logGamma(half) + Math.LN2;
  const deviation = 1 / Math.sqrt(2 * df);
  const step = S_STEP * deviation;
  // Below, the density falls only as exp(ν u), so continue until it is negligible.
  const low = -Math.max(S_REACH * deviation, 40 / df);
  const high = S_REACH * deviation;
  let below = 0;
  for (let u = low; u <= high; u += step) {
    const density = Math.exp(logNorm + df * u - half * Math.exp(2 * u));
    below += density * (1 - rangeProbability(q * Math.exp(u), k));
  }
  return Math.max(0, Math.min(1, below * step));
}

/** @type {Map<string, number>} */
const known = new Map();

/**
 * @param {number} p above 0 and below 1
 * @param {number} k
 * @param {number} df
 * @returns {number} the value that the studentised range stays below with probability p
 */
export function studentizedRangeQuantile(p, k, df) {
  const key = `${p} ${k} ${df}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  let low = 0;
  let high = 4;
  while (studentizedRangeTail(high, k, df) > 1 - p) {
    low = high;
    high *= 2;
  }
  for (let i = 0; i < BISECTIONS && high - low > 1e-11 * high; i += 1) {
    const middle = (low + high) / 2;
    if (studentizedRangeTail(middle, k, df) > 1 - p) low = middle;
    else high = middle;
  }
  const value = (low + high) / 2;
  known.set(key, value);
  return value;
}

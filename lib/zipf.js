/** Zipf's law: draws ranks, for keys and for sizes of values. */

/**
 * @param {() => number} random
 * @returns {number} 0 to 1, without 1, 53 bits
 */
export function unit(random) {
  return ((random() >>> 5) * 67108864 + (random() >>> 6)) / 9007199254740992;
}

/**
 * Zipf's law: rank k of n (from 1) has a probability in proportion to k^-s, exactly, for any s from
 * 0. Rejection-inversion (W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates
 * from monotone discrete distributions", 1996), with the numerics of Apache Commons RNG: expm1 and
 * log1p carry it through s = 1, where the integral of x^-s is a logarithm.
 * @param {number} n number of ranks, from 1
 * @param {number} s exponent, from 0
 * @param {() => number} random result of createRandom
 * @returns {() => number} the next rank, 0 to n - 1; 1.1 tries on average, at most
 */
export function createZipf(n, s, random) {
  /** Integral of x^-s from 1 to x. @param {number} x */
  const integral = (x) => {
    const log = Math.log(x);
    return expm1Ratio((1 - s) * log) * log;
  };
  /** @param {number} y */
  const inverse = (y) => {
    const t = Math.max(-1, y * (1 - s)); // a rounding below -1 would have no logarithm
    return Math.exp(log1pRatio(t) * y);
  };
  const mass = (/** @type {number} */ x) => Math.exp(-s * Math.log(x));
  const low = integral(1.5) - 1;
  const high = integral(n + 0.5);
  const sure = 2 - inverse(integral(2.5) - mass(2));
  return () => {
    for (;;) {
      const u = high + unit(random) * (low - high);
      const x = inverse(u);
      const k = Math.min(n, Math.max(1, Math.floor(x + 0.5)));
      if (k - x <= sure || u >= integral(k + 0.5) - mass(k)) return k - 1;
    }
  };
}

/**
 * @param {number} x
 * @returns {number} (e^x - 1) / x, 1 at 0
 */
function expm1Ratio(x) {
  return Math.abs(x) > 1e-8 ? Math.expm1(x) / x : 1 + (x / 2) * (1 + x / 3);
}

/**
 * @param {number} x
 * @returns {number} ln(1 + x) / x, 1 at 0
 */
function log1pRatio(x) {
  return Math.abs(x) > 1e-8 ? Math.log1p(x) / x : 1 - x * (1 / 2 - x / 3);
}

/** Terms that are summed individually; the rest is approximated by the integral. */
const TERMS = 1000;

/**
 * @param {number} n
 * @param {number} power
 * @returns {number} 1^power + 2^power + … + n^power; beyond a thousand terms to 10^-6 of it
 */
export function sumOfPowers(n, power) {
  let sum = 0;
  const few = Math.min(n, TERMS);
  for (let k = 1; k <= few; k += 1) sum += k ** power;
  if (n <= TERMS) return sum;
  const [from, to] = [TERMS + 0.5, n + 0.5];
  const next = power + 1;
  const rest = Math.abs(next) < 1e-9 ? Math.log(to / from) : (to ** next - from ** next) / next;
  return sum + rest;
}

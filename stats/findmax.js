/**
 * Searches the greatest rate within a latency limit: double until a rate fails, bisect to 1 %, with
 * each point decided by two of three trials; then confirm the answer, and confirm that 5 % above it
 * fails. If either confirmation fails, an earlier point passed or failed by chance, and the search
 * continues from there.
 *
 * Pure: a generator that yields the next rate and receives whether it passed.
 */

/** @typedef {'double' | 'halve' | 'bisect' | 'confirm' | 'beyond' | 'widen'} Phase */

/**
 * @template T
 * @typedef {object} Point
 * @property {number} rate operations per second
 * @property {Phase} phase
 * @property {boolean} passed in two of three trials
 * @property {T[]} trials two, or three if they differ
 */

/**
 * @template T
 * @typedef {object} FindMaxResult
 * @property {number | null} rate the highest that passed; null if none did
 * @property {boolean} confirmed it passed again, and 5 % above it failed
 * @property {string | null} reason reason why it is not confirmed
 * @property {Point<T>[]} points points in the order of the trials
 */

/** Maximum distance between the passing and the failing rate. */
export const RESOLUTION = 0.01;
/** Distance above the answer at which the search confirms a failure. */
export const BEYOND = 0.05;
/** A search from 1,000/s to 100,000/s takes 16 points. */
export const POINTS_MAX = 40;
/** The search stops below a sixteenth of the start rate. */
const HALVINGS_MAX = 4;
const RATE_MAX = 1e7;

/** Ends a search early. */
class SearchEnd extends Error {}

/**
 * @template {{ passed: boolean }} T
 * @param {object} options
 * @param {number} options.start the first rate
 * @param {number} [options.pointsMax]
 * @param {(point: Point<T>) => void} [options.onPoint]
 * @returns {Generator<number, FindMaxResult<T>, T>} yields a rate, receives its trial
 */
export function* findMax({ start, pointsMax = POINTS_MAX, onPoint }) {
  /** @type {Point<T>[]} */
  const points = [];
  /** @type {Range} highest passing, lowest failing rate */
  const range = { low: null, high: null };

  /** @type {Holds} */
  function* holds(rate, phase) {
    if (points.length >= pointsMax) throw new SearchEnd(`no end after ${pointsMax} points`);
    /** @type {T[]} */
    const trials = [];
    let balance = 0;
    while (Math.abs(balance) < 2 && trials.length < 3) {
      const trial = yield rate;
      trials.push(trial);
      balance += trial.passed ? 1 : -1;
    }
    const passed = balance > 0;
    if (passed) range.low = rate;
    else range.high = rate;
    const point = { rate, phase, passed, trials };
    points.push(point);
    onPoint?.(point);
    return passed;
  }

  try {
    yield* bracket(start, holds);
    for (;;) {
      yield* bisect(range, holds);
      const answer = /** @type {number} */ (range.low);
      if (!(yield* holds(answer, 'confirm'))) {
        yield* widen(range, answer, 1 / (1 + BEYOND), holds);
      } else if (yield* holds(round(answer * (1 + BEYOND)), 'beyond')) {
        yield* widen(range, answer * (1 + BEYOND), 1 + BEYOND, holds);
      } else {
        return { rate: answer, confirmed: true, reason: null, points };
      }
    }
  } catch (error) {
    if (!(error instanceof SearchEnd)) throw error;
    return { rate: range.low, confirmed: false, reason: error.message, points };
  }
}

/**
 * Four significant digits: finer than any answer, and short in names.
 * @param {number} rate
 */
function round(rate) {
  return Number(rate.toPrecision(4));
}

/**
 * @typedef {(rate: number, phase: Phase) => Generator<number, boolean, any>} Holds
 * @typedef {{ low: number | null, high: number | null }} Range
 */

/**
 * @param {number} start
 * @param {Holds} holds
 */
function* bracket(start, holds) {
  let rate = round(start);
  if (yield* holds(rate, 'double')) {
    do {
      if (rate >= RATE_MAX)
        throw new SearchEnd(`${rate} per second passed; higher rates are not tried`);
      rate = round(Math.min(RATE_MAX, rate * 2));
    } while (yield* holds(rate, 'double'));
    return;
  }
  for (let i = 0; i < HALVINGS_MAX; i += 1) {
    rate = round(rate / 2);
    if (yield* holds(rate, 'halve')) return;
  }
  throw new SearchEnd(`${rate} per second already exceeds the limit`);
}

/**
 * @param {Range} range
 * @param {Holds} holds
 */
function* bisect(range, holds) {
  while (/** @type {number} */ (range.high) / /** @type {number} */ (range.low) > 1 + RESOLUTION) {
    const [low, high] = [Number(range.low), Number(range.high)];
    const middle = round((low + high) / 2);
    if (middle <= low || middle >= high) return;
    yield* holds(middle, 'bisect');
  }
}

/**
 * Continues from a refuted point in steps of 5 %, until a passing rate is again below a failing
 * one.
 * @param {Range} range
 * @param {number} from
 * @param {number} factor below 1: down until it passes; above 1: up until it fails
 * @param {Holds} holds
 */
function* widen(range, from, factor, holds) {
  const down = factor < 1;
  range[down ? 'low' : 'high'] = null;
  let rate = from;
  do {
    rate = round(rate * factor);
    if (rate < 1e-3) throw new SearchEnd('no rate passed twice');
  } while ((yield* holds(rate, 'widen')) !== down);
}

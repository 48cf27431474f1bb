/**
 * The greatest rate within a latency limit: double until it fails, bisect to 1 %, each point best
 * two of three; then confirm at the answer, and see it fail 5 % above. Where one of these does not
 * hold, what was believed before was luck: the search goes on from there.
 *
 * Pure but for the probe that is handed in, which offers a rate and says whether it held. Not for
 * deciding what "held" means, and not for running anything.
 */

/** @typedef {'double' | 'halve' | 'bisect' | 'confirm' | 'beyond' | 'widen'} Phase */

/**
 * @template T
 * @typedef {object} Point
 * @property {number} rate operations a second
 * @property {Phase} phase
 * @property {boolean} passed best two of three
 * @property {(T & { passed: boolean })[]} trials two, or three where they differ
 */

/**
 * @template T
 * @typedef {object} FindMaxResult
 * @property {number | null} rate the greatest that held; null where none did
 * @property {boolean} confirmed it held again in a point of its own, and 5 % above did not
 * @property {string | null} reason why it is not confirmed
 * @property {Point<T>[]} points in the order they were tried
 */

/** How near the answer is: what holds and what fails are at most this far apart. */
export const RESOLUTION = 0.01;
/** As far above the answer it is seen to fail. */
export const BEYOND = 0.05;
/** A search from 1,000/s to 100,000/s takes 16 points. */
export const POINTS_MAX = 40;
/** Below a sixteenth of where it began, nothing is looked for. */
const HALVINGS_MAX = 4;
const RATE_MAX = 1e7;

/** What ends a search before its time. */
class SearchEnd extends Error {}

/**
 * @template T
 * @param {(rate: number, place: { phase: Phase, point: number, trial: number }) =>
 *   Promise<T & { passed: boolean }>} probe a trial; rejects where nothing can be told any more
 * @param {object} options
 * @param {number} options.start the first rate that is tried
 * @param {number} [options.pointsMax]
 * @param {AbortSignal} [options.signal]
 * @param {(point: Point<T>) => void} [options.onPoint]
 * @returns {Promise<FindMaxResult<T>>}
 */
export async function findMax(probe, { start, pointsMax = POINTS_MAX, signal, onPoint }) {
  /** @type {Point<T>[]} */
  const points = [];
  /** @type {{ low: number | null, high: number | null }} what held, and what failed above it */
  const range = { low: null, high: null };

  /** @param {number} rate @param {Phase} phase */
  const holds = async (rate, phase) => {
    if (signal?.aborted) throw new SearchEnd('the search was stopped');
    if (points.length >= pointsMax) throw new SearchEnd(`no end after ${pointsMax} points`);
    const trials = [];
    let balance = 0;
    while (Math.abs(balance) < 2 && trials.length < 3) {
      const place = { phase, point: points.length, trial: trials.length };
      const trial = await probe(rate, place);
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
  };

  try {
    await bracket(start, holds);
    for (;;) {
      await bisect(range, holds);
      const answer = /** @type {number} */ (range.low);
      if (!(await holds(answer, 'confirm'))) {
        await widen(range, answer, 1 / (1 + BEYOND), holds);
      } else if (await holds(round(answer * (1 + BEYOND)), 'beyond')) {
        await widen(range, answer * (1 + BEYOND), 1 + BEYOND, holds);
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
 * Rates of four digits: finer than any answer, and short in names.
 * @param {number} rate
 */
function round(rate) {
  return Number(rate.toPrecision(4));
}

/**
 * @typedef {(rate: number, phase: Phase) => Promise<boolean>} Holds
 * @typedef {{ low: number | null, high: number | null }} Range
 */

/**
 * @param {number} start
 * @param {Holds} holds
 */
async function bracket(start, holds) {
  let rate = round(start);
  if (await holds(rate, 'double')) {
    do {
      if (rate >= RATE_MAX) throw new SearchEnd(`${rate} a second held, and more is not offered`);
      rate = round(Math.min(RATE_MAX, rate * 2));
    } while (await holds(rate, 'double'));
    return;
  }
  for (let i = 0; i < HALVINGS_MAX; i += 1) {
    rate = round(rate / 2);
    if (await holds(rate, 'halve')) return;
  }
  throw new SearchEnd(`not even ${rate} a second held`);
}

/**
 * @param {Range} range
 * @param {Holds} holds
 */
async function bisect(range, holds) {
  while (/** @type {number} */ (range.high) / /** @type {number} */ (range.low) > 1 + RESOLUTION) {
    const [low, high] = [Number(range.low), Number(range.high)];
    const middle = round((low + high) / 2);
    if (middle <= low || middle >= high) return;
    await holds(middle, 'bisect');
  }
}

/**
 * Goes on from where a belief broke, by 5 % a step, until there is a rate that holds below one that
 * fails again.
 * @param {Range} range
 * @param {number} from
 * @param {number} factor below 1: down until it holds; above 1: up until it fails
 * @param {Holds} holds
 */
async function widen(range, from, factor, holds) {
  const down = factor < 1;
  range[down ? 'low' : 'high'] = null;
  let rate = from;
  do {
    rate = round(rate * factor);
    if (rate < 1e-3) throw new SearchEnd('no rate held twice');
  } while ((await holds(rate, 'widen')) !== down);
}

/**
 * Remaining time of a run in blocks: the rounds that the precision is expected to need, or that the
 * budget allows, each as long as the last.
 */

import { systemClock } from '../measure/clock.js';
import { ROUNDS_LEAST, ROUNDS_MIN, roundsForPrecision } from '../stats/precision.js';

/** Used until a round shows the real cost: opening and warming up, and a segment with its gap. */
const START_NS_GUESS = 4e9;
const SEGMENT_NS_GUESS = 9e6;
const BLOCKS_GUESS = 33;
const ROUNDS_GUESS = 8;

export class Estimate {
  #startNs = systemClock.now();
  #roundStartNs = this.#startNs;
  /** Total number of rounds. */
  #rounds = ROUNDS_GUESS;
  #done = 0;

  /**
   * @param {{ rounds: number | null, budgetNs: number, precision: number }} slices
   * @param {number} cells contenders times loads
   */
  constructor(slices, cells) {
    this.slices = slices;
    this.roundNs = START_NS_GUESS + cells * BLOCKS_GUESS * SEGMENT_NS_GUESS;
    this.#plan(null);
  }

  /** @param {{ roundNs: number, halfWidths: readonly number[] }} round a finished round */
  take({ roundNs, halfWidths }) {
    this.roundNs = roundNs;
    this.#done += 1;
    this.#roundStartNs = systemClock.now();
    const isKnown = this.#done >= ROUNDS_LEAST && halfWidths.length > 0;
    this.#plan(isKnown ? Math.log1p(Math.max(...halfWidths)) : null);
  }

  /** @param {number | null} half half-width of the widest interval, in logs; null: unknown */
  #plan(half) {
    const { rounds, budgetNs, precision } = this.slices;
    if (rounds !== null) {
      this.#rounds = rounds;
      return;
    }
    const state = { half: half ?? 0, rounds: this.#done, precision, confidence: 0.95 };
    const wanted = half === null ? Number.POSITIVE_INFINITY : roundsForPrecision(state);
    const leftNs = budgetNs - (systemClock.now() - this.#startNs);
    // The last round ends before the budget is spent; at least three are played.
    const affordable = this.#done + Math.max(0, Math.floor(leftNs / this.roundNs));
    const precise = Math.max(ROUNDS_MIN, wanted ?? Number.POSITIVE_INFINITY);
    this.#rounds = Math.max(ROUNDS_LEAST, Math.min(precise, affordable));
  }

  /**
   * @param {number} round
   * @param {string} phase
   * @param {number} share completed share of the round
   * @returns {Extract<import('./runner.js').RunEvent, { type: 'comparison' }>}
   */
  event(round, phase, share) {
    const nowNs = systemClock.now();
    const ofRound = Math.max(
      0,
      this.roundNs * (1 - share),
      this.roundNs - (nowNs - this.#roundStartNs),
    );
    const leftNs = ofRound + Math.max(0, this.#rounds - round - 1) * this.roundNs;
    return { type: 'comparison', round, phase, spentNs: nowNs - this.#startNs, leftNs };
  }
}

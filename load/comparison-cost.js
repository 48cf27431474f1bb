/**
 * The cost of full comparisons, measured during a warm-up, and the share of batches that keeps it
 * below 2 % of the CPU time of an operation. One batch in 16 is compared in full, the others by
 * their tags. The difference of the medians is the cost per reply. Not for replies that are
 * verified one by one: their operations take far longer.
 */

import { upperMedian } from '../stats/percentile.js';

/**
 * Share of an operation's CPU time that the measured cost may have. The real cost is up to twice
 * as high: the less often replies are compared in full, the less of the expected text is in
 * the processor caches. `node bench/comparisons.js` measures it.
 */
export const COST_AIM = 0.01;
/** At least one in this many replies is compared in full, however cheap the driver. */
export const EVERY_MAX = 63;
/** One batch in this many is compared in full. */
const BATCHES = 16;
/** Batches between two readings of the CPU time, which takes some microseconds. */
const PER_READING = 6;
/** Minimum number of batches in full and of readings in the later half, to determine the cost. */
const VALUES_MIN = 3;

export class ComparisonCost {
  /** @type {number[]} ns per reply of a batch compared in full */
  #wholeNs = [];
  /** @type {number[]} */
  #tagNs = [];
  /** @type {number[]} CPU time per operation, in ns */
  #cpuNs = [];
  #batches = 0;
  #last = { cpuNs: 0, batches: 0, replies: 0 };

  /** @param {() => { userNs: number, systemNs: number }} cpu time of this process until now */
  constructor(cpu) {
    this.cpu = cpu;
  }

  /** A load begins. */
  restart() {
    this.#last = { cpuNs: this.#readCpu(), batches: 0, replies: 0 };
  }

  /**
   * @param {number} startNs start of the verification of a batch
   * @param {number} endNs
   * @param {number} replies
   */
  add(startNs, endNs, replies) {
    const times = this.isWhole() ? this.#wholeNs : this.#tagNs;
    times.push((endNs - startNs) / replies);
    this.#batches += 1;
    const last = this.#last;
    last.batches += 1;
    last.replies += replies;
    if (last.batches < PER_READING) return;
    const cpuNs = this.#readCpu();
    this.#cpuNs.push((cpuNs - last.cpuNs) / last.replies);
    this.#last = { cpuNs, batches: 0, replies: 0 };
  }

  #readCpu() {
    const { userNs, systemNs } = this.cpu();
    return userNs + systemNs;
  }

  /** @returns {boolean} whether to compare the next batch in full */
  isWhole() {
    return this.#batches % BATCHES === BATCHES - 1;
  }

  /** @returns {number} mean distance of replies compared in full, 1 to EVERY_MAX */
  every() {
    const [whole, tag, cpu] = [this.#wholeNs, this.#tagNs, this.#cpuNs].map(laterHalf);
    if (Math.min(whole.length, cpu.length) < VALUES_MIN) return 1;
    const costNs = Number(upperMedian(whole)) - Number(upperMedian(tag));
    // Most readings are of batches that were verified by tags only.
    const operationNs = Number(upperMedian(cpu));
    if (costNs <= 0 || operationNs <= 0) return 1;
    return Math.min(EVERY_MAX, Math.ceil(costNs / (COST_AIM * operationNs)));
  }
}

/** @param {number[]} values @returns {number[]} values of compiled code */
function laterHalf(values) {
  return values.slice(values.length >> 1);
}

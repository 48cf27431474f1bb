/**
 * CPU time of threads, read often: the kernel's schedstat files are kept open, so that a reading is
 * one pread (0.7 µs; opening the file each time costs 15 µs). Linux only; elsewhere null.
 *
 * The first number is nanoseconds on a processor, the second nanoseconds runnable but waiting for
 * one (Documentation/scheduler/sched-stats.rst, /proc/PID/schedstat).
 */

import { closeSync, openSync, readdirSync, readSync } from 'node:fs';

const LINE_BYTES = 96;
const line = Buffer.alloc(LINE_BYTES);
const SPACE = 0x20;

/**
 * @typedef {object} ThreadTimes
 * @property {number} runNs
 * @property {number} waitNs
 * @property {Float64Array} threads run and wait time of each thread
 */

export class ThreadClocks {
  /** @type {number[]} */
  #files = [];
  /** Last reading per thread. */
  #last = new Float64Array(0);

  /**
   * @param {readonly number[]} pids
   * @param {{ mainOnly?: boolean }} [options] mainOnly: only the first thread of each process
   */
  constructor(pids, { mainOnly = false } = {}) {
    for (const pid of pids) {
      for (const thread of mainOnly ? [String(pid)] : threadsOf(pid)) {
        try {
          this.#files.push(openSync(`/proc/${pid}/task/${thread}/schedstat`, 'r'));
        } catch {
          // It has ended, or this is not Linux.
        }
      }
    }
  }

  /** @returns {ThreadTimes | null} sums over the living threads; null: none is readable */
  read() {
    if (this.#files.length === 0) return null;
    const times = { runNs: 0, waitNs: 0, threads: new Float64Array(2 * this.#files.length) };
    if (this.#last.length === 0) this.#last = new Float64Array(times.threads.length);
    for (const [i, file] of this.#files.entries()) addLine(file, times, 2 * i, this.#last);
    this.#last = times.threads;
    return times;
  }

  close() {
    for (const file of this.#files) closeSync(file);
    this.#files = [];
  }
}

/** @param {number} pid @returns {string[]} */
function threadsOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/**
 * @param {number} file
 * @param {ThreadTimes} times accumulator
 * @param {number} place position of the thread
 * @param {Float64Array} last values that a thread keeps after its end, since sums must not fall
 */
function addLine(file, times, place, last) {
  let length = 0;
  try {
    length = readSync(file, line, 0, LINE_BYTES, 0);
  } catch {
    length = 0; // the thread has ended
  }
  let at = 0;
  let run = 0;
  if (length === 0) {
    addTimes(times, place, last[place], last[place + 1]);
    return;
  }
  for (; at < length && line[at] !== SPACE; at += 1) run = run * 10 + line[at] - 48;
  let wait = 0;
  for (at += 1; at < length && line[at] !== SPACE; at += 1) wait = wait * 10 + line[at] - 48;
  addTimes(times, place, run, wait);
}

/**
 * @param {ThreadTimes} times accumulator
 * @param {number} place
 * @param {number} runNs
 * @param {number} waitNs
 */
function addTimes(times, place, runNs, waitNs) {
  times.threads[place] = runNs;
  times.threads[place + 1] = waitNs;
  times.runNs += runNs;
  times.waitNs += waitNs;
}

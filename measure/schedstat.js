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
 * @property {Float64Array} threads of each thread its run and its wait time
 */

export class ThreadClocks {
  /** @type {number[]} */
  #files = [];

  /**
   * @param {readonly number[]} pids
   * @param {{ mainOnly?: boolean }} [options] mainOnly: of each process its first thread alone
   */
  constructor(pids, { mainOnly = false } = {}) {
    for (const pid of pids) {
      for (const thread of mainOnly ? [String(pid)] : threadsOf(pid)) {
        try {
          this.#files.push(openSync(`/proc/${pid}/task/${thread}/schedstat`, 'r'));
        } catch {
          // It has ended, or this is no Linux.
        }
      }
    }
  }

  /** @returns {ThreadTimes | null} sums over the threads that were there; null: none is readable */
  read() {
    if (this.#files.length === 0) return null;
    const times = { runNs: 0, waitNs: 0, threads: new Float64Array(2 * this.#files.length) };
    for (const [i, file] of this.#files.entries()) addLine(file, times, 2 * i);
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
 * @param {ThreadTimes} times is added to
 * @param {number} place of the thread
 */
function addLine(file, times, place) {
  let length = 0;
  try {
    length = readSync(file, line, 0, LINE_BYTES, 0);
  } catch {
    return; // the thread has ended
  }
  let at = 0;
  let run = 0;
  for (; at < length && line[at] !== SPACE; at += 1) run = run * 10 + line[at] - 48;
  let wait = 0;
  for (at += 1; at < length && line[at] !== SPACE; at += 1) wait = wait * 10 + line[at] - 48;
  times.threads[place] = run;
  times.threads[place + 1] = wait;
  times.runNs += run;
  times.waitNs += wait;
}

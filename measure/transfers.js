/**
 * System calls `read` and `write` of this process, with their bytes: /proc/self/io (proc(5)), kept
 * open, so that a reading is one pread of 1 to 2 µs. Linux only; elsewhere null.
 *
 * The kernel counts read, readv, pread, write, writev and similar calls, by all threads, on
 * sockets, files and pipes. It does not count recv, send, recvmsg and sendmsg: a driver that uses
 * those has fewer bytes here than its replies have (`transfersOf` of engine/to-round.js).
 *
 * V8 wakes the event loop by an eventfd: one or two writes and reads of 8 bytes per collection, up
 * to a thousand per second while it marks a large heap in steps. These bytes were not sent or
 * received by a socket, and are excluded.
 */

import { closeSync, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';

const FILE_BYTES = 192;
const buffer = Buffer.alloc(FILE_BYTES);
const ZERO = 0x30;
const NINE = 0x39;
const WAKE_UP_BYTES = 8;

/**
 * @typedef {object} Transfers totals since the process started
 * @property {number} reads
 * @property {number} writes
 * @property {number} readBytes
 * @property {number} writtenBytes
 */

export class TransferClock {
  /** @type {number | null} */
  #file = null;
  /** Readings of the file count as reads themselves, from the next one on. */
  #own = { reads: 0, bytes: 0 };
  #wakeUps = { reads: 0, writes: 0 };
  /** @type {(Transfers & { sockets: Socket[] }) | null} bytes not transferred by a socket */
  #last = null;

  constructor() {
    try {
      this.#file = openSync('/proc/self/io', 'r');
    } catch {
      // Not Linux, or a kernel without CONFIG_TASK_IO_ACCOUNTING.
    }
  }

  /** @returns {Transfers | null} totals without its own readings and wake-ups; null: unreadable */
  read() {
    if (this.#file === null) return null;
    let length = 0;
    try {
      length = readSync(this.#file, buffer, 0, FILE_BYTES, 0);
    } catch {
      return null;
    }
    // The first four lines: rchar, wchar, syscr, syscw.
    const [readBytes, writtenBytes, reads, writes] = numbersIn(length, 4);
    const { reads: ownReads, bytes: ownBytes } = this.#own;
    this.#own = { reads: ownReads + 1, bytes: ownBytes + length };
    const all = {
      reads: reads - ownReads,
      writes,
      readBytes: readBytes - ownBytes,
      writtenBytes,
    };
    this.#leaveOutWakeUps(all);
    const wakeUps = this.#wakeUps;
    return {
      reads: all.reads - wakeUps.reads,
      writes: all.writes - wakeUps.writes,
      readBytes: all.readBytes - wakeUps.reads * WAKE_UP_BYTES,
      writtenBytes: all.writtenBytes - wakeUps.writes * WAKE_UP_BYTES,
    };
  }

  /**
   * Subtracts wake-ups if the sockets did not change and the other bytes can be wake-ups.
   * @param {Transfers} all
   */
  #leaveOutWakeUps(all) {
    const sockets = openSockets();
    const last = this.#last;
    const now = { ...all, sockets };
    for (const socket of sockets) {
      now.readBytes -= socket.bytesRead;
      now.writtenBytes -= socket.bytesWritten;
    }
    this.#last = now;
    if (last?.sockets.length !== sockets.length) return;
    if (sockets.some((socket, i) => socket !== last.sockets[i])) return;
    const reads = (now.readBytes - last.readBytes) / WAKE_UP_BYTES;
    const writes = (now.writtenBytes - last.writtenBytes) / WAKE_UP_BYTES;
    const most = Math.min(now.reads - last.reads, now.writes - last.writes);
    if (!(Number.isInteger(reads) && reads >= 0 && reads <= Math.min(most, writes + 2))) return;
    // One read consumes all pending wake-ups, at most one of each kind. Other writes, such as
    // messages to the parent, hide how many wake-ups there were beyond the reads.
    const isKnown = Number.isInteger(writes) && writes <= Math.min(most, 2 * reads + 2);
    this.#wakeUps.reads += reads;
    this.#wakeUps.writes += isKnown ? Math.max(0, writes) : reads;
  }

  close() {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}

/** @returns {Socket[]} */
function openSockets() {
  const handles = /** @type {any} */ (process)._getActiveHandles();
  return handles.filter((/** @type {unknown} */ handle) => handle instanceof Socket);
}

/**
 * @param {number} length valid bytes in the buffer
 * @param {number} count
 * @returns {number[]}
 */
function numbersIn(length, count) {
  /** @type {number[]} */
  const numbers = [];
  let number = -1;
  for (let at = 0; at < length && numbers.length < count; at += 1) {
    const byte = buffer[at];
    if (byte >= ZERO && byte <= NINE) {
      number = Math.max(0, number) * 10 + byte - ZERO;
    } else if (number >= 0) {
      numbers.push(number);
      number = -1;
    }
  }
  return numbers;
}

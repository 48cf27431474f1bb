/**
 * The requests of one connection, from the caller to the reply: the batch being filled, queued
 * batches, batches in flight, and the pending queue in the same order. It has no socket, so
 * sending, retrying and rejecting can be tested exactly.
 *
 * In flight is bounded in requests and in estimated bytes of replies, because the server buffers
 * every reply without limit until the client reads it.
 */

import { BATCH_BYTES, BatchPool } from './batch.js';
import { PendingRing } from './pending-ring.js';

/** @typedef {import('./batch.js').Batch} Batch */
/** @typedef {import('./request-type.js').RequestType} RequestType */
/** @typedef {import('./request-type.js').ReplyCallback} ReplyCallback */
/** @typedef {{ type: RequestType, callback: ReplyCallback }} Entry an outstanding request */

/** First estimate of the bytes of a reply; then the mean of received replies. */
const REPLY_BYTES_GUESS = 64;

const BATCHES_IN_FLIGHT = 4;

/** A queue of batches, in a ring buffer whose size is a power of two. */
export class Fifo {
  constructor() {
    /** @type {(Batch | undefined)[]} */
    this.items = new Array(8).fill(undefined);
    this.head = 0;
    this.size = 0;
  }

  /** @returns {Batch | undefined} the oldest, which stays */
  peek() {
    return this.items[this.head];
  }

  /** @param {Batch} batch */
  push(batch) {
    const { length } = this.items;
    if (this.size === length) {
      this.items = [...this.takeAll(), ...new Array(length).fill(undefined)];
      this.size = length;
    }
    this.items[(this.head + this.size) & (this.items.length - 1)] = batch;
    this.size += 1;
  }

  /** @returns {Batch} the oldest, which stays, removed; the queue must not be empty */
  take() {
    const batch = /** @type {Batch} */ (this.items[this.head]);
    this.items[this.head] = undefined;
    this.head = (this.head + 1) & (this.items.length - 1);
    this.size -= 1;
    return batch;
  }

  /** @returns {Batch[]} all, oldest first; the queue is empty after */
  takeAll() {
    const all = [];
    while (this.size > 0) all.push(this.take());
    this.head = 0;
    return all;
  }
}

export class SendQueue {
  /** @param {{ maxInFlight: number, maxReplyBytes: number }} limits */
  constructor(limits) {
    this.limits = limits;
    // A batch is a fraction of the maximum in flight, so that the next can be sent while the server
    // processes one.
    this.batchCountMax = Math.ceil(limits.maxInFlight / BATCHES_IN_FLIGHT);
    this.batchWeightMax = limits.maxReplyBytes / BATCHES_IN_FLIGHT;
    /** @type {PendingRing<RequestType, ReplyCallback>} all outstanding requests, oldest first */
    this.pending = new PendingRing();
    this.pool = new BatchPool();
    this.open = this.pool.take();
    this.waiting = new Fifo();
    this.sent = new Fifo();
    /** requests in flight: the first of the pending queue */
    this.inFlight = 0;
    /** estimated bytes of their replies */
    this.weight = 0;
    this.replyBytes = REPLY_BYTES_GUESS;
    this.bytesSinceReply = 0;
    this.repliesSinceLearned = 0;
  }

  /** @returns {number} requests without a reply */
  get size() {
    return this.pending.size;
  }

  /**
   * @param {number} bytes maximum bytes of the next request
   * @returns {Batch} batch with that capacity; write at its length, then call commit
   */
  reserve(bytes) {
    if (this.open.length + bytes > this.open.bytes.length) {
      if (this.open.count > 0) this.seal();
      if (bytes > this.open.bytes.length) {
        this.pool.give(this.open);
        this.open = this.pool.take(bytes);
      }
    }
    return this.open;
  }

  /**
   * Adds the request whose bytes were just written.
   * @param {number} end offset after its line feed
   * @param {RequestType} type
   * @param {ReplyCallback} callback
   * @param {number} weight estimated bytes of its reply
   * @returns {boolean} whether the batch is now complete
   */
  commit(end, type, callback, weight) {
    const { open } = this;
    open.length = end;
    open.count += 1;
    open.weight += weight;
    this.pending.push(type, callback);
    if (open.count < this.batchCountMax && open.weight < this.batchWeightMax) return false;
    this.seal();
    return true;
  }

  /** Ends the batch being filled. */
  seal() {
    if (this.open.count === 0) return;
    this.waiting.push(this.open);
    this.open = this.pool.take();
  }

  /**
   * @returns {Batch | null} the next batch, now in flight; null if none is queued or may be sent
   */
  next() {
    const batch = this.waiting.peek();
    if (batch === undefined) return null;
    if (this.inFlight > 0) {
      const { maxInFlight, maxReplyBytes } = this.limits;
      if (this.inFlight + batch.count > maxInFlight) return null;
      if (this.weight + batch.weight > maxReplyBytes) return null;
    }
    this.waiting.take();
    this.sent.push(batch);
    this.inFlight += batch.count;
    this.weight += batch.weight;
    return batch;
  }

  /**
   * Counts a reply; the caller has read and dropped the head of the pending queue.
   * @returns {boolean} whether a batch is complete, so that another may be sent
   */
  answered() {
    this.inFlight -= 1;
    this.repliesSinceLearned += 1;
    const batch = /** @type {Batch} */ (this.sent.peek());
    batch.answered += 1;
    if (batch.answered < batch.count) return false;
    this.sent.take();
    this.weight -= batch.weight;
    this.pool.give(batch);
    return true;
  }

  /**
   * Updates the mean length of replies.
   * @param {number} bytes received bytes
   */
  learn(bytes) {
    this.bytesSinceReply += bytes;
    const replies = this.repliesSinceLearned;
    if (replies === 0) return;
    this.replyBytes += (this.bytesSinceReply / replies - this.replyBytes) * 0.2;
    this.bytesSinceReply = 0;
    this.repliesSinceLearned = 0;
  }

  /**
   * The connection is lost: requeues requests in flight at the front if they may be retried, and
   * returns the others.
   * @param {number} maxRetries
   * @returns {Entry[]} requests to reject, oldest first
   */
  lose(maxRetries) {
    this.seal();
    const entries = this.pending.takeAll();
    const batches = this.sent.takeAll();
    const unsent = this.waiting.takeAll();
    /** @type {Entry[]} */
    const rejected = [];
    let next = 0;
    for (const batch of batches) {
      const again = this.pool.take(batch.length);
      again.attempts = batch.attempts + 1;
      for (const [start, end] of batch.lines()) {
        const entry = entries[next];
        next += 1;
        if (entry.type.change || again.attempts > maxRetries) {
          rejected.push(entry);
          continue;
        }
        again.length += batch.bytes.copy(again.bytes, again.length, start, end);
        again.count += 1;
        again.weight += batch.weight / batch.count;
        this.pending.push(entry.type, entry.callback);
      }
      this.pool.give(batch);
      if (again.count > 0) this.waiting.push(again);
      else this.pool.give(again);
    }
    for (const batch of unsent) this.waiting.push(batch);
    for (; next < entries.length; next += 1)
      this.pending.push(entries[next].type, entries[next].callback);
    this.inFlight = 0;
    this.weight = 0;
    return rejected;
  }

  /** @returns {(Entry & { sent: boolean })[]} all requests; the queue is empty afterwards */
  takeAll() {
    const { inFlight } = this;
    const all = this.pending.takeAll().map((entry, i) => ({ ...entry, sent: i < inFlight }));
    this.waiting.takeAll();
    this.sent.takeAll();
    this.open = this.pool.take();
    this.inFlight = 0;
    this.weight = 0;
    return all;
  }
}

/** A batch of this size is sent without waiting for the end of the tick. */
export const FLUSH_BYTES = (BATCH_BYTES / 8) * 7;

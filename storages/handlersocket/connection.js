/**
 * One connection to one listener: requests in, one batch of them per tick out, replies to them in
 * order. The socket and its troubles are the link's part, the order of requests the outbox', the
 * meaning of a request its plan's.
 */

import { HandlerSocketError, protocolError } from '../../protocols/handlersocket/errors.js';
import { decodeDone, isSuccess } from '../../protocols/handlersocket/reply.js';
import {
  encodeOpen,
  findBytesMax,
  PING_LINE,
  writeFind,
} from '../../protocols/handlersocket/request.js';
import { AckPings } from './ack-pings.js';
import { Link } from './link.js';
import { FLUSH_BYTES, Outbox } from './outbox.js';
import { ignore, MAYBE_EXECUTED, Plan, rejectLost, settle, settleError } from './plan.js';

/** @typedef {import('../../protocols/handlersocket/request.js').Encoding} Encoding */
/** @typedef {import('../../protocols/handlersocket/request.js').IndexDefinition} IndexDefinition */
/** @typedef {import('../../protocols/handlersocket/request.js').Value} Value */
/** @typedef {import('./plan.js').Sink} Sink */

/**
 * @typedef {object} ConnectionHooks
 * @property {() => ReadonlyMap<number, IndexDefinition>} indexes to be open
 * @property {(connection: Connection) => void} onConnect the handshake is done
 * @property {(connection: Connection, error: HandlerSocketError) => void} onDisconnect
 */

/** Of an index' line and of a ping: neither is a request of the caller. */
const openPlan = new Plan(decodeDone, { promise: false });
const pingPlan = new Plan(decodeDone, { promise: false });

export class Connection {
  /**
   * @param {import('./options.js').Target} target
   * @param {{ secret: import('./options.js').Secret | undefined,
   *   limits: import('./options.js').Limits }} settings
   * @param {ConnectionHooks} hooks
   */
  constructor(target, settings, hooks) {
    this.limits = settings.limits;
    this.hooks = hooks;
    const outbox = new Outbox(this.limits);
    this.outbox = outbox;
    this.link = new Link(target, settings, {
      indexes: hooks.indexes,
      pending: () => outbox.size,
      inFlight: () => outbox.inFlight,
      replyBytes: () => outbox.replyBytes,
      onReply: (text, start, end, flags) => this.onReply(text, start, end, flags),
      onRead: (bytes) => this.onRead(bytes),
      onWritable: () => this.pump(),
      onReady: () => this.onReady(),
      onGone: (error, wasReady) => this.onGone(error, wasReady),
      onOffline: () => this.giveUp(),
      onIdle: () => this.ping(),
    });
    this.address = this.link.address;
    // A unix socket acknowledges nothing.
    this.acks = 'path' in target ? null : new AckPings(this);
    /** no new requests */
    this.closing = false;
    /** requests wait until resume() */
    this.holding = false;
    /** batches asked for before the hold that are still to be sent */
    this.batchesBeforeHold = 0;
    this.scheduled = false;
    /** the last batch was one request: then the next one, too, goes out without waiting for more */
    this.alone = false;
    /** @type {Set<number>} indexes being opened again */
    this.reopening = new Set();
    /** @type {{ resolve: () => void, reject: (error: Error) => void }[]} */
    this.readyWaiters = [];
    /** @type {(() => void)[]} told whenever replies came or the socket went */
    this.quietWaiters = [];
    this.flush = this.flush.bind(this);
    this.counters = { connects: 0, losses: 0, batches: 0, requests: 0, bytesIn: 0, bytesOut: 0 };
  }

  /** @returns {Promise<void>} when the handshake is done; rejects with the first failure */
  connect() {
    if (this.link.ready) return Promise.resolve();
    if (this.closing) return Promise.reject(this.closedError());
    return new Promise((resolve, reject) => {
      this.readyWaiters.push({ resolve, reject });
      if (this.link.state === 'idle' && !this.holding) this.link.dial();
    });
  }

  /**
   * Sends a find by key: head, key, line feed. The hot path.
   * @param {Uint8Array} head the bytes before the key
   * @param {Value} key
   * @param {Encoding} encoding
   * @param {Plan} plan
   * @param {Sink} sink
   * @throws {HandlerSocketError} HS_ARGUMENT for what is no value; nothing is sent then
   */
  sendKey(head, key, encoding, plan, sink) {
    const { outbox } = this;
    if (this.closing || outbox.ring.size >= this.limits.maxPending) {
      this.refuse(plan, sink);
      return;
    }
    const { bytes, length } = outbox.room(findBytesMax(head, key));
    this.commit(writeFind(bytes, length, head, key, encoding), plan, sink, outbox.replyBytes);
  }

  /**
   * @param {string} line whole, a binary string
   * @param {Plan} plan
   * @param {Sink} sink
   * @param {number} [weight] estimated bytes of the reply
   */
  sendLine(line, plan, sink, weight = this.outbox.replyBytes) {
    if (this.closing || this.outbox.ring.size >= this.limits.maxPending) {
      this.refuse(plan, sink);
      return;
    }
    const { bytes, length } = this.outbox.room(line.length);
    this.commit(length + bytes.write(line, length, 'latin1'), plan, sink, weight);
  }

  /**
   * @param {number} end
   * @param {Plan} plan
   * @param {Sink} sink
   * @param {number} weight
   */
  commit(end, plan, sink, weight) {
    const { outbox } = this;
    const full = outbox.commit(end, plan, sink, weight);
    if (!this.scheduled) {
      if (this.alone && outbox.inFlight === 0) {
        this.flush();
        return;
      }
      // One write per tick: requests of the same tick share it.
      this.scheduled = true;
      process.nextTick(this.flush);
    } else if (full || end >= FLUSH_BYTES) {
      outbox.seal();
      this.pump();
    }
  }

  /**
   * @param {Plan} plan
   * @param {Sink} sink
   */
  refuse(plan, sink) {
    const { address } = this;
    const text =
      `${address}: ${this.limits.maxPending} requests are waiting already; wait for replies, or ` +
      'raise maxPending';
    const error = this.closing
      ? this.closedError()
      : new HandlerSocketError('HS_QUEUE_FULL', text, { address });
    // Never from inside the call: a callback is called once, and later.
    process.nextTick(settleError, plan, sink, error);
  }

  /** Ends the tick: what was asked in it goes out. */
  flush() {
    this.scheduled = false;
    this.outbox.seal();
    if (this.link.state === 'open') this.pump();
    else this.wake();
  }

  /** Connects if requests wait and nobody does. */
  wake() {
    if (this.link.state !== 'idle' || this.holding) return;
    if (this.outbox.size > 0 || this.readyWaiters.length > 0) this.link.dial();
  }

  /** Sends batches as long as the limits and the socket allow. */
  pump() {
    const { link, outbox, counters } = this;
    if (link.state !== 'open' || link.choked) return;
    if (outbox.inFlight === 0) link.ticks.heard();
    while (!this.holding || this.batchesBeforeHold > 0) {
      const batch = outbox.next();
      if (batch === null) return;
      if (this.holding) this.batchesBeforeHold -= 1;
      this.alone = batch.count === 1;
      counters.batches += 1;
      counters.requests += batch.count;
      counters.bytesOut += batch.length;
      if (!link.write(batch.bytes.subarray(0, batch.length))) return;
    }
  }

  /**
   * Hands one reply to the request that it answers: the hot path.
   * @param {string} text
   * @param {number} start
   * @param {number} end
   * @param {number} flags
   */
  onReply(text, start, end, flags) {
    const { outbox } = this;
    const { ring } = outbox;
    if (outbox.inFlight === 0) throw protocolError('a reply came that nobody asked for');
    const plan = /** @type {Plan} */ (ring.plans[ring.head]);
    const sink = /** @type {Sink} */ (ring.sinks[ring.head]);
    let value;
    try {
      if (!isSuccess(text, start, end)) {
        throw this.link.replyError(text, start, end, plan.indexId);
      }
      value = plan.decode(text, start, end, flags);
    } catch (error) {
      // Not the reply of this request: the request stays, and is lost with the connection.
      if (error.code === 'HS_PROTOCOL') throw error;
      ring.drop();
      outbox.answered();
      if (error.code === 'HS_NOT_OPEN') this.reopen(plan.indexId);
      settleError(plan, sink, error);
      return;
    }
    ring.drop();
    outbox.answered();
    settle(plan, sink, value);
  }

  /**
   * An index that could not be opened when we connected may be there by now: ask once more, so that
   * later requests succeed.
   * @param {number} indexId
   */
  reopen(indexId) {
    const definition = this.hooks.indexes().get(indexId);
    if (definition === undefined || this.reopening.has(indexId)) return;
    this.reopening.add(indexId);
    this.sendOpen(indexId, encodeOpen(indexId, definition), () => this.reopening.delete(indexId));
  }

  /**
   * @param {number} indexId
   * @param {string} line
   * @param {(error: HandlerSocketError | null) => void} done
   */
  sendOpen(indexId, line, done) {
    const { openErrors } = this.link;
    this.sendLine(line, openPlan, (error) => {
      // At once, so that the reply right behind finds the cause.
      if (error) openErrors.set(indexId, error);
      else openErrors.delete(indexId);
      done(error);
    });
  }

  /** @param {number} bytes */
  onRead(bytes) {
    const { outbox } = this;
    this.counters.bytesIn += bytes;
    outbox.learn(bytes);
    if (outbox.waiting.size > 0) this.pump();
    this.acks?.onRead();
    this.tellQuiet();
  }

  onReady() {
    this.counters.connects += 1;
    for (const waiter of this.readyWaiters.splice(0)) waiter.resolve();
    this.hooks.onConnect(this);
  }

  /** Keeps the server from closing an idle connection. */
  ping() {
    if (!this.closing && this.outbox.size === 0) this.sendLine(PING_LINE, pingPlan, ignore);
  }

  /**
   * The socket is gone. Finds in flight wait for the next connection, changes reject: they may have
   * been executed.
   * @param {HandlerSocketError} error
   * @param {boolean} wasReady
   */
  onGone(error, wasReady) {
    const { limits, outbox, link } = this;
    // A find that the server could not answer in time would only wait twice as long.
    const retries = error.code === 'HS_REQUEST_TIMEOUT' ? -1 : limits.maxRetries;
    const given = outbox.lose(retries);
    const waiters = this.readyWaiters.splice(0);
    this.batchesBeforeHold = 0;
    if (wasReady) this.counters.losses += 1;
    link.rest(outbox.size > 0 && !this.holding);
    if (given.length > 0) rejectLost(given, error);
    for (const waiter of waiters) waiter.reject(error);
    if (wasReady) this.hooks.onDisconnect(this, error);
    if (error.code === 'HS_AUTH' || limits.offlineTimeoutMs === 0) this.giveUp();
    this.tellQuiet();
  }

  /** Rejects all that waits, because no connection could be had. */
  giveUp() {
    const { link, address } = this;
    const { lastError } = link;
    this.batchesBeforeHold = 0;
    link.stopWaiting();
    const why = lastError === null ? '' : ` (${lastError.message})`;
    const text = `${address}: no connection within ${this.limits.offlineTimeoutMs} ms${why}`;
    const detail = { address, cause: lastError ?? undefined };
    const error =
      lastError?.code === 'HS_AUTH'
        ? lastError
        : new HandlerSocketError('HS_OFFLINE', text, detail);
    for (const { plan, sink } of this.outbox.takeAll()) settleError(plan, sink, error);
    this.tellQuiet();
  }

  tellQuiet() {
    if (this.quietWaiters.length === 0) return;
    for (const tell of this.quietWaiters.splice(0)) tell();
  }

  /** @returns {Promise<void>} at the next moment at which requests may have ended */
  nextQuiet() {
    return new Promise((resolve) => {
      this.quietWaiters.push(resolve);
    });
  }

  /**
   * Drops the socket once all asked before is answered; later requests wait until resume().
   * @returns {Promise<void>}
   */
  async hold() {
    const { outbox, link } = this;
    this.flush();
    this.batchesBeforeHold = link.state === 'open' ? outbox.waiting.size : 0;
    this.holding = true;
    while (outbox.inFlight > 0 || this.batchesBeforeHold > 0) await this.nextQuiet();
    await this.link.end(false);
  }

  /** Ends hold(). */
  resume() {
    this.holding = false;
    this.wake();
  }

  /**
   * Refuses new requests, waits for the replies of all others, then closes.
   * @returns {Promise<void>}
   */
  async close() {
    this.closing = true;
    this.holding = false;
    this.flush();
    // Nobody waits for the reply to a ping.
    while (this.outbox.size > (this.acks?.outstanding ?? 0)) await this.nextQuiet();
    await this.link.end(true);
    for (const { sink } of this.outbox.takeAll()) sink(null);
    this.rejectWaiters();
  }

  /** Closes at once; all that waits rejects. */
  destroy() {
    this.closing = true;
    const entries = this.outbox.takeAll();
    this.link.forget();
    this.link.ticks.stop();
    this.link.state = 'closed';
    const error = this.closedError();
    const unknown = this.closedError(true);
    for (const { plan, sink, sent } of entries) {
      settleError(plan, sink, sent && plan.change ? unknown : error);
    }
    this.rejectWaiters();
    this.tellQuiet();
  }

  rejectWaiters() {
    for (const waiter of this.readyWaiters.splice(0)) waiter.reject(this.closedError());
  }

  /** @param {boolean} [outcomeUnknown] */
  closedError(outcomeUnknown = false) {
    const { address } = this;
    const text = `${address}: the client is closed${outcomeUnknown ? MAYBE_EXECUTED : ''}`;
    return new HandlerSocketError('HS_CLOSED', text, { address, outcomeUnknown });
  }
}

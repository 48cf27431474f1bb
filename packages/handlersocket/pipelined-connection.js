/**
 * One connection to one listener: requests in, one batch per tick out, replies in order.
 * ServerSocket owns the socket and its errors, SendQueue the order of requests, RequestType the
 * decoding of replies.
 */

import { AckPings } from './ack-pings.js';
import { HandlerSocketError, protocolError } from './handlersocket-error.js';
import { decodeDone, isSuccess } from './reply-values.js';
import { encodeOpen, findBytesMax, PING_LINE, writeFind } from './request-lines.js';
import {
  ignore,
  MAYBE_EXECUTED,
  RequestType,
  rejectLost,
  settle,
  settleError,
} from './request-type.js';
import { FLUSH_BYTES, SendQueue } from './send-queue.js';
import { ServerSocket } from './server-socket.js';

/** @typedef {import('./request-lines.js').Encoding} Encoding */
/** @typedef {import('./request-lines.js').IndexDefinition} IndexDefinition */
/** @typedef {import('./request-lines.js').Value} Value */
/** @typedef {import('./request-type.js').ReplyCallback} ReplyCallback */

/**
 * @typedef {object} ConnectionHooks
 * @property {() => ReadonlyMap<number, IndexDefinition>} indexes indexes to keep open
 * @property {(connection: Connection) => void} onConnect called after the handshake
 * @property {(connection: Connection, error: HandlerSocketError) => void} onDisconnect
 */

/** Requests of the client itself: opening an index, and a ping. */
const openType = new RequestType(decodeDone, { promise: false });
const pingType = new RequestType(decodeDone, { promise: false });

export class Connection {
  /**
   * @param {import('./client-options.js').Target} target
   * @param {{ secret: import('./client-options.js').Secret | undefined,
   *   limits: import('./client-options.js').Limits }} settings
   * @param {ConnectionHooks} hooks
   */
  constructor(target, settings, hooks) {
    this.limits = settings.limits;
    this.hooks = hooks;
    this.sendQueue = new SendQueue(this.limits);
    this.serverSocket = new ServerSocket(target, settings, this);
    this.address = this.serverSocket.address;
    // Unix sockets have no acknowledgements.
    this.acks = 'path' in target ? null : new AckPings(this);
    /** no new requests */
    this.closing = false;
    /** requests wait until resume() */
    this.holding = false;
    /** batches from before the hold that are not sent yet */
    this.batchesBeforeHold = 0;
    this.scheduled = false;
    /** the last batch had one request, so the next one is written without waiting for others */
    this.alone = false;
    /** @type {Set<number>} indexes being reopened */
    this.reopening = new Set();
    /** @type {{ resolve: () => void, reject: (error: Error) => void }[]} */
    this.readyWaiters = [];
    /** @type {(() => void)[]} called when replies are read or the connection is lost */
    this.idleWaiters = [];
    this.flush = this.flush.bind(this);
    this.counters = { connects: 0, losses: 0, batches: 0, requests: 0, bytesIn: 0, bytesOut: 0 };
  }

  /** @returns {Promise<void>} when called after the handshake; rejects with the first failure */
  connect() {
    if (this.serverSocket.ready) return Promise.resolve();
    if (this.closing) return Promise.reject(this.closedError());
    return new Promise((resolve, reject) => {
      this.readyWaiters.push({ resolve, reject });
      if (this.serverSocket.state === 'idle' && !this.holding) this.serverSocket.connect();
    });
  }

  /**
   * Sends a find by key: head, key, line feed. The hot path.
   * @param {Uint8Array} head the bytes before the key
   * @param {Value} key
   * @param {Encoding} encoding
   * @param {RequestType} type
   * @param {ReplyCallback} callback
   * @throws {HandlerSocketError} HS_ARGUMENT: not a valid value; nothing is sent
   */
  sendKey(head, key, encoding, type, callback) {
    const { sendQueue } = this;
    if (this.closing || sendQueue.pending.size >= this.limits.maxPending) {
      this.refuse(type, callback);
      return;
    }
    const { bytes, length } = sendQueue.reserve(findBytesMax(head, key));
    const end = writeFind(bytes, length, head, key, encoding);
    this.commit(end, type, callback, sendQueue.replyBytes);
  }

  /**
   * @param {string} line complete line, a binary string
   * @param {RequestType} type
   * @param {ReplyCallback} callback
   * @param {number} [weight] estimated bytes of the reply
   */
  sendLine(line, type, callback, weight = this.sendQueue.replyBytes) {
    if (this.closing || this.sendQueue.pending.size >= this.limits.maxPending) {
      this.refuse(type, callback);
      return;
    }
    const { bytes, length } = this.sendQueue.reserve(line.length);
    this.commit(length + bytes.write(line, length, 'latin1'), type, callback, weight);
  }

  /**
   * @param {number} end
   * @param {RequestType} type
   * @param {ReplyCallback} callback
   * @param {number} weight
   */
  commit(end, type, callback, weight) {
    const { sendQueue } = this;
    const full = sendQueue.commit(end, type, callback, weight);
    if (!this.scheduled) {
      if (this.alone && sendQueue.inFlight === 0) {
        this.flush();
        return;
      }
      // One write per tick: requests of the same tick share it.
      this.scheduled = true;
      process.nextTick(this.flush);
    } else if (full || end >= FLUSH_BYTES) {
      sendQueue.seal();
      this.pump();
    }
  }

  /**
   * @param {RequestType} type
   * @param {ReplyCallback} callback
   */
  refuse(type, callback) {
    const { address } = this;
    const text =
      `${address}: ${this.limits.maxPending} requests are already outstanding; wait for replies, or ` +
      'raise maxPending';
    const error = this.closing
      ? this.closedError()
      : new HandlerSocketError('HS_QUEUE_FULL', text, { address });
    // Asynchronous: a callback is called once, and never from inside the call.
    process.nextTick(settleError, type, callback, error);
  }

  /** Sends the requests of the tick at its end. */
  flush() {
    this.scheduled = false;
    this.sendQueue.seal();
    if (this.serverSocket.state === 'open') this.pump();
    else this.wake();
  }

  /** Connects if requests are outstanding and no attempt is under way. */
  wake() {
    if (this.serverSocket.state !== 'idle' || this.holding) return;
    if (this.sendQueue.size > 0 || this.readyWaiters.length > 0) this.serverSocket.connect();
  }

  /** Sends batches as long as the limits and the socket allow. */
  pump() {
    const { serverSocket, sendQueue, counters } = this;
    if (serverSocket.state !== 'open' || serverSocket.awaitsDrain) return;
    if (sendQueue.inFlight === 0) serverSocket.ticks.onActivity();
    while (!this.holding || this.batchesBeforeHold > 0) {
      const batch = sendQueue.next();
      if (batch === null) return;
      if (this.holding) this.batchesBeforeHold -= 1;
      this.alone = batch.count === 1;
      counters.batches += 1;
      counters.requests += batch.count;
      counters.bytesOut += batch.length;
      if (!serverSocket.write(batch.bytes.subarray(0, batch.length))) return;
    }
  }

  /**
   * Passes one reply to its request: the hot path.
   * @param {string} text
   * @param {number} start
   * @param {number} end
   * @param {number} flags
   */
  onReply(text, start, end, flags) {
    const { sendQueue } = this;
    const { pending } = sendQueue;
    if (sendQueue.inFlight === 0)
      throw protocolError('unexpected reply: no request is outstanding');
    const type = /** @type {RequestType} */ (pending.types[pending.head]);
    const callback = /** @type {ReplyCallback} */ (pending.callbacks[pending.head]);
    let value;
    try {
      if (!isSuccess(text, start, end)) {
        throw this.serverSocket.replyError(text, start, end, type.indexId);
      }
      value = type.decode(text, start, end, flags);
    } catch (error) {
      // Not the reply of this request, which stays queued and is lost with the connection.
      if (error.code === 'HS_PROTOCOL') throw error;
      pending.drop();
      sendQueue.answered();
      if (error.code === 'HS_NOT_OPEN') this.reopen(type.indexId);
      settleError(type, callback, error);
      return;
    }
    pending.drop();
    sendQueue.answered();
    settle(type, callback, value);
  }

  /**
   * An index that could not be opened while connecting may exist now; opens it again, so that later
   * requests succeed.
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
    const { openErrors } = this.serverSocket;
    this.sendLine(line, openType, (error) => {
      // Immediately, so that the next reply has the cause.
      if (error) openErrors.set(indexId, error);
      else openErrors.delete(indexId);
      done(error);
    });
  }

  /** @param {number} bytes */
  onRead(bytes) {
    const { sendQueue } = this;
    this.counters.bytesIn += bytes;
    sendQueue.learn(bytes);
    if (sendQueue.waiting.size > 0) this.pump();
    this.acks?.onRead();
    this.notifyIdle();
  }

  onReady() {
    this.counters.connects += 1;
    for (const waiter of this.readyWaiters.splice(0)) waiter.resolve();
    this.hooks.onConnect(this);
  }

  /** Prevents the server from closing an idle connection. */
  ping() {
    if (!this.closing && this.sendQueue.size === 0) this.sendLine(PING_LINE, pingType, ignore);
  }

  /**
   * Finds in flight are sent again on the next connection; changes reject, because they may have
   * been executed.
   * @param {HandlerSocketError} error
   * @param {boolean} wasReady
   */
  onDisconnect(error, wasReady) {
    const { limits, sendQueue, serverSocket } = this;
    // A find that timed out would only wait twice as long.
    const retries = error.code === 'HS_REQUEST_TIMEOUT' ? -1 : limits.maxRetries;
    const rejected = sendQueue.lose(retries);
    const waiters = this.readyWaiters.splice(0);
    this.batchesBeforeHold = 0;
    if (wasReady) this.counters.losses += 1;
    serverSocket.scheduleReconnect(sendQueue.size > 0 && !this.holding);
    if (rejected.length > 0) rejectLost(rejected, error);
    for (const waiter of waiters) waiter.reject(error);
    if (wasReady) this.hooks.onDisconnect(this, error);
    if (error.code === 'HS_AUTH' || limits.offlineTimeoutMs === 0) this.abort();
    this.notifyIdle();
  }

  /** Rejects all outstanding requests: no connection within offlineTimeoutMs. */
  abort() {
    const { serverSocket, address } = this;
    const { lastError } = serverSocket;
    this.batchesBeforeHold = 0;
    serverSocket.cancelReconnect();
    const why = lastError === null ? '' : ` (${lastError.message})`;
    const text = `${address}: no connection within ${this.limits.offlineTimeoutMs} ms${why}`;
    const offline = { address, cause: lastError ?? undefined };
    const isRefused = lastError?.code === 'HS_AUTH';
    const error = isRefused ? lastError : new HandlerSocketError('HS_OFFLINE', text, offline);
    for (const { type, callback } of this.sendQueue.takeAll()) settleError(type, callback, error);
    this.notifyIdle();
  }

  notifyIdle() {
    if (this.idleWaiters.length === 0) return;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }

  /** @returns {Promise<void>} resolves when replies are read or the connection is lost */
  nextIdle() {
    return new Promise((resolve) => {
      this.idleWaiters.push(resolve);
    });
  }

  /**
   * Closes the socket after the replies to earlier requests; later ones wait until resume().
   * @returns {Promise<void>}
   */
  async hold() {
    const { sendQueue, serverSocket } = this;
    this.flush();
    this.batchesBeforeHold = serverSocket.state === 'open' ? sendQueue.waiting.size : 0;
    this.holding = true;
    // Includes requests that waited because of an earlier hold.
    if (this.batchesBeforeHold > 0) this.pump();
    const waits = () => sendQueue.inFlight > 0 || this.batchesBeforeHold > 0;
    while (this.holding && waits()) await this.nextIdle();
    if (this.holding) await serverSocket.end(false);
  }

  /** Ends hold(), even while it waits for replies. */
  resume() {
    this.holding = false;
    this.notifyIdle();
    this.flush();
  }

  /**
   * Refuses new requests, waits for outstanding ones, then closes.
   * @returns {Promise<void>}
   */
  async close() {
    this.closing = true;
    this.holding = false;
    this.flush();
    // Does not wait for pings.
    while (this.sendQueue.size > (this.acks?.outstanding ?? 0)) await this.nextIdle();
    await this.serverSocket.end(true);
    for (const { callback } of this.sendQueue.takeAll()) callback(null);
    this.rejectWaiters();
  }

  /** Closes immediately; outstanding requests reject. */
  destroy() {
    this.closing = true;
    const entries = this.sendQueue.takeAll();
    this.serverSocket.destroy();
    this.serverSocket.ticks.stop();
    this.serverSocket.state = 'closed';
    const error = this.closedError();
    const unknown = this.closedError(true);
    for (const { type, callback, sent } of entries) {
      settleError(type, callback, sent && type.change ? unknown : error);
    }
    this.rejectWaiters();
    this.notifyIdle();
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

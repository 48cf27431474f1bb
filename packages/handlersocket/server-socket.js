/**
 * The socket to one listener: it owns the socket and its timeouts, connects and reconnects with
 * back-off and jitter, and performs the handshake: auth and every open index, pipelined with the
 * first requests. Requests are opaque: write() accepts bytes, replies are passed to the owner.
 */

import { connect } from 'node:net';
import { formatTarget } from './client-options.js';
import { HandlerSocketError, serverError } from './handlersocket-error.js';
import { ReplyParser } from './reply-parser.js';
import { decodeDone, decodeError, isSuccess } from './reply-values.js';
import { encodeAuth, encodeOpen, PROBE_LINE } from './request-lines.js';
import { TickTimer } from './tick-timer.js';
import { checkSecret } from './validate.js';

/** @typedef {import('node:net').Socket} Socket */

/**
 * `idle`: no socket; `connecting`; `open`: connected, the handshake may be in progress; `waiting`:
 * for the next attempt; `closed`: permanently.
 * @typedef {'idle' | 'connecting' | 'open' | 'waiting' | 'closed'} SocketState
 */

/** Purpose of a handshake line, if it is not the id of an index. */
const AUTH = -1;
const PROBE = -2;

export class ServerSocket {
  /**
   * @param {import('./client-options.js').Target} target
   * @param {{ secret: import('./client-options.js').Secret | undefined,
   *   limits: import('./client-options.js').Limits }} settings
   * @param {import('./pipelined-connection.js').Connection} owner receives the replies
   */
  constructor(target, { secret, limits }, owner) {
    this.target = target;
    this.address = formatTarget(target);
    this.secret = secret;
    this.limits = limits;
    this.owner = owner;
    /** @type {SocketState} */
    this.state = 'idle';
    /** @type {Socket | null} */
    this.socket = null;
    /** @type {ReplyParser | null} */
    this.parser = null;
    /** keep undecoded bytes of columns; see ReplyParser */
    this.keepBytes = false;
    /** write() returned false: wait for drain */
    this.awaitsDrain = false;
    /** @type {number[]} handshake requests of the next replies, before those of the owner */
    this.handshake = [];
    this.handshakeAt = 0;
    /** @type {Map<number, HandlerSocketError>} reason why an index could not be reopened */
    this.openErrors = new Map();
    /** consecutive failed attempts */
    this.failures = 0;
    /** @type {HandlerSocketError | null} */
    this.lastError = null;
    /** @type {NodeJS.Timeout | undefined} */
    this.retryTimer = undefined;
    this.ticks = new TickTimer(limits, {
      pending: () => owner.sendQueue.size,
      inFlight: () => owner.sendQueue.inFlight,
      onSilence: () => this.onSilence(),
      onOffline: () => owner.abort(),
      onIdle: () => owner.ping(),
    });
  }

  /** @returns {boolean} whether it is connected and the handshake is complete */
  get ready() {
    return this.state === 'open' && this.handshakeAt === this.handshake.length;
  }

  /** From now on a column of an index needs undecoded bytes. */
  keepAllBytes() {
    this.keepBytes = true;
    if (this.parser !== null) this.parser.keepBytes = true;
  }

  /** Starts an attempt to connect, from idle or waiting. */
  connect() {
    this.state = 'connecting';
    this.ticks.startPhase('connect');
    const { secret } = this;
    if (typeof secret !== 'function') {
      this.openSocket(secret);
      return;
    }
    Promise.resolve()
      .then(secret)
      .then((text) => {
        checkSecret(text);
        if (this.state === 'connecting' && this.socket === null) this.openSocket(text);
      })
      .catch((error) => {
        if (this.state === 'connecting') this.onDisconnect(this.connectError(error));
      });
  }

  /** @param {string | undefined} secret */
  openSocket(secret) {
    const parser = new ReplyParser((text, start, end, flags) => {
      if (this.handshakeAt < this.handshake.length) this.onHandshake(text, start, end);
      else this.owner.onReply(text, start, end, flags);
    });
    parser.keepBytes = this.keepBytes;
    this.parser = parser;
    /** @type {Socket} */
    const socket = connect({
      ...this.target,
      noDelay: true,
      onread: {
        buffer: /** @type {() => Buffer} */ (() => this.nextTarget(parser)),
        callback: (count) => this.onChunk(socket, count),
      },
    });
    this.socket = socket;
    this.awaitsDrain = false;
    /** @type {Error | null} */
    let cause = null;
    socket.on('connect', () => {
      if (this.socket === socket) this.onConnect(socket, secret);
    });
    socket.on('drain', () => {
      this.awaitsDrain = false;
      if (this.socket === socket && this.state === 'open') this.owner.pump();
    });
    socket.on('error', (error) => {
      cause = error;
    });
    // The server closes idle connections by FIN; without allowHalfOpen, close follows.
    socket.on('close', () => this.onClose(socket, cause));
  }

  /**
   * @param {Socket} socket
   * @param {string | undefined} secret
   */
  onConnect(socket, secret) {
    this.state = 'open';
    this.ticks.startPhase('handshake');
    this.openErrors.clear();
    this.handshake = [];
    this.handshakeAt = 0;
    let lines = '';
    if (secret !== undefined && secret !== '') {
      lines += encodeAuth(secret);
      this.handshake.push(AUTH);
    }
    for (const [id, definition] of this.owner.hooks.indexes()) {
      lines += encodeOpen(id, definition);
      this.handshake.push(id);
    }
    if (lines === '') {
      // A request that requires a reply, because a dead listener accepts connections but never
      // replies.
      lines = PROBE_LINE;
      this.handshake.push(PROBE);
    }
    socket.write(lines, 'latin1');
    this.owner.pump();
  }

  /**
   * @param {Uint8Array} bytes
   * @returns {boolean} false: written or queued; do not write more until onWritable
   */
  write(bytes) {
    const socket = /** @type {Socket} */ (this.socket);
    // write() returns false for more bytes than the high-water mark, even if all are sent.
    this.awaitsDrain = !socket.write(bytes) && socket.writableLength > 0;
    return !this.awaitsDrain;
  }

  /**
   * @param {Socket} socket
   * @param {number} count bytes in the parser's target
   * @returns {boolean} whether to continue reading
   */
  onChunk(socket, count) {
    if (this.socket !== socket) return false;
    this.ticks.onActivity();
    try {
      /** @type {ReplyParser} */ (this.parser).advance(count);
    } catch (error) {
      // A callback may have closed the connection; the rest of the chunk is then ignored.
      if (this.socket === socket) this.drop(asProtocolError(error));
      return false;
    }
    if (this.socket === socket) this.owner.onRead(count);
    return true;
  }

  /**
   * Node calls it before each read; without a buffer it reuses the previous memory. Every attempt
   * to connect, one per address of the host, needs a buffer.
   * @param {ReplyParser} parser
   * @returns {Buffer | undefined}
   */
  nextTarget(parser) {
    return this.state === 'open'
      ? parser.resizeTarget(this.owner.sendQueue.replyBytes)
      : parser.target;
  }

  /**
   * @param {string} text
   * @param {number} start
   * @param {number} end
   */
  onHandshake(text, start, end) {
    const item = this.handshake[this.handshakeAt];
    if (isSuccess(text, start, end)) {
      decodeDone(text, start, end, 0);
    } else {
      const error = this.replyError(text, start, end, -1);
      // A wrong secret is fatal; a missing index is not.
      if (error.code === 'HS_AUTH') throw error;
      if (item >= 0) this.openErrors.set(item, error);
    }
    this.handshakeAt += 1;
    if (this.handshakeAt < this.handshake.length) return;
    this.failures = 0;
    this.ticks.startPhase('ready');
    this.owner.onReady();
  }

  /**
   * @param {string} text text of an error reply
   * @param {number} start
   * @param {number} end
   * @param {number} indexId index id of the request, -1 for none
   * @returns {HandlerSocketError}
   */
  replyError(text, start, end, indexId) {
    const { code, message } = decodeError(text, start, end);
    const cause = message === 'stmtnum' ? this.openErrors.get(indexId) : undefined;
    return serverError(code, message, this.address, cause);
  }

  /** Inactivity timeout: no bytes from the server. */
  onSilence() {
    const { limits, address } = this;
    if (this.state === 'connecting') {
      const text = `${address}: no connection within ${limits.connectTimeoutMs} ms`;
      this.drop(new HandlerSocketError('HS_CONNECT_TIMEOUT', text, { address }));
    } else if (this.ready) {
      const text = `${address}: no reply for ${limits.requestTimeoutMs} ms with requests in flight`;
      this.drop(new HandlerSocketError('HS_REQUEST_TIMEOUT', text, { address }));
    } else {
      const text =
        `${address} accepted the connection but did not reply within ` +
        `${limits.handshakeTimeoutMs} ms: not a HandlerSocket listener, or one that stopped ` +
        'working (then only a restart of the server helps)';
      this.drop(new HandlerSocketError('HS_HANDSHAKE_TIMEOUT', text, { address }));
    }
  }

  /**
   * @param {Socket} socket
   * @param {Error | null} cause
   */
  onClose(socket, cause) {
    if (this.socket !== socket) return;
    if (this.state === 'connecting') {
      this.onDisconnect(this.connectError(cause));
      return;
    }
    const { address } = this;
    const why = cause === null ? 'the server closed it' : cause.message;
    const text = `the connection to ${address} was lost: ${why}`;
    this.onDisconnect(new HandlerSocketError('HS_CONNECTION_LOST', text, { address, cause }));
  }

  /**
   * @param {Error | null} cause
   * @returns {HandlerSocketError}
   */
  connectError(cause) {
    if (cause instanceof HandlerSocketError) return cause;
    const { address } = this;
    const why = cause === null ? 'closed immediately' : cause.message;
    const text = `cannot connect to ${address}: ${why}`;
    return new HandlerSocketError('HS_CONNECT', text, { address, cause });
  }

  /**
   * Closes the connection because of an error detected by the client.
   * @param {HandlerSocketError} error
   */
  drop(error) {
    if (error.address === undefined) {
      error.address = this.address;
      error.message = `${this.address}: ${error.message}`;
    }
    this.onDisconnect(error);
  }

  /** @param {HandlerSocketError} error */
  onDisconnect(error) {
    const wasReady = this.ready;
    this.lastError = error;
    if (!wasReady) this.failures += 1;
    this.destroy();
    this.owner.onDisconnect(error, wasReady);
  }

  /** Destroys the socket, if any. */
  destroy() {
    const { socket } = this;
    this.socket = null;
    this.parser = null;
    this.handshake = [];
    this.handshakeAt = 0;
    clearTimeout(this.retryTimer);
    this.state = 'idle';
    if (socket !== null) socket.destroy();
  }

  /**
   * Schedules the next attempt to connect, or stops the timers.
   * @param {boolean} wanted
   */
  scheduleReconnect(wanted) {
    if (this.state !== 'idle') return;
    if (!wanted) {
      this.ticks.stop();
      return;
    }
    // Doubles from backoffMs to backoffMaxMs; waits a random 50 to 100 % of it, so that many
    // clients of one server do not reconnect at the same time.
    const { backoffMs, backoffMaxMs } = this.limits;
    const delay = Math.min(backoffMaxMs, backoffMs * 2 ** Math.min(this.failures, 20));
    this.state = 'waiting';
    this.ticks.startPhase('offline');
    this.retryTimer = setTimeout(() => this.connect(), delay * (0.5 + Math.random() / 2));
  }

  /** Cancels the next attempt; one in progress continues. */
  cancelReconnect() {
    if (this.state !== 'waiting') return;
    clearTimeout(this.retryTimer);
    this.state = 'idle';
    this.ticks.stop();
  }

  /**
   * Closes gracefully: FIN, then wait for the server to close. The owner is not notified.
   * @param {boolean} forGood no further attempts
   * @returns {Promise<void>} resolves when the socket is closed
   */
  async end(forGood) {
    const { socket } = this;
    this.socket = null;
    const wasOpen = this.state === 'open';
    this.destroy();
    this.ticks.stop();
    if (forGood) this.state = 'closed';
    if (socket === null || socket.destroyed) return;
    await new Promise((resolve) => {
      socket.once('close', resolve);
      if (wasOpen) socket.end(() => socket.destroy());
      else socket.destroy();
    });
  }
}

/**
 * @param {Error} error thrown while replies were read
 * @returns {HandlerSocketError}
 */
function asProtocolError(error) {
  if (error instanceof HandlerSocketError) return error;
  return new HandlerSocketError('HS_PROTOCOL', `unreadable reply: ${error.message}`, {
    cause: error,
  });
}

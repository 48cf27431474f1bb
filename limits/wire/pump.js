/**
 * The wire loop: keeps a number of encoded requests in flight on some connections, counts replies
 * and sends as many new requests. It decodes nothing.
 *
 * The first replies are decoded and compared with the dataset; after that every reply is framed,
 * and error replies and replies without a row are counted exactly.
 */

import { ROW_NAMES } from '../../lib/dataset.js';
import { DragstripError, targetError } from '../../lib/errors.js';
import { encodeRequests } from './requests.js';
import { WireSocket } from './wire-socket.js';

/** Replies per connection that are compared in full. */
const CHECKED = 64;
const WATCH_MS = 100;

/** @typedef {import('./protocol.js').WireProtocol} WireProtocol */
/** @typedef {import('../../protocols/framer.js').Framer} Framer */
/** @typedef {import('./requests.js').Requests} Requests */

/**
 * @typedef {object} PumpConnection one connection
 * @property {WireSocket} wire
 * @property {any} session
 * @property {Framer} framer
 * @property {Requests} requests
 * @property {number} next index of the next request
 * @property {number} seen replies that have been followed by new requests
 */

/**
 * @typedef {object} WirePoint result of one depth
 * @property {number} replies
 * @property {number} durationNs
 * @property {number} clientCpuNs user and system time of the whole period
 * @property {[fromNs: number, toNs: number] | null} serverCpu its CPU time since it started, before
 *   and after, of the whole run in proportion to these replies; null: unreadable
 */

/**
 * @typedef {object} WireCounts totals over the life of a pump
 * @property {number} sent
 * @property {number} replies equal to sent once drained
 * @property {number} errors
 * @property {number} misses
 * @property {number} checked
 */

/**
 * @typedef {object} PumpOptions
 * @property {WireProtocol} protocol
 * @property {import('../../lib/types.js').Endpoint} endpoint
 * @property {import('../../lib/types.js').Credentials} credentials
 * @property {import('../../lib/types.js').Dataset} dataset
 * @property {import('../../lib/types.js').NamespaceNames} [names] names of the rows; absent: the
 *   default
 * @property {number} connections
 * @property {number} stallMs the server has failed after this long without a reply
 * @property {import('../../measure/usage.js').Instruments} instruments
 * @property {readonly number[]} serverPids
 */

export class Pump {
  /** @type {PumpConnection[]} */
  connections = [];
  replies = 0;
  sent = 0;
  checked = 0;
  #issuing = false;
  #onReplies = () => {};
  /** @type {(error: Error) => void} */
  #onFailure = () => {};

  /** @param {PumpOptions} options */
  constructor(options) {
    this.options = options;
  }

  /**
   * Connects, greets, and compares the first replies of each connection.
   * @param {PumpOptions} options
   * @returns {Promise<Pump>}
   * @throws {DragstripError} E_TARGET: the server does not respond; E_INVALID: wrong rows
   */
  static async open(options) {
    const pump = new Pump(options);
    try {
      for (let i = 0; i < options.connections; i += 1) await pump.#openLane();
      return pump;
    } catch (error) {
      pump.close();
      throw error;
    }
  }

  async #openLane() {
    const { protocol, endpoint, credentials, dataset, names = ROW_NAMES } = this.options;
    const wire = new WireSocket(endpoint);
    /** @type {PumpConnection} */
    const connection = {
      wire,
      session: null,
      framer: protocol.createFramer({}, dataset),
      requests: { bytes: Buffer.alloc(0), offsets: new Uint32Array(1), ids: new Uint32Array(0) },
      next: 0,
      seen: 0,
    };
    this.connections.push(connection);
    connection.session = await protocol.greet(wire, credentials, names);
    connection.framer = protocol.createFramer(connection.session, dataset);
    // Most sessions encode identically, and share the requests of the first one.
    const [first] = this.connections;
    connection.requests =
      connection !== first && sameSession(first.session, connection.session)
        ? first.requests
        : encodeRequests((id) => protocol.encode(connection.session, id), dataset);
    await this.#check(connection);
    connection.wire.onBytes = (bytes, length) => this.#take(connection, bytes, length);
    connection.wire.onLost = (error) => this.#onFailure(error);
  }

  /** @param {PumpConnection} connection */
  async #check(connection) {
    const { protocol, dataset } = this.options;
    const { bytes, offsets, ids } = connection.requests;
    const count = Math.min(CHECKED, ids.length);
    let done = 0;
    /** @type {Buffer | null} */
    let request = bytes.subarray(0, offsets[count]);
    const read = (/** @type {Buffer} */ got) =>
      protocol.read(connection.session, got, 0, dataset.valueSize);
    while (done < count) {
      const reply = await connection.wire.ask(request, read);
      request = null;
      requireRow(reply, reply.id ?? ids[done], dataset, protocol.name);
      done += 1;
    }
    if (connection.wire.left > 0) throw invalid(protocol.name, 'more replies than requests');
    connection.next = count % ids.length;
    this.checked += count;
  }

  /** @param {PumpConnection} connection @param {Buffer} bytes @param {number} length */
  #take(connection, bytes, length) {
    const { framer } = connection;
    framer.feed(bytes, length);
    const fresh = framer.replies - connection.seen;
    if (fresh === 0) return;
    connection.seen = framer.replies;
    this.replies += fresh;
    if (this.#issuing) this.#send(connection, fresh);
    this.#onReplies();
  }

  /** @param {PumpConnection} connection @param {number} count */
  #send(connection, count) {
    const { bytes, offsets, ids } = connection.requests;
    const { socket } = connection.wire;
    let left = count;
    this.sent += count;
    while (left > 0) {
      const step = Math.min(left, ids.length - connection.next);
      const end = connection.next + step;
      socket.write(bytes.subarray(offsets[connection.next], offsets[end]));
      connection.next = end === ids.length ? 0 : end;
      left -= step;
    }
  }

  /**
   * Runs one depth: fills the pipelines, runs, measures, drains.
   * @param {{ depth: number, warmNs: number, measureNs: number }} point
   * @returns {Promise<WirePoint>}
   * @throws {DragstripError} E_TARGET: the server fails; E_INVALID: error replies or missing rows,
   *   since a ceiling of wrong replies is meaningless
   */
  async run({ depth, warmNs, measureNs }) {
    const { instruments, serverPids } = this.options;
    const { now } = instruments.clock;
    instruments.collectGarbage('all');
    // With several threads this takes a millisecond, during which the connections would be idle.
    const serverBefore = instruments.servers(serverPids);
    const repliesBefore = this.replies;
    let markNs = now() + warmNs;
    /** @type {{ ns: number, replies: number, clientCpuNs: number }[]} */
    const marks = [];
    await this.#drained(() => {
      this.#issuing = true;
      for (const connection of this.connections) this.#send(connection, depth);
      return () => {
        if (marks.length === 2 || now() < markNs) return;
        marks.push(this.#mark(instruments));
        markNs = now() + measureNs;
        if (marks.length === 2) this.#issuing = false;
      };
    });
    this.#requireRight();
    const [start, end] = marks;
    const replies = end.replies - start.replies;
    const { cpuNs: fromNs = null } = serverBefore ?? {};
    const { cpuNs: toNs = null } = instruments.servers(serverPids) ?? {};
    const share = replies / (this.replies - repliesBefore);
    return {
      replies,
      durationNs: end.ns - start.ns,
      clientCpuNs: end.clientCpuNs - start.clientCpuNs,
      serverCpu:
        fromNs === null || toNs === null
          ? null
          : [Math.round(fromNs), Math.round(fromNs + (toNs - fromNs) * share)],
    };
  }

  /** @param {import('../../measure/usage.js').Instruments} instruments */
  #mark(instruments) {
    const { userNs, systemNs } = instruments.cpu();
    return {
      ns: instruments.clock.now(),
      replies: this.replies,
      clientCpuNs: userNs + systemNs,
    };
  }

  /**
   * @param {() => () => void} start starts the reads; returns the callback for each read
   * @returns {Promise<void>} resolves when every request has been answered
   */
  async #drained(start) {
    const { stallMs } = this.options;
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    try {
      await new Promise((resolve, reject) => {
        this.#onFailure = reject;
        for (const { wire } of this.connections) if (wire.lost !== null) reject(wire.lost);
        const step = start();
        this.#onReplies = () => {
          step();
          if (!this.#issuing && this.replies === this.sent) resolve(undefined);
        };
        let seen = -1;
        let silentMs = 0;
        timer = setInterval(() => {
          silentMs = this.replies === seen ? silentMs + WATCH_MS : 0;
          seen = this.replies;
          if (silentMs >= stallMs) {
            const where = `${this.options.protocol.name} at ${this.connections[0]?.wire.where}`;
            reject(targetError(`${where}: no reply for ${stallMs / 1000} s`));
          }
        }, WATCH_MS);
      });
    } finally {
      clearInterval(timer);
      this.#issuing = false;
      this.#onReplies = () => {};
      this.#onFailure = () => {};
    }
  }

  /** @returns {WireCounts} */
  counts() {
    const sum = (/** @type {'replies' | 'errors' | 'misses'} */ field) =>
      this.connections.reduce((total, { framer }) => total + framer[field], 0);
    const { sent, checked } = this;
    return {
      sent,
      replies: sum('replies'),
      errors: sum('errors'),
      misses: sum('misses'),
      checked,
    };
  }

  #requireRight() {
    const { sent, replies, errors, misses } = this.counts();
    const { name } = this.options.protocol;
    if (replies !== sent) throw invalid(name, `${replies} replies to ${sent} requests`);
    if (errors > 0) throw invalid(name, `${errors} of ${replies} are error replies`);
    if (misses > 0) throw invalid(name, `${misses} of ${replies} have no row`);
  }

  close() {
    for (const { wire } of this.connections) wire.close();
  }
}

/** @param {any} a @param {any} b */
function sameSession(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * @param {import('./protocol.js').WireReply} reply
 * @param {number} id
 * @param {import('../../lib/types.js').Dataset} dataset
 * @param {string} name
 */
function requireRow({ value, error }, id, dataset, name) {
  if (error !== null) throw invalid(name, `row ${id}: ${error}`);
  if (value === null) throw invalid(name, `row ${id} is missing`);
  if (!dataset.matches(id, value)) throw invalid(name, `row ${id} differs from the dataset`);
}

/** @param {string} name @param {string} what */
function invalid(name, what) {
  return new DragstripError('E_INVALID', `server ceiling of ${name}: ${what}`, {
    hint: 'fill the server with the rows of this run: npx dragstrip seed',
  });
}

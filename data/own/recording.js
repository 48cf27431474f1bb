/**
 * A recording of clients' commands: MONITOR's lines become operations of a trace at once, bounded
 * in number. Keys are numbered in order of appearance; their names are kept in memory until the
 * sizes of their values have been read, and then discarded.
 */

import {
  KEYS_MAX,
  KEYS_PER_MGET_MAX,
  KINDS,
  OPERATIONS_MAX,
  TRACE_SCHEMA,
  TRACE_VERSION,
} from '../../lib/trace.js';
import { commandText } from '../../protocols/resp/command.js';
import { RespConnection } from '../connections/redis.js';
import { bytesOf, MonitorConnection, parseMonitorLine, unquote } from './monitor.js';

/** @typedef {import('../../lib/trace.js').Trace} Trace */
/** @typedef {import('../../lib/trace.js').TraceOperation} TraceOperation */
/** @typedef {import('../../lib/types.js').ConnectionContext} ConnectionContext */

/** Maximum number of command names that are counted separately; a server has about 400. */
const NAMES_MAX = 500;
/** Longer words are not command names, and are not kept. */
const NAME = /^[a-z][a-z._-]{0,30}$/i;
const BATCH = 256;
const [GET, SET, MGET] = KINDS.keys();

export class Recording {
  /** @param {{ limit?: number }} [how] limit: maximum operations */
  constructor({ limit = OPERATIONS_MAX } = {}) {
    this.limit = limit;
    /** @type {TraceOperation[]} */
    this.operations = [];
    /** @type {Map<string, number>} by quoted name */
    this.keys = new Map();
    /** @type {number[]} size by key: from the first SET, if that came before a read */
    this.written = [];
    /** @type {Record<string, number>} */
    this.leftOut = Object.create(null);
    this.names = 0;
    this.startUs = -1;
    this.lastUs = 0;
    this.isFull = false;
    /** @type {(error?: Error) => void} */
    this.end = () => {};
    /** Resolves when it is full; rejects when the connection is lost. @type {Promise<void>} */
    this.ended = new Promise((resolve, reject) => {
      this.end = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.ended.catch(() => {});
    /** @type {ConnectionContext | null} */
    this.context = null;
    /** @type {MonitorConnection | null} */
    this.connection = null;
  }

  /**
   * @param {ConnectionContext} context
   * @param {{ limit?: number }} [how]
   * @returns {Promise<Recording>} a recording in progress
   * @throws {import('../../lib/errors.js').DragstripError} E_TARGET
   */
  static async open(context, how) {
    const recording = new Recording(how);
    const connection = /** @type {MonitorConnection} */ (
      await RespConnection.connect(context, undefined, MonitorConnection)
    );
    recording.context = context;
    recording.connection = connection;
    connection.onLost = (error) => recording.end(error);
    try {
      await connection.monitor((line) => recording.take(line));
    } catch (error) {
      connection.close();
      throw error;
    }
    return recording;
  }

  /** @param {string} line line of MONITOR */
  take(line) {
    if (this.isFull) return;
    const parsed = parseMonitorLine(line);
    if (parsed === null) return;
    const { atUs, isScript, words } = parsed;
    if (this.startUs < 0) this.startUs = atUs;
    // The server's clock may be set back; a trace must not go back.
    this.lastUs = Math.max(this.lastUs, atUs - this.startUs);
    const operation = isScript ? null : this.operationOf(words);
    if (operation !== null) this.operations.push(operation);
    else this.leave(isScript ? 'commands in scripts' : nameOf(words));
    if (this.operations.length < this.limit) return;
    this.isFull = true;
    this.end();
  }

  /**
   * @param {readonly string[]} words
   * @returns {TraceOperation | null} null: it cannot be replayed
   */
  operationOf(words) {
    const name = words[0].toUpperCase();
    const at = this.lastUs;
    if (name === 'GET' && words.length === 2)
      return this.withKeys([words[1]], ([key]) => [at, GET, key]);
    if (name === 'MGET' && words.length > 1 && words.length <= KEYS_PER_MGET_MAX) {
      return this.withKeys(words.slice(1), (keys) => [at, MGET, keys]);
    }
    const value = writtenBy(name, words);
    if (value === null) return null;
    const bytes = bytesOf(value);
    return this.withKeys([words[1]], ([key]) => {
      this.written[key - 1] ??= bytes;
      return [at, SET, key, bytes];
    });
  }

  /**
   * @param {readonly string[]} quoted
   * @param {(keys: number[]) => TraceOperation} make
   * @returns {TraceOperation | null} null: too many keys
   */
  withKeys(quoted, make) {
    const fresh = quoted.filter((one) => !this.keys.has(one)).length;
    if (this.keys.size + fresh > KEYS_MAX) return null;
    const keys = quoted.map((one) => {
      const known = this.keys.get(one);
      if (known !== undefined) return known;
      const made = this.keys.size + 1;
      this.keys.set(one, made);
      return made;
    });
    return make(keys);
  }

  /** @param {string} name */
  leave(name) {
    const isNew = this.leftOut[name] === undefined;
    if (isNew) this.names += 1;
    const own = isNew && this.names > NAMES_MAX ? 'others' : name;
    this.leftOut[own] = (this.leftOut[own] ?? 0) + 1;
  }

  /** @returns {Record<string, number>} number of operations by kind */
  countsByKind() {
    const counts = KINDS.map(() => 0);
    for (const [, kind] of this.operations) counts[kind] += 1;
    const pairs = KINDS.map((name, i) => /** @type {const} */ ([name.toUpperCase(), counts[i]]));
    return Object.fromEntries(pairs.filter(([, n]) => n > 0));
  }

  /**
   * Ends MONITOR, reads the sizes of values, and discards the keys.
   * @param {string} recordedAt
   * @returns {Promise<Trace>}
   * @throws {import('../../lib/errors.js').DragstripError} E_TARGET
   */
  async finish(recordedAt) {
    const { connection, context, keys, written } = this;
    if (connection !== null) {
      connection.onLost = null;
      connection.close();
      if (connection.tooLong > 0) this.leftOut['longer than 32 MiB'] = connection.tooLong;
    }
    const now = context === null ? [] : await sizesOf(context, [...keys.keys()]);
    keys.clear();
    return {
      schema: TRACE_SCHEMA,
      version: TRACE_VERSION,
      recordedAt,
      durationUs: this.lastUs,
      // Determines a key's size when it was first read or written; the current size approximates it
      // for a read.
      sizes: Array.from(now, (bytes, i) => (bytes < 0 ? (written[i] ?? -1) : bytes)),
      operations: this.operations,
      leftOut: { ...this.leftOut },
    };
  }
}

/**
 * @param {string} name upper-case name
 * @param {readonly string[]} words
 * @returns {string | null} the quoted value of a command that replaces one; null: another command
 */
function writtenBy(name, words) {
  if (name === 'SET' && words.length >= 3) {
    const options = words.slice(3).map((word) => word.toUpperCase());
    // NX, XX and GET have other replies and effects.
    const isPlain = options.every((word) => /^(EX|PX|EXAT|PXAT|KEEPTTL|\d+)$/.test(word));
    return isPlain ? words[2] : null;
  }
  const isTimed = (name === 'SETEX' || name === 'PSETEX') && words.length === 4;
  return isTimed ? words[3] : null;
}

/**
 * @param {readonly string[]} words
 * @returns {string} key of the count: the name, for SET with the unsupported option
 */
function nameOf(words) {
  const name = NAME.test(words[0]) ? words[0].toUpperCase() : 'others';
  if (name !== 'SET') return name;
  const option = words.slice(3).find((word) => /^(NX|XX|GET)$/i.test(word));
  return option === undefined ? 'SET' : `SET ${option.toUpperCase()}`;
}

/**
 * @param {ConnectionContext} context
 * @param {readonly string[]} quoted names of keys
 * @returns {Promise<number[]>} bytes of each value; -1: none, or not a string
 */
async function sizesOf(context, quoted) {
  if (quoted.length === 0) return [];
  const connection = await RespConnection.connect(context);
  /** @type {number[]} */
  const sizes = [];
  try {
    for (let at = 0; at < quoted.length; at += BATCH) {
      const names = quoted.slice(at, at + BATCH).map(unquote);
      const ask = (/** @type {string} */ command, /** @type {readonly string[]} */ some) =>
        connection.batch(encode(command, some), some.length, true);
      const types = await ask('TYPE', names);
      const strings = names.filter((_, i) => types[i] === 'string');
      const lengths = strings.length === 0 ? [] : await ask('STRLEN', strings);
      let next = 0;
      for (const type of types) sizes.push(type === 'string' ? lengths[next++] : -1);
    }
  } finally {
    connection.close();
  }
  return sizes;
}

/**
 * @param {string} command
 * @param {readonly string[]} names binary strings
 */
function encode(command, names) {
  const head = commandText([command]).replace('*1', '*2');
  const texts = names.map((name) => `${head}$${name.length}\r\n${name}\r\n`);
  return Buffer.from(texts.join(''), 'latin1');
}

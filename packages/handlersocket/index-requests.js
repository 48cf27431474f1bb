/**
 * The parts of an open index: its request types, and the steps of a request from the caller's
 * arguments to a connection: check, encode, send. The operations are in open-index.js.
 */

import { argumentError } from './handlersocket-error.js';
import { abortedError, limited } from './limited.js';
import {
  decodeCount,
  decodeInsert,
  keepsBytes,
  objectsDecoder,
  rowDecoder,
  rowsDecoder,
  valueDecoder,
} from './reply-values.js';
import { encodeFind, encodeInsert, findHead } from './request-lines.js';
import { capturedResolve, describeCallback, newPromise, RequestTypePair } from './request-type.js';
import * as validate from './validate.js';

/** @typedef {import('./reply-values.js').Decode} Decode */
/** @typedef {import('./reply-values.js').DecodedType} DecodedType */
/** @typedef {import('./request-lines.js').FindTokens} FindTokens */
/** @typedef {import('./request-lines.js').IndexDefinition} IndexDefinition */
/** @typedef {import('./request-lines.js').Value} Value */
/** @typedef {import('./request-lines.js').Encoding} Encoding */
/** @typedef {import('./reply-values.js').Field} Field */
/** @typedef {import('./reply-values.js').Row} Row */
/**
 * @typedef {import('./handlersocket-error.js').HandlerSocketError
 *   } HandlerSocketError
 */
/** @typedef {Value | readonly Value[]} Key one value, or one per leading key part */

/**
 * @template T
 * @typedef {(error: HandlerSocketError | null, result?: T) => void} Callback called once, never
 *   from inside the call
 */

/**
 * @typedef {object} Filter
 * @property {string} column a filter column of the open index
 * @property {'=' | '!=' | '>' | '>=' | '<' | '<='} op NULL equals NULL and is less than all other
 *   values
 * @property {Value} value
 * @property {boolean} [stop] end the scan at the first row that does not match, instead of skipping
 *   it
 */

/**
 * @typedef {object} FindOptions
 * @property {number} [limit] maximum rows, 1 to 4294967295; 1, with `in` the length of its list
 * @property {number} [offset] rows to skip; limit + offset at most 4294967295
 * @property {{ part?: number, values: readonly Value[] }} [in] at most one row per value, which
 *   replaces key part `part` (0) of the key
 * @property {readonly Filter[]} [filters] all filters must match
 * @property {AbortSignal} [signal] rejects with HS_ABORTED; a sent change may still be executed
 * @property {number} [timeoutMs] time limit of this request; rejects with HS_REQUEST_TIMEOUT
 */

/**
 * @typedef {object} IndexParts
 * @property {number} id
 * @property {IndexDefinition} definition
 * @property {DecodedType[]} types types of the columns
 * @property {Encoding} keyEncoding
 * @property {import('./connection-pool.js').Pool} readPool
 * @property {import('./client.js').HandlerSocketClient} client
 * @property {string} name name of the definition in the client
 */

/** From this limit on a reply is assumed to be large until one is received. */
const LARGE_LIMIT = 1000;
/** First estimate of a row's bytes. */
const ROW_BYTES_GUESS = 64;

export class IndexRequests {
  /** @param {IndexParts} parts */
  constructor({ id, definition, types, keyEncoding, readPool, client, name }) {
    /** -1: closed */
    this.id = id;
    this.name = name;
    this.keepBytes = types.some(keepsBytes);
    this.definition = definition;
    this.columns = definition.columns;
    this.types = types;
    this.client = client;
    /** @type {import('./connection-pool.js').Pool} */
    this.readPool = readPool;
    this.keyEncoding = keyEncoding;
    /** @type {Encoding[]} encoding of strings per column */
    this.encodings = types.map((type) => (type.startsWith('latin1') ? 'latin1' : 'utf8'));
    /** the bytes of a find by one key part, up to the key */
    this.head = findHead(id);
    const changes = true;
    /** mean bytes of the replies to finds of a large limit; undefined before the first */
    this.largeBytes = /** @type {number | undefined} */ (undefined);
    this.requestTypes = {
      value: new RequestTypePair(valueDecoder(types), id),
      row: new RequestTypePair(rowDecoder(types), id),
      rows: new RequestTypePair(rowsDecoder(types), id),
      manyRows: new RequestTypePair(this.learning(rowsDecoder(types)), id),
      objects: new RequestTypePair(objectsDecoder(definition.columns, types), id),
      count: new RequestTypePair(decodeCount, id, changes),
      oldRows: new RequestTypePair(rowsDecoder(types), id, changes),
      insert: new RequestTypePair(decodeInsert, id, changes),
    };
  }

  /**
   * The hot path, where only the encoder checks values.
   * @param {RequestTypePair} pair
   * @param {Value} key
   * @param {Callback<any>} [callback]
   * @returns {any}
   */
  findByKey(pair, key, callback) {
    try {
      const connection = this.readPool.pick();
      if (callback === undefined) {
        const promise = newPromise();
        connection.sendKey(this.head, key, this.keyEncoding, pair.promise, capturedResolve());
        return promise;
      }
      if (typeof callback !== 'function') throw argumentError(describeCallback(callback));
      connection.sendKey(this.head, key, this.keyEncoding, pair.callback, callback);
    } catch (error) {
      return refused(error, callback);
    }
  }

  /**
   * @param {RequestTypePair} pair
   * @param {() => string} encode returns the line, or throws
   * @param {import('./limited.js').WaitOptions} options
   * @param {Callback<any>} [callback]
   * @param {number} [weight]
   * @returns {any}
   */
  request(pair, encode, options, callback, weight) {
    try {
      this.checkOpen();
      const line = encode();
      const { change } = pair.promise;
      const pool = change ? this.client.poolForChange(this) : this.readPool;
      const connection = pool.pick();
      if (callback !== undefined) {
        checkCallback(callback, options);
        connection.sendLine(line, pair.callback, callback, weight);
        return;
      }
      if (options.signal?.aborted) throw abortedError(options.signal, false);
      const promise = newPromise();
      connection.sendLine(line, pair.promise, capturedResolve(), weight);
      return limited(promise, options, change);
    } catch (error) {
      return refused(error, callback);
    }
  }

  /**
   * @param {RequestTypePair} pair
   * @param {string} op
   * @param {Key} key
   * @param {FindOptions} options
   * @param {string} mod
   * @param {readonly Value[]} values
   * @returns {Promise<any>}
   */
  change(pair, op, key, options, mod, values) {
    return this.request(pair, () => this.changeLine(op, key, options, mod, values), options);
  }

  /** A find on a released id would read a different table. */
  checkOpen() {
    if (this.id < 0) throw argumentError('the index was closed');
  }

  /**
   * Finds with a large limit are sent one by one until the size of replies is known, because the
   * server would buffer all replies.
   * @param {FindOptions} options
   * @returns {number | undefined} estimated bytes of the reply; undefined: as for previous ones
   */
  weigh({ limit = 1 }) {
    if (limit < LARGE_LIMIT) return undefined;
    return this.largeBytes ?? Math.min(limit * ROW_BYTES_GUESS, 2 ** 30);
  }

  /**
   * @param {Decode} decode
   * @returns {Decode} request type that also measures the length of replies
   */
  learning(decode) {
    return (text, start, end, flags) => {
      const bytes = end - start;
      const mean = this.largeBytes ?? bytes;
      // Increases immediately, decreases slowly: too few in flight cost less than too many.
      this.largeBytes = bytes > mean ? bytes : mean * 0.9 + bytes * 0.1;
      return decode(text, start, end, flags);
    };
  }

  /**
   * @param {string} op
   * @param {Key} key
   * @param {FindOptions} options
   * @returns {string}
   */
  findLine(op, key, options) {
    return encodeFind(this.id, this.findTokens(op, key, options));
  }

  /**
   * @param {string} op
   * @param {Key} key
   * @param {FindOptions} options
   * @param {string} mod
   * @param {readonly Value[]} values
   * @returns {string}
   */
  changeLine(op, key, options, mod, values) {
    const tokens = this.findTokens(op, key, options);
    if (mod[0] !== 'D') validate.checkChange(values, this.columns, mod[0]);
    return encodeFind(this.id, { ...tokens, mod, values, encodings: this.encodings });
  }

  /**
   * @param {readonly Value[]} values
   * @returns {string}
   */
  insertLine(values) {
    validate.checkInsert(values, this.columns);
    return encodeInsert(this.id, values, this.encodings);
  }

  /**
   * @param {string} op
   * @param {Key} key
   * @param {FindOptions} options
   * @returns {FindTokens}
   */
  findTokens(op, key, options) {
    validate.checkFindOp(op);
    const parts = /** @type {readonly Value[]} */ (Array.isArray(key) ? key : [key]);
    validate.checkKey(parts);
    const list = options.in;
    const { limit = list?.values?.length || 1, offset = 0, filters = [] } = options;
    validate.checkLimit(limit, offset);
    if (list !== undefined) validate.checkIn(list, parts.length, limit);
    const allowed = this.definition.filters ?? [];
    return {
      op,
      key: parts,
      limit,
      offset,
      in: list && { part: list.part ?? 0, values: list.values },
      filters: filters.map((filter) => {
        const column = validate.checkFilter(filter, allowed);
        return { type: filter.stop ? 'W' : 'F', op: filter.op, column, value: filter.value };
      }),
      keyEncoding: this.keyEncoding,
    };
  }
}

/**
 * @param {unknown} callback
 * @param {import('./limited.js').WaitOptions} options
 */
function checkCallback(callback, options) {
  if (typeof callback !== 'function') throw argumentError(describeCallback(callback));
  if (options.signal === undefined && options.timeoutMs === undefined) return;
  throw argumentError('signal and timeoutMs go with promises, not with a callback');
}

/**
 * @param {unknown} error
 * @param {unknown} callback
 * @returns {Promise<never> | void}
 */
function refused(error, callback) {
  if (typeof callback !== 'function') return Promise.reject(error);
  process.nextTick(callback, error);
}

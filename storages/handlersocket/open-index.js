/**
 * An open index: the operations of a table through one of its keys. Each takes a callback as its
 * last argument, or gives a promise without one. Nothing here waits: requests go to a connection of
 * the client's pools, in the flight of the tick.
 */

import { encodeFind, encodeInsert } from './codec.js';
import { argumentError } from './errors.js';
import { abortedError, limited } from './limited.js';
import { capturedSink, describeCallback, newPromise, PlanPair } from './plan.js';
import {
  decodeCount,
  decodeInsert,
  keepsBytes,
  objectsDecoder,
  rowDecoder,
  rowsDecoder,
  valueDecoder,
} from './reply.js';
import { scanRows } from './scan.js';
import * as validate from './validate.js';

/** @typedef {import('./codec.js').Value} Value */
/** @typedef {import('./codec.js').Encoding} Encoding */
/** @typedef {import('./reply.js').Field} Field */
/** @typedef {import('./reply.js').Row} Row */
/** @typedef {import('./reply.js').ColumnType} ColumnType */
/** @typedef {import('./errors.js').HandlerSocketError} HandlerSocketError */
/** @typedef {Value | readonly Value[]} Key one value, or one for each of the first key parts */

/**
 * @template T
 * @typedef {(error: HandlerSocketError | null, result?: T) => void} Callback called once, never
 *   from inside the call
 */

/**
 * @typedef {object} Filter
 * @property {string} column one of the filters that the index was opened with
 * @property {'=' | '!=' | '>' | '>=' | '<' | '<='} op NULL equals NULL, and is below all else
 * @property {Value} value
 * @property {boolean} [stop] end the scan at the first row that does not match, instead of leaving
 *   it out
 */

/**
 * @typedef {object} FindOptions
 * @property {number} [limit] rows at most, 1 to 4294967295; 1, with `in` the length of its list
 * @property {number} [offset] rows to leave out first; limit + offset at most 4294967295
 * @property {{ part?: number, values: readonly Value[] }} [in] one row at most for each value, put
 *   in the place of key part `part` (0); the value in the key there is ignored
 * @property {readonly Filter[]} [filters] all must match
 * @property {AbortSignal} [signal] rejects with HS_ABORTED; a change that was sent may be executed
 * @property {number} [timeoutMs] for this request; rejects with HS_REQUEST_TIMEOUT
 */

/**
 * @typedef {object} IndexParts
 * @property {number} id
 * @property {import('./codec.js').IndexDefinition} definition
 * @property {ColumnType[]} types of the columns
 * @property {Encoding} keyEncoding
 * @property {import('./pool.js').Pool} readPool
 * @property {import('./client.js').HandlerSocketClient} client
 * @property {string} name of the definition, in the client's list
 */

/** From this limit on a reply is taken to be large until one has come. */
const LARGE_LIMIT = 1000;
/** First estimate of a row's bytes. */
const ROW_BYTES_GUESS = 64;

export class OpenIndex {
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
    /** @type {import('./pool.js').Pool} */
    this.readPool = readPool;
    this.keyEncoding = keyEncoding;
    /** @type {Encoding[]} how strings of each column are sent */
    this.encodings = types.map((type) => (type === 'latin1' ? 'latin1' : 'utf8'));
    /** the bytes of a find by one key part, up to the key */
    this.head = Buffer.from(`${id}\t=\t1\t`, 'latin1');
    const changes = true;
    this.plans = {
      value: new PlanPair(valueDecoder(types), id),
      row: new PlanPair(rowDecoder(types), id),
      rows: new PlanPair(rowsDecoder(types), id),
      objects: new PlanPair(objectsDecoder(definition.columns, types), id),
      count: new PlanPair(decodeCount, id, changes),
      oldRows: new PlanPair(rowsDecoder(types), id, changes),
      insert: new PlanPair(decodeInsert, id, changes),
    };
  }

  /**
   * The first column of the row with this key: the leanest call there is. Of several rows with the
   * key, the first. Gives undefined where there is none, null for NULL.
   * @overload
   * @param {Value} key value of the first key part
   * @returns {Promise<Field | undefined>}
   */
  /**
   * @overload
   * @param {Value} key
   * @param {Callback<Field | undefined>} callback
   * @returns {void}
   */
  /**
   * @param {Value} key
   * @param {Callback<any>} [callback]
   * @returns {any}
   */
  value(key, callback) {
    return this.findByKey(this.plans.value, key, callback);
  }

  /**
   * The row with this key, as an array in the order of the columns; undefined where there is none.
   * @overload
   * @param {Key} key
   * @returns {Promise<Row | undefined>}
   */
  /**
   * @overload
   * @param {Key} key
   * @param {Callback<Row | undefined>} callback
   * @returns {void}
   */
  /**
   * @param {Key} key
   * @param {Callback<any>} [callback]
   * @returns {any}
   */
  get(key, callback) {
    if (!Array.isArray(key)) {
      return this.findByKey(this.plans.row, /** @type {Value} */ (key), callback);
    }
    return this.request(this.plans.row, () => this.findLine('=', key, {}), {}, callback);
  }

  /**
   * The rows from a key on: `>` and `>=` walk the index up, `<` and `<=` walk it down.
   * @overload
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {FindOptions} [options]
   * @returns {Promise<Row[]>} arrays in the order of the columns
   */
  /**
   * @overload
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {FindOptions} options without signal and timeoutMs
   * @param {Callback<Row[]>} callback
   * @returns {void}
   */
  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {FindOptions} [options]
   * @param {Callback<any>} [callback]
   * @returns {any}
   */
  find(op, key, options = {}, callback) {
    const weight = this.weigh(options);
    return this.request(
      this.plans.rows,
      () => this.findLine(op, key, options),
      options,
      callback,
      weight,
    );
  }

  /**
   * find, with rows as objects by column name, all of the same shape.
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {FindOptions} [options]
   * @returns {Promise<Record<string, Field>[]>}
   */
  findObjects(op, key, options = {}) {
    const line = () => this.findLine(op, key, options);
    return this.request(this.plans.objects, line, options, undefined, this.weigh(options));
  }

  /**
   * Walks the index without holding more than two pages: see scan.js.
   * @param {import('./scan.js').ScanOptions} [options]
   * @returns {AsyncGenerator<Row, void, undefined>}
   */
  scan(options = {}) {
    return scanRows(this, options);
  }

  /**
   * Inserts a row. No strict mode, no triggers, no CHECK, see docs/handlersocket.md.
   * @overload
   * @param {readonly Value[]} values one for each column, in their order
   * @param {import('./limited.js').WaitOptions} [options]
   * @returns {Promise<number | bigint | undefined>} the id that AUTO_INCREMENT gave (bigint from
   *   2^53 on); 0 where the id was given; undefined for a table without
   */
  /**
   * @overload
   * @param {readonly Value[]} values
   * @param {import('./limited.js').WaitOptions} options without signal and timeoutMs
   * @param {Callback<number | bigint | undefined>} callback
   * @returns {void}
   */
  /**
   * @param {readonly Value[]} values
   * @param {import('./limited.js').WaitOptions} [options]
   * @param {Callback<any>} [callback]
   * @returns {any}
   */
  insert(values, options = {}, callback) {
    return this.request(this.plans.insert, () => this.insertLine(values), options, callback);
  }

  /**
   * Sets every column of the rows found.
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} values one for each column
   * @param {FindOptions} [options] limit is 1 unless given
   * @returns {Promise<number>} rows matched, also those that had the values already
   */
  update(op, key, values, options = {}) {
    return this.change(this.plans.count, op, key, options, 'U', values);
  }

  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} values
   * @param {FindOptions} [options]
   * @returns {Promise<Row[]>} the rows as they were before
   */
  updateReturning(op, key, values, options = {}) {
    return this.change(this.plans.oldRows, op, key, options, 'U?', values);
  }

  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {FindOptions} [options] limit is 1 unless given
   * @returns {Promise<number>} rows removed
   */
  remove(op, key, options = {}) {
    return this.change(this.plans.count, op, key, options, 'D', []);
  }

  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {FindOptions} [options]
   * @returns {Promise<Row[]>} the rows that were removed
   */
  removeReturning(op, key, options = {}) {
    return this.change(this.plans.oldRows, op, key, options, 'D?', []);
  }

  /**
   * Adds to each column, in 64-bit integers; null leaves a column as it is.
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} steps one for each column: whole numbers
   * @param {FindOptions} [options] limit is 1 unless given
   * @returns {Promise<number>} rows matched
   */
  increment(op, key, steps, options = {}) {
    return this.change(this.plans.count, op, key, options, '+', steps);
  }

  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} steps
   * @param {FindOptions} [options]
   * @returns {Promise<Row[]>} the rows as they were before
   */
  incrementReturning(op, key, steps, options = {}) {
    return this.change(this.plans.oldRows, op, key, options, '+?', steps);
  }

  /**
   * Subtracts; a row where a column would change its sign is left as it is and not counted.
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} steps
   * @param {FindOptions} [options]
   * @returns {Promise<number>} rows changed
   */
  decrement(op, key, steps, options = {}) {
    return this.change(this.plans.count, op, key, options, '-', steps);
  }

  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} steps
   * @param {FindOptions} [options]
   * @returns {Promise<Row[]>} the rows as they were before
   */
  decrementReturning(op, key, steps, options = {}) {
    return this.change(this.plans.oldRows, op, key, options, '-?', steps);
  }

  /** Gives the index' id back; the server keeps the table open until the connections close. */
  close() {
    this.client.closeIndex(this);
  }

  /**
   * The hot path: nothing is checked that the encoder does not check anyway.
   * @param {PlanPair} pair
   * @param {Value} key
   * @param {Callback<any>} [callback]
   * @returns {any}
   */
  findByKey(pair, key, callback) {
    try {
      const connection = this.readPool.pick();
      if (callback === undefined) {
        const promise = newPromise();
        connection.sendKey(this.head, key, this.keyEncoding, pair.promise, capturedSink());
        return promise;
      }
      if (typeof callback !== 'function') throw argumentError(describeCallback(callback));
      connection.sendKey(this.head, key, this.keyEncoding, pair.callback, callback);
    } catch (error) {
      return refused(error, callback);
    }
  }

  /**
   * @param {PlanPair} pair
   * @param {() => string} encode gives the line, or throws
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
      connection.sendLine(line, pair.promise, capturedSink(), weight);
      return limited(promise, options, change);
    } catch (error) {
      return refused(error, callback);
    }
  }

  /**
   * @param {PlanPair} pair
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

  /** A find on an id that was given back would read another table. */
  checkOpen() {
    if (this.id < 0) throw argumentError('the index was closed');
  }

  /**
   * @param {FindOptions} options
   * @returns {number | undefined} estimated bytes of the reply; undefined: as the last ones
   */
  weigh({ limit = 1 }) {
    return limit < LARGE_LIMIT ? undefined : Math.min(limit * ROW_BYTES_GUESS, 2 ** 30);
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
   * @returns {import('./codec.js').FindTokens}
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

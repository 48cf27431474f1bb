/**
 * An open index: the operations of a table through one of its keys. Each accepts a callback as its
 * last argument, or returns a promise without one. Requests are sent on a connection of the
 * client's pools in the flight of the tick.
 */

import { IndexRequests } from './index-requests.js';
import { scanRows } from './scan.js';

/** @typedef {import('./request-lines.js').Value} Value */
/** @typedef {import('./reply-values.js').Field} Field */
/** @typedef {import('./reply-values.js').Row} Row */
/** @typedef {import('./index-requests.js').Key} Key */
/** @typedef {import('./index-requests.js').FindOptions} FindOptions */
/**
 * @template T
 * @typedef {import('./index-requests.js').Callback<T>} Callback
 */

export class OpenIndex extends IndexRequests {
  /**
   * Returns the first column of the first row with this key; the fastest call. undefined if there
   * is no such row, null for NULL.
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
    return this.findByKey(this.requestTypes.value, key, callback);
  }

  /**
   * Returns the row with this key as an array in the order of the columns; undefined if there is
   * none.
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
      return this.findByKey(this.requestTypes.row, /** @type {Value} */ (key), callback);
    }
    return this.request(this.requestTypes.row, () => this.findLine('=', key, {}), {}, callback);
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
    const pair = weight === undefined ? this.requestTypes.rows : this.requestTypes.manyRows;
    const line = () => this.findLine(op, key, options);
    return this.request(pair, line, options, callback, weight);
  }

  /**
   * Like find, with rows as objects by column name, all of the same shape.
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {FindOptions} [options]
   * @returns {Promise<Record<string, Field>[]>}
   */
  findObjects(op, key, options = {}) {
    const line = () => this.findLine(op, key, options);
    return this.request(this.requestTypes.objects, line, options, undefined, this.weigh(options));
  }

  /**
   * Walks the index with at most two pages in memory: see scan.js.
   * @param {import('./scan.js').ScanOptions} [options]
   * @returns {AsyncGenerator<Row, void, undefined>}
   */
  scan(options = {}) {
    return scanRows(this, options);
  }

  /**
   * Inserts a row. No strict mode, no triggers, no CHECK, see README.md.
   * @overload
   * @param {readonly Value[]} values one per column, in order
   * @param {import('./limited.js').WaitOptions} [options]
   * @returns {Promise<number | bigint | undefined>} the id assigned by AUTO_INCREMENT (bigint from
   *   2^53 on); 0 if the caller set the id; undefined without AUTO_INCREMENT
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
    return this.request(this.requestTypes.insert, () => this.insertLine(values), options, callback);
  }

  /**
   * Sets every column of the matching rows.
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} values one per column
   * @param {FindOptions} [options] limit: 1 by default
   * @returns {Promise<number>} rows matched, including those that already had the values
   */
  update(op, key, values, options = {}) {
    return this.change(this.requestTypes.count, op, key, options, 'U', values);
  }

  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} values
   * @param {FindOptions} [options]
   * @returns {Promise<Row[]>} the previous rows
   */
  updateReturning(op, key, values, options = {}) {
    return this.change(this.requestTypes.oldRows, op, key, options, 'U?', values);
  }

  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {FindOptions} [options] limit: 1 by default
   * @returns {Promise<number>} number of removed rows
   */
  remove(op, key, options = {}) {
    return this.change(this.requestTypes.count, op, key, options, 'D', []);
  }

  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {FindOptions} [options]
   * @returns {Promise<Row[]>} the removed rows
   */
  removeReturning(op, key, options = {}) {
    return this.change(this.requestTypes.oldRows, op, key, options, 'D?', []);
  }

  /**
   * Adds to each column, in 64-bit integers; null leaves a column as it is.
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} steps integers, one per column
   * @param {FindOptions} [options] limit: 1 by default
   * @returns {Promise<number>} rows matched
   */
  increment(op, key, steps, options = {}) {
    return this.change(this.requestTypes.count, op, key, options, '+', steps);
  }

  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} steps
   * @param {FindOptions} [options]
   * @returns {Promise<Row[]>} the previous rows
   */
  incrementReturning(op, key, steps, options = {}) {
    return this.change(this.requestTypes.oldRows, op, key, options, '+?', steps);
  }

  /**
   * Subtracts; a row in which a column would change its sign is not changed and not counted.
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} steps
   * @param {FindOptions} [options]
   * @returns {Promise<number>} number of changed rows
   */
  decrement(op, key, steps, options = {}) {
    return this.change(this.requestTypes.count, op, key, options, '-', steps);
  }

  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} steps
   * @param {FindOptions} [options]
   * @returns {Promise<Row[]>} the previous rows
   */
  decrementReturning(op, key, steps, options = {}) {
    return this.change(this.requestTypes.oldRows, op, key, options, '-?', steps);
  }

  /** Releases the id of the index; the server keeps the table open until the connections close. */
  close() {
    this.client.closeIndex(this);
  }
}

/**
 * An open index: the operations of a table through one of its keys. Each takes a callback as its
 * last argument, or gives a promise without one. Nothing here waits: requests go to a connection of
 * the client's pools, in the flight of the tick.
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
    return this.findByKey(this.requestTypes.value, key, callback);
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
   * find, with rows as objects by column name, all of the same shape.
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
   * Walks the index without holding more than two pages: see scan.js.
   * @param {import('./scan.js').ScanOptions} [options]
   * @returns {AsyncGenerator<Row, void, undefined>}
   */
  scan(options = {}) {
    return scanRows(this, options);
  }

  /**
   * Inserts a row. No strict mode, no triggers, no CHECK, see README.md.
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
    return this.request(this.requestTypes.insert, () => this.insertLine(values), options, callback);
  }

  /**
   * Sets every column of the rows found.
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} values one for each column
   * @param {FindOptions} [options] limit is 1 unless given
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
   * @returns {Promise<Row[]>} the rows as they were before
   */
  updateReturning(op, key, values, options = {}) {
    return this.change(this.requestTypes.oldRows, op, key, options, 'U?', values);
  }

  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {FindOptions} [options] limit is 1 unless given
   * @returns {Promise<number>} rows removed
   */
  remove(op, key, options = {}) {
    return this.change(this.requestTypes.count, op, key, options, 'D', []);
  }

  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {FindOptions} [options]
   * @returns {Promise<Row[]>} the rows that were removed
   */
  removeReturning(op, key, options = {}) {
    return this.change(this.requestTypes.oldRows, op, key, options, 'D?', []);
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
    return this.change(this.requestTypes.count, op, key, options, '+', steps);
  }

  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} steps
   * @param {FindOptions} [options]
   * @returns {Promise<Row[]>} the rows as they were before
   */
  incrementReturning(op, key, steps, options = {}) {
    return this.change(this.requestTypes.oldRows, op, key, options, '+?', steps);
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
    return this.change(this.requestTypes.count, op, key, options, '-', steps);
  }

  /**
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} steps
   * @param {FindOptions} [options]
   * @returns {Promise<Row[]>} the rows as they were before
   */
  decrementReturning(op, key, steps, options = {}) {
    return this.change(this.requestTypes.oldRows, op, key, options, '-?', steps);
  }

  /** Gives the index' id back; the server keeps the table open until the connections close. */
  close() {
    this.client.closeIndex(this);
  }
}

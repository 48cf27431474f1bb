/**
 * An explicit batch: number of collected requests and then sent to one connection in one flight, so
 * that the server processes them in one round and commits their changes together. A failed request
 * does not undo the others.
 */

import { argumentError } from './handlersocket-error.js';

/**
 * @typedef {import('./handlersocket-error.js').HandlerSocketError
 *   } HandlerSocketError
 */

/** @typedef {import('./open-index.js').OpenIndex} OpenIndex */
/** @typedef {import('./index-requests.js').Key} Key */
/** @typedef {import('./request-lines.js').Value} Value */

/**
 * @typedef {{ status: 'fulfilled', value: any }
 *   | { status: 'rejected', reason: HandlerSocketError }} BatchResult
 */

export class RequestBatch {
  /** @param {import('./client.js').HandlerSocketClient} client */
  constructor(client) {
    this.client = client;
    /**
     * @type {{ index: OpenIndex, line: string, pair: import('./request-type.js').RequestTypePair
     *   }[]}
     */
    this.requests = [];
    this.sent = false;
  }

  /** @returns {number} number of collected requests */
  get size() {
    return this.requests.length;
  }

  /**
   * @param {OpenIndex} index
   * @param {import('./request-type.js').RequestTypePair} pair
   * @param {string} line
   * @returns {this}
   */
  add(index, pair, line) {
    if (this.sent) throw argumentError('batch: already sent');
    if (index.client !== this.client) throw argumentError('batch: index of another client');
    index.checkOpen();
    this.requests.push({ index, line, pair });
    return this;
  }

  /** @param {OpenIndex} index @param {string} line @returns {this} */
  change(index, line) {
    return this.add(index, index.requestTypes.count, line);
  }

  /**
   * @param {OpenIndex} index
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {import('./index-requests.js').FindOptions} [options]
   * @returns {this}
   * @throws {HandlerSocketError} HS_ARGUMENT, like all methods that collect requests
   */
  find(index, op, key, options = {}) {
    return this.add(index, index.requestTypes.rows, index.findLine(op, key, options));
  }

  /**
   * @param {OpenIndex} index
   * @param {readonly Value[]} values
   * @returns {this}
   */
  insert(index, values) {
    return this.add(index, index.requestTypes.insert, index.insertLine(values));
  }

  /**
   * @param {OpenIndex} index
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} values
   * @param {import('./index-requests.js').FindOptions} [options]
   * @returns {this}
   */
  update(index, op, key, values, options = {}) {
    return this.change(index, index.changeLine(op, key, options, 'U', values));
  }

  /**
   * @param {OpenIndex} index
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {import('./index-requests.js').FindOptions} [options]
   * @returns {this}
   */
  remove(index, op, key, options = {}) {
    return this.change(index, index.changeLine(op, key, options, 'D', []));
  }

  /**
   * @param {OpenIndex} index
   * @param {'=' | '>' | '>=' | '<' | '<='} op
   * @param {Key} key
   * @param {readonly Value[]} steps
   * @param {import('./index-requests.js').FindOptions} [options]
   * @returns {this}
   */
  increment(index, op, key, steps, options = {}) {
    return this.change(index, index.changeLine(op, key, options, '+', steps));
  }

  /**
   * Sends all, in order, to one connection: of the write listener if any is a change.
   * @returns {Promise<BatchResult[]>} one per request, in order; a failed request does not reject
   */
  async send() {
    if (this.sent) throw argumentError('batch: already sent');
    const { requests, client } = this;
    let pool = client.readPool;
    if (requests.some(({ pair }) => pair.promise.change)) {
      for (const { index } of requests) pool = client.poolForChange(index);
    }
    this.sent = true;
    const connection = pool.pick();
    /** @type {BatchResult[]} */
    const results = new Array(requests.length);
    await new Promise((resolve) => {
      let left = requests.length;
      if (left === 0) resolve(undefined);
      for (const [i, { line, pair }] of requests.entries()) {
        connection.sendLine(line, pair.callback, (error, value) => {
          results[i] = error
            ? { status: 'rejected', reason: error }
            : { status: 'fulfilled', value };
          left -= 1;
          if (left === 0) resolve(undefined);
        });
      }
    });
    return results;
  }
}

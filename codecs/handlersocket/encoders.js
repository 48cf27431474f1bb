/**
 * Requests of HandlerSocket as our client writes them, into memory that was there before, as a
 * socket's batch is.
 */

import {
  encodeInsert,
  findBytesMax,
  findHead,
  writeFind,
} from '../../packages/handlersocket/request-lines.js';
import { batchRows, requestKeys } from '../rows.js';
import { encoderOf } from '../sequence.js';

/** @typedef {import('../definition.js').Encoder} Encoder */

/** Of the open index that the requests name. */
export const INDEX_ID = 7;

/** @type {Record<string, () => Encoder>} the client’s own functions */
export const OURS = {
  'batch-4096': () => {
    const rows = batchRows();
    return (target) => {
      let at = 0;
      for (const row of rows) at += target.write(encodeInsert(INDEX_ID, row), at, 'latin1');
      return at;
    };
  },
  'requests-1000': () => {
    const keys = requestKeys();
    const head = findHead(INDEX_ID);
    return (target) => {
      let at = 0;
      for (const key of keys) {
        if (at + findBytesMax(head, key) > target.length) throw new RangeError('no room');
        at = writeFind(target, at, head, key, 'utf8');
      }
      return at;
    };
  },
};

/**
 * @param {(tokens: any[], target: Buffer, at: number) => number} write a line; gives the place
 *   behind it
 * @returns {Record<string, () => Encoder>} of an encoder that takes the tokens of a request
 */
export function ofTokens(write) {
  const lines = () => batchRows().map((row) => [INDEX_ID, '+', row.length, ...row]);
  return {
    'batch-4096': encoderOf(lines, write),
    'requests-1000': encoderOf(() => requestKeys().map((key) => [INDEX_ID, '=', 1, key]), write),
  };
}

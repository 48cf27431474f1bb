/**
 * Encodes HandlerSocket requests with Dragstrip's client, into preallocated memory, like a socket's
 * batch.
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

/** Id of the open index that the requests name. */
export const INDEX_ID = 7;

/** @type {Record<string, () => Encoder>} functions of Dragstrip's client */
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
 * @param {(tokens: any[], target: Buffer, at: number) => number} write writes a line; returns the
 *   offset after it
 * @returns {Record<string, () => Encoder>} encoders that take the tokens of a request
 */
export function ofTokens(write) {
  const lines = () => batchRows().map((row) => [INDEX_ID, '+', row.length, ...row]);
  return {
    'batch-4096': encoderOf(lines, write),
    'requests-1000': encoderOf(() => requestKeys().map((key) => [INDEX_ID, '=', 1, key]), write),
  };
}

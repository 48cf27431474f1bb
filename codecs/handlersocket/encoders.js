/**
 * Requests of HandlerSocket: how our client writes them, and the ways that it was chosen over. Each
 * writes into the same memory, as a socket's batch is.
 */

import { encodeInsert, keyBytesMax, writeKey } from '../../storages/handlersocket/codec.js';
import { batchRows, requestKeys } from '../rows.js';

/** @typedef {import('../definition.js').Encoder} Encoder */

/** Of the open index that the requests name. */
export const INDEX_ID = 7;
const TAB = 9;
const LINE_FEED = 10;

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
    const head = Buffer.from(`${INDEX_ID}\t=\t1\t`);
    return (target) => {
      let at = 0;
      for (const key of keys) {
        if (at + head.length + keyBytesMax(key) >= target.length) throw new RangeError('no room');
        for (let i = 0; i < head.length; i += 1, at += 1) target[at] = head[i];
        at = writeKey(target, at, key, 'utf8');
        target[at] = LINE_FEED;
        at += 1;
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
  const writer = (/** @type {() => any[][]} */ lines) => () => {
    const requests = lines();
    return (/** @type {Buffer} */ target) => {
      let at = 0;
      for (const tokens of requests) at = write(tokens, target, at);
      return at;
    };
  };
  return {
    'batch-4096': writer(() => batchRows().map((row) => [INDEX_ID, '+', row.length, ...row])),
    'requests-1000': writer(() => requestKeys().map((key) => [INDEX_ID, '=', 1, key])),
  };
}

/** @param {any} token */
const textOf = (token) => (Buffer.isBuffer(token) ? token.toString('latin1') : String(token));
const SPECIAL = /[\x00-\x0f]/g;
/** @param {string} text */
const escaped = (text) =>
  text.replace(SPECIAL, (byte) => `\x01${String.fromCharCode(byte.charCodeAt(0) + 0x40)}`);

/** @type {Record<string, { summary: string, encoders: Record<string, () => Encoder> }>} */
export const REJECTED_ENCODERS = {
  'hs-map-join': {
    summary: 'tokens mapped by a regular expression, joined, one write a request',
    encoders: ofTokens((tokens, target, at) => {
      const line = `${tokens.map((token) => escaped(textOf(token))).join('\t')}\n`;
      return at + target.write(line, at, 'latin1');
    }),
  },
  'hs-buffers': {
    summary: 'a Buffer for each token, joined by Buffer.concat',
    encoders: ofTokens((tokens, target, at) => {
      const parts = tokens.flatMap((token) => [
        Buffer.from(escaped(textOf(token)), 'latin1'),
        Buffer.of(TAB),
      ]);
      const line = Buffer.concat(parts);
      line[line.length - 1] = LINE_FEED;
      return at + line.copy(target, at);
    }),
  },
  'hs-byte-writer': {
    summary: 'every character written into the batch in JavaScript, no string made',
    encoders: ofTokens((tokens, target, at) => {
      let to = at;
      for (const token of tokens) {
        const text = Buffer.isBuffer(token) ? token : String(token);
        for (let i = 0; i < text.length; i += 1) {
          const byte = typeof text === 'string' ? text.charCodeAt(i) : text[i];
          if (byte < 0x10) {
            target[to++] = 1;
            target[to++] = byte + 0x40;
          } else {
            target[to++] = byte;
          }
        }
        target[to++] = TAB;
      }
      target[to - 1] = LINE_FEED;
      return to;
    }),
  },
};

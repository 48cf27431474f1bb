/**
 * HandlerSocket's codecs: Dragstrip's client and node-handlersocket. The rejected alternatives of
 * Dragstrip's client were removed; their figures are in docs/codec.md.
 */

import { ReplyParser } from '../packages/handlersocket/reply-parser.js';
import { keepsBytes, rowsDecoder } from '../packages/handlersocket/reply-values.js';
import { HandlerSocketFramer } from '../protocols/handlersocket/framer.js';
import { countReplies } from './counter.js';
import { defineCodecs } from './definition.js';
import { OURS } from './handlersocket/encoders.js';
import { loadNodeHandlersocket } from './handlersocket/node-handlersocket.js';

const ENCODES = Object.freeze(['batch-4096', 'requests-1000']);

/**
 * @type {NonNullable<import('./definition.js').Codec['createDecoder']>} same as in Dragstrip's
 *   client
 */
const createDecoder = ({ types }, emit) => {
  const read = rowsDecoder(types);
  const parser = new ReplyParser((text, start, end, flags) => emit(read(text, start, end, flags)));
  parser.keepBytes = types.some(keepsBytes);
  return { write: (chunk) => parser.push(chunk) };
};

export const codecs = defineCodecs('handlersocket', [
  {
    name: 'hs-client',
    summary:
      'Dragstrip’s client (manual-hs): each chunk becomes one string, which is split into rows',
    encodes: ENCODES,
    load: () => ({ createDecoder, encoders: OURS }),
  },
  {
    name: 'node-handlersocket',
    package: 'node-handlersocket',
    summary: 'node-handlersocket, its parser and encoder without a socket',
    encodes: ENCODES,
    lacks: { sets: 'it decodes everything as UTF-8 strings, which corrupts the bytes of blobs' },
    load: loadNodeHandlersocket,
  },
  {
    name: 'hs-count',
    kind: 'bound',
    summary: 'the framer of the server ceiling: counts lines and decodes nothing',
    load: () => ({ createDecoder: () => countReplies(new HandlerSocketFramer(0)) }),
  },
]);

/**
 * HandlerSocket's codecs: our client's and node-handlersocket's. The alternatives that our client's
 * was chosen over were removed; their figures are in docs/codec.md.
 */

import { ReplyParser } from '../packages/handlersocket/reply-parser.js';
import { keepsBytes, rowsDecoder } from '../packages/handlersocket/reply-values.js';
import { HandlerSocketFramer } from '../protocols/handlersocket/framer.js';
import { countReplies } from './counter.js';
import { defineCodecs } from './definition.js';
import { OURS } from './handlersocket/encoders.js';
import { loadNodeHandlersocket } from './handlersocket/node-handlersocket.js';

const ENCODES = Object.freeze(['batch-4096', 'requests-1000']);

/** @type {NonNullable<import('./definition.js').Codec['createDecoder']>} as our client does it */
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
      'our client (manual-hs): whole chunks become one string each, benchmarks are cut from it',
    encodes: ENCODES,
    load: () => ({ createDecoder, encoders: OURS }),
  },
  {
    name: 'node-handlersocket',
    package: 'node-handlersocket',
    summary: 'node-handlersocket, its parser and encoder without a socket',
    encodes: ENCODES,
    lacks: { sets: 'it decodes all as UTF-8 and gives strings alone: bytes of a blob are lost' },
    load: loadNodeHandlersocket,
  },
  {
    name: 'hs-count',
    kind: 'bound',
    summary: 'the framer of the server ceiling: counts lines and decodes nothing',
    load: () => ({ createDecoder: () => countReplies(new HandlerSocketFramer(0)) }),
  },
]);

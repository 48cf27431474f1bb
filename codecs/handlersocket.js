/**
 * HandlerSocket's codecs: our client's and node-handlersocket's. The alternatives that our client's
 * was chosen over were removed; their figures are in docs/codec.md.
 */

import { HandlerSocketFramer } from '../protocols/handlersocket/framer.js';
import { ReplyParser } from '../protocols/handlersocket/parser.js';
import { keepsBytes, rowsDecoder } from '../protocols/handlersocket/reply.js';
import { countReplies } from './counter.js';
import { defineCodec } from './definition.js';
import { OURS } from './handlersocket/encoders.js';
import { loadNodeHandlersocket } from './handlersocket/node-handlersocket.js';

const protocol = 'handlersocket';
const ENCODES = Object.freeze(['batch-4096', 'requests-1000']);

/** @type {NonNullable<import('./definition.js').Codec['createDecoder']>} as our client does it */
const createDecoder = ({ types }, emit) => {
  const read = rowsDecoder(types);
  const parser = new ReplyParser((text, start, end, flags) => emit(read(text, start, end, flags)));
  parser.keepBytes = types.some(keepsBytes);
  return { write: (chunk) => parser.push(chunk) };
};

export const codecs = [
  defineCodec({
    name: 'hs-client',
    protocol,
    kind: 'ours',
    summary:
      'our client (manual-hs): whole chunks become one string each, benchmarks are cut from it',
    encodes: ENCODES,
    load: () => ({ createDecoder, encoders: OURS }),
  }),
  defineCodec({
    name: 'node-handlersocket',
    protocol,
    kind: 'driver',
    package: 'node-handlersocket',
    summary: 'node-handlersocket, its parser and encoder without a socket',
    encodes: ENCODES,
    lacks: { sets: 'it decodes all as UTF-8 and gives strings alone: bytes of a blob are lost' },
    load: loadNodeHandlersocket,
  }),
  defineCodec({
    name: 'hs-count',
    protocol,
    kind: 'bound',
    summary: 'the framer of the server ceiling: counts lines and decodes nothing',
    load: () => ({ createDecoder: () => countReplies(new HandlerSocketFramer(0)) }),
  }),
];

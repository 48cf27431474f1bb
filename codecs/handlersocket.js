/** HandlerSocket's codecs: our client's, the variants it was chosen over, node-handlersocket's. */

import { ReplyParser } from '../storages/handlersocket/parser.js';
import { defineCodec } from './definition.js';
import { OURS, REJECTED_ENCODERS } from './handlersocket/encoders.js';
import { loadNodeHandlersocket } from './handlersocket/node-handlersocket.js';
import { REJECTED, withParser } from './handlersocket/rejected.js';

const LINE_FEED = 10;
const protocol = 'handlersocket';
const ENCODES = Object.freeze(['batch-4096', 'requests-1000']);

/** @returns {import('./definition.js').Decoder} */
function countLines() {
  let replies = 0;
  return {
    write(chunk) {
      for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) {
        replies += 1;
      }
    },
    take() {
      const taken = replies;
      replies = 0;
      return taken;
    },
  };
}

export const codecs = [
  defineCodec({
    name: 'hs-client',
    protocol,
    kind: 'ours',
    summary: 'our client (manual-hs): whole chunks become one string each, cells are cut from it',
    encodes: ENCODES,
    load: () => ({ createDecoder: withParser(ReplyParser), encoders: OURS }),
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
  ...Object.entries(REJECTED).map(([name, { summary, createDecoder }]) =>
    defineCodec({ name, protocol, kind: 'rejected', summary, load: () => ({ createDecoder }) }),
  ),
  ...Object.entries(REJECTED_ENCODERS).map(([name, { summary, encoders }]) =>
    defineCodec({
      name,
      protocol,
      kind: 'rejected',
      summary,
      decodes: [],
      encodes: ENCODES,
      load: () => ({ encoders }),
    }),
  ),
  defineCodec({
    name: 'hs-count',
    protocol,
    kind: 'bound',
    summary: 'counts line feeds and decodes nothing',
    load: () => ({ createDecoder: countLines }),
  }),
];

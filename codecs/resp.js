/** RESP's codecs: those of ioredis, node-redis and hiredis, redis-parser, and a simple one. */

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { builtBinary, builtFolder } from '../lib/hiredis-build.js';
import { findHome } from '../lib/home.js';
import { RespFramer } from '../protocols/resp/framer.js';
import { countReplies } from './counter.js';
import { defineCodec } from './definition.js';
import { createPlainDecoder, ofCommands, PLAIN_ENCODERS } from './resp/plain.js';

/** @type {(name: string) => any} they have no types, or none of what is inside */
const requireModule = createRequire(import.meta.url);
const protocol = 'resp';
const ENCODES = Object.freeze(['batch-4096', 'requests-1000']);
/** What RESP's code of a string is in the type mappings of node-redis' decoder, and of its copy. */
const BLOB_STRING = 36;
const SIMPLE_STRING = 43;

/**
 * @param {string} module that exports node-redis' decoder, or ioredis' copy of it
 * @returns {NonNullable<import('./definition.js').Codec['createDecoder']>}
 */
function decoderOf(module) {
  const { Decoder } = requireModule(module);
  return ({ buffers }, emit) => {
    const mapping = buffers ? { [BLOB_STRING]: Buffer, [SIMPLE_STRING]: Buffer } : {};
    return new Decoder({
      getTypeMapping: () => mapping,
      onReply: emit,
      onErrorReply: emit,
      onPush: emit,
    });
  };
}

/** @returns {import('./definition.js').Codec} */
function loadRedisParser() {
  const Parser = requireModule('redis-parser');
  return {
    createDecoder({ buffers }, emit) {
      const parser = new Parser({ returnReply: emit, returnError: emit, returnBuffers: buffers });
      return { write: (chunk) => parser.execute(chunk) };
    },
  };
}

/** @returns {import('./definition.js').Codec} */
function loadIoredis() {
  const { Command } = requireModule('ioredis');
  return {
    createDecoder: decoderOf('ioredis/built/resp/decoder.js'),
    encoders: ofCommands(([name, ...args], target, at) => {
      const bytes = new Command(name, args).toWritable();
      return at + write(bytes, target, at);
    }),
  };
}

/** @returns {import('./definition.js').Codec} */
function loadNodeRedis() {
  const { default: encodeCommand } = requireModule('@redis/client/dist/lib/RESP/encoder.js');
  return {
    createDecoder: decoderOf('@redis/client/dist/lib/RESP/decoder.js'),
    encoders: ofCommands((words, target, start) => {
      let at = start;
      for (const piece of encodeCommand(words)) at += write(piece, target, at);
      return at;
    }),
  };
}

/**
 * As a socket does with written strings.
 * @param {string | Buffer} piece
 * @param {Buffer} target
 * @param {number} at
 * @returns {number} bytes written
 */
function write(piece, target, at) {
  return typeof piece === 'string' ? target.write(piece, at, 'utf8') : piece.copy(target, at);
}

/** @returns {import('./definition.js').Codec} */
function loadHiredis() {
  const hiredis = createRequire(`${builtFolder(findHome())}/`)('hiredis');
  return {
    createDecoder({ buffers }, emit) {
      const reader = new hiredis.Reader({ return_buffers: buffers });
      return {
        write(chunk) {
          reader.feed(chunk);
          for (let reply = reader.get(); reply !== undefined; reply = reader.get()) emit(reply);
        },
      };
    },
    encoders: ofCommands(
      (words, target, at) => at + hiredis.writeCommand(...words).copy(target, at),
    ),
  };
}

/** @returns {import('../lib/types.js').Unavailable | null} */
function hiredisMissing() {
  if (existsSync(builtBinary(findHome()))) return null;
  return {
    reason: 'it is not built for this Node; as published it does not compile on Node 12 or later',
    hint: 'npm run build:hiredis (needs a C++ compiler, make, Python and Node headers)',
  };
}

export const codecs = [
  defineCodec({
    name: 'ioredis',
    protocol,
    kind: 'driver',
    package: 'ioredis',
    summary: 'ioredis 6: its decoder (node-redis’, compiled for older JavaScript), its Command',
    encodes: ENCODES,
    load: loadIoredis,
  }),
  defineCodec({
    name: 'node-redis',
    protocol,
    kind: 'driver',
    package: '@redis/client',
    summary: 'node-redis 6: its decoder and encoder',
    encodes: ENCODES,
    load: loadNodeRedis,
  }),
  defineCodec({
    name: 'redis-parser',
    protocol,
    kind: 'driver',
    package: 'redis-parser',
    summary: 'redis-parser 3: of ioredis up to 5, and of node-redis 3',
    load: loadRedisParser,
  }),
  defineCodec({
    name: 'hiredis',
    protocol,
    kind: 'driver',
    package: 'hiredis',
    summary: 'hiredis-node: the C reader, and its writeCommand',
    encodes: ENCODES,
    missing: hiredisMissing,
    load: loadHiredis,
  }),
  defineCodec({
    name: 'resp-plain',
    protocol,
    kind: 'ours',
    summary: 'a simple decoder; the encoder of Dragstrip’s connection around hiredis',
    encodes: ENCODES,
    load: () => ({ createDecoder: createPlainDecoder, encoders: PLAIN_ENCODERS }),
  }),
  defineCodec({
    name: 'resp-count',
    protocol,
    kind: 'bound',
    summary: 'the framer of the server ceiling: counts single strings and decodes nothing',
    decodes: ['get-16', 'get-1k'],
    load: () => ({ createDecoder: () => countReplies(new RespFramer(0)) }),
  }),
];

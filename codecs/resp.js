/**
 * RESP's codecs: those of ioredis, node-redis and hiredis, redis-parser, and Dragstrip's encoder.
 */

import { createRequire } from 'node:module';
import { builtFolder, missingBuild } from '../lib/hiredis-build.js';
import { findHome } from '../lib/home.js';
import { arrayHead, bulk } from '../protocols/resp/command.js';
import { RespFramer } from '../protocols/resp/framer.js';
import { countReplies } from './counter.js';
import { defineCodecs } from './definition.js';
import { batchRows, requestKeys } from './rows.js';
import { encoderOf } from './sequence.js';

/** @type {(name: string) => any} untyped modules, or modules with untyped internals */
const requireModule = createRequire(import.meta.url);
const ENCODES = Object.freeze(['batch-4096', 'requests-1000']);
/** RESP's type code of a string, for the type mappings of node-redis' decoder and of its copy. */
const BLOB_STRING = 36;
const SIMPLE_STRING = 43;

/**
 * @param {string} module module that exports node-redis' decoder, or ioredis' copy of it
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
 * Encodes strings in the same way as a socket.
 * @param {string | Buffer} piece
 * @param {Buffer} target
 * @param {number} at
 * @returns {number} number of bytes written
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

/**
 * @param {(words: (string | Buffer)[], target: Buffer, at: number) => number} write writes a
 *   command; returns the offset after it
 * @returns {Record<string, () => import('./definition.js').Encoder>}
 */
function ofCommands(write) {
  const batch = () =>
    batchRows().map(([text, a, b, blob]) => ['rpush', 'batch', text, `${a}`, `${b}`, blob]);
  return {
    'batch-4096': encoderOf(batch, write),
    'requests-1000': encoderOf(
      () => requestKeys().map((key) => ['get', `dragstrip:${key}`]),
      write,
    ),
  };
}

/** Words are ASCII or bytes. */
const PLAIN_ENCODERS = ofCommands((words, target, at) => {
  let text = arrayHead(words.length);
  for (const word of words) text += bulk(typeof word === 'string' ? word : word.toString('latin1'));
  return at + target.write(text, at, 'latin1');
});

export const codecs = defineCodecs('resp', [
  {
    name: 'ioredis',
    package: 'ioredis',
    summary: 'ioredis 6: its decoder (node-redis’, compiled for older JavaScript), its Command',
    encodes: ENCODES,
    load: loadIoredis,
  },
  {
    name: 'node-redis',
    package: '@redis/client',
    summary: 'node-redis 6: its decoder and encoder',
    encodes: ENCODES,
    load: loadNodeRedis,
  },
  {
    name: 'redis-parser',
    package: 'redis-parser',
    summary: 'redis-parser 3: of ioredis up to 5, and of node-redis 3',
    load: loadRedisParser,
  },
  {
    name: 'hiredis',
    package: 'hiredis',
    summary: 'hiredis-node: the C reader, and its writeCommand',
    encodes: ENCODES,
    missing: () => missingBuild(findHome()),
    load: loadHiredis,
  },
  {
    name: 'resp-plain',
    summary: 'the encoder of Dragstrip’s connections: a binary string for each command',
    decodes: [],
    encodes: ENCODES,
    load: () => ({ encoders: PLAIN_ENCODERS }),
  },
  {
    name: 'resp-count',
    kind: 'bound',
    summary: 'the framer of the server ceiling: counts single strings and decodes nothing',
    decodes: ['get-16', 'get-1k'],
    load: () => ({ createDecoder: () => countReplies(new RespFramer(0)) }),
  },
]);

/**
 * The registry of codec variants: names to definitions, one file per protocol, loaded when needed.
 */

import path from 'node:path';
import { usageError } from '../lib/errors.js';
import { loadOwnFile } from '../lib/own-file.js';

/** @typedef {import('./definition.js').CodecContender} CodecContender */
/** @typedef {import('./fixtures.js').Protocol} Protocol */

/** @type {Record<Protocol, () => Promise<{ codecs: readonly CodecContender[] }>>} */
const REGISTRY = {
  handlersocket: () => import('./handlersocket.js'),
  resp: () => import('./resp.js'),
  messagepack: () => import('./messagepack.js'),
  cql: () => import('./cql.js'),
};

/** @type {Readonly<Record<Protocol, readonly string[]>>} names of the variants, as in the tables */
export const VARIANTS = Object.freeze({
  handlersocket: ['hs-client', 'node-handlersocket', 'hs-count'],
  resp: ['ioredis', 'node-redis', 'redis-parser', 'hiredis', 'resp-plain', 'resp-count'],
  messagepack: [
    ...['tarantool-driver', 'msgpack-lite', 'msgpackr', 'msgpack-javascript'],
    'messagepack-count',
  ],
  cql: ['cassandra-driver', 'cassandra-reader', 'cql-count'],
});

export const PROTOCOLS = /** @type {readonly Protocol[]} */ (Object.freeze(Object.keys(REGISTRY)));

/** The variants of all protocols, as in the tables. */
export const CODEC_NAMES = Object.freeze(Object.values(VARIANTS).flat());

/**
 * @param {string} name name of a variant, or path of a file whose default export, or export
 *   `codec`, is the return value of defineCodec
 * @returns {Promise<CodecContender>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: no such codec
 */
export async function loadCodec(name) {
  if (/[/\\]|\.[cm]?js$/.test(name)) return loadFile(path.resolve(name));
  const protocol = PROTOCOLS.find((one) => VARIANTS[one].includes(name));
  if (protocol === undefined) {
    throw usageError(
      `unknown codec variant "${name}"`,
      `available variants: ${CODEC_NAMES.join(', ')}; or your own file, ./my-codec.js`,
    );
  }
  const { codecs } = await REGISTRY[protocol]();
  return /** @type {CodecContender} */ (codecs.find((codec) => codec.name === name));
}

/**
 * @param {string} file absolute path
 * @returns {Promise<CodecContender>}
 */
async function loadFile(file) {
  const hint = 'export default defineCodec({ … }); docs/codec.md describes it';
  const codec = await loadOwnFile('codec', file, hint);
  if (typeof codec.offers === 'function' && typeof codec.open === 'function') return codec;
  throw usageError(`codec ${file} exports no codec`, hint);
}

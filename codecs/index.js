/**
 * The registry of codec variants: names to definitions, one file for each protocol, loaded when
 * they are needed. To the engine a codec is a storage of the name `codec/NAME`.
 */

import { usageError } from '../lib/errors.js';

/** @typedef {import('../lib/types.js').StorageDefinition} StorageDefinition */
/** @typedef {import('./fixtures.js').Protocol} Protocol */

/** @type {Record<Protocol, () => Promise<{ codecs: readonly StorageDefinition[] }>>} */
const REGISTRY = {
  handlersocket: () => import('./handlersocket.js'),
  resp: () => import('./resp.js'),
  messagepack: () => import('./messagepack.js'),
};

/** @type {Readonly<Record<Protocol, readonly string[]>>} the variants, as the tables have them */
export const VARIANTS = Object.freeze({
  handlersocket: ['hs-client', 'node-handlersocket', 'hs-count'],
  resp: ['ioredis', 'node-redis', 'redis-parser', 'hiredis', 'resp-plain', 'resp-count'],
  messagepack: [
    ...['tarantool-driver', 'msgpack-lite', 'msgpackr', 'msgpack-javascript'],
    ...['messagepack-plain', 'messagepack-count'],
  ],
});

export const PROTOCOLS = /** @type {readonly Protocol[]} */ (Object.freeze(Object.keys(REGISTRY)));

const PREFIX = 'codec/';

/** @param {string} source @returns {boolean} whether it names a codec, and no storage */
export function isCodec(source) {
  return source.startsWith(PREFIX);
}

/** @param {string} name @returns {string} as the engine is told */
export function codecSource(name) {
  return PREFIX + name;
}

/** @returns {string[]} of all variants, as the engine is told */
export function codecSources() {
  return Object.values(VARIANTS).flat().map(codecSource);
}

/**
 * @param {string} source `codec/NAME`
 * @returns {Promise<StorageDefinition>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where there is none of that name
 */
export async function loadCodec(source) {
  const name = source.slice(PREFIX.length);
  const protocol = PROTOCOLS.find((one) => VARIANTS[one].includes(name));
  if (protocol === undefined) {
    throw usageError(
      `unknown codec variant "${name}"`,
      `the variants: ${Object.values(VARIANTS).flat().join(', ')}`,
    );
  }
  const { codecs } = await REGISTRY[protocol]();
  return /** @type {StorageDefinition} */ (codecs.find((codec) => codec.name === name));
}

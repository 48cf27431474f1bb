/**
 * What a codec variant is. The engine opens it like an embedded storage, with the one capability
 * `codec`; it is in a registry of its own, so that no race and no list takes it for a storage.
 */

import { defineStorage } from '../lib/define.js';
import { CodecTrial } from './trial.js';

/** @typedef {import('./fixtures.js').Fixture} Fixture */
/** @typedef {import('./fixtures.js').Shape} Shape */
/** @typedef {import('../lib/types.js').StorageDefinition} StorageDefinition */

/**
 * @typedef {object} Decoder of one stream
 * @property {(chunk: Buffer) => void} write emits each reply as soon as it is whole
 * @property {() => number} [take] in the place of emitting: how many replies since the last call
 */

/**
 * Writes all that the fixture has into `target`, and gives the place behind it.
 * @typedef {(target: Buffer) => number} Encoder
 */

/**
 * @typedef {object} Codec
 * @property {(shape: Shape, emit: (reply: any) => void) => Decoder} [createDecoder]
 * @property {Record<string, () => Encoder>} [encoders] by name of the fixture; each takes its rows
 *   before the clock starts
 */

/**
 * `driver`: what an npm package uses. `ours`: of this project. `bound`: decodes nothing, counts
 * replies. Results of earlier versions also hold `rejected`: what ours was chosen over.
 * @typedef {'driver' | 'ours' | 'bound'} CodecKind
 */

/**
 * @typedef {object} CodecDefinition
 * @property {string} name
 * @property {import('./fixtures.js').Protocol} protocol
 * @property {CodecKind} kind
 * @property {string} summary
 * @property {string | null} [package] npm name
 * @property {readonly string[]} [decodes] fixtures; absent: all of the protocol; empty: none
 * @property {readonly string[]} [encodes] fixtures; absent: none
 * @property {Record<string, string>} [lacks] fixtures that it cannot do, and why: by a fault of its
 *   own, which is told
 * @property {() => import('../lib/types.js').Unavailable | null} [missing] it is not built
 * @property {() => Codec | Promise<Codec>} load
 */

const LACK_REMEDY = 'none: it is how this codec is made';

/**
 * @param {CodecDefinition} definition
 * @returns {StorageDefinition}
 */
export function defineCodec(definition) {
  const { name, protocol, kind, summary, package: driver = null, load, missing } = definition;
  return defineStorage({
    name,
    summary,
    package: driver,
    server: null,
    capabilities: ['codec'],
    profiles: { default: { summary, options: { protocol, kind }, calls: 'sync' } },
    codec: { protocol, kind, offers: (parameters) => offers(definition, parameters) },
    async unavailable() {
      return missing?.() ?? null;
    },
    async open({ parameters = {} }) {
      const trial = new CodecTrial(await load(), kind, parameters);
      return /** @type {any} */ ({ codec: trial, async close() {} });
    },
  });
}

/**
 * @param {CodecDefinition} definition
 * @param {import('../lib/types.js').Parameters} parameters
 */
function offers({ protocol, decodes, encodes = [], lacks = {} }, parameters) {
  const { direction } = parameters;
  const fixture = String(parameters['fixture']);
  if (parameters['protocol'] !== protocol) return false;
  if (Object.hasOwn(lacks, fixture)) return { reason: lacks[fixture], remedy: LACK_REMEDY };
  if (direction === 'encode') return encodes.includes(fixture);
  // A fixture of single chunks is the other one, cut otherwise.
  return decodes?.includes(fixture.replace(/-single$/, '')) ?? true;
}

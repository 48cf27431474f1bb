/**
 * Definition of a codec variant: a contender of the workload codec, which opens it on a fixture.
 */

import { defineContender } from '../lib/define.js';
import { CodecTrial } from './trial.js';

/** @typedef {import('./fixtures.js').Fixture} Fixture */
/** @typedef {import('./fixtures.js').Shape} Shape */
/** @typedef {import('../lib/types.js').Parameters} Parameters */
/** @typedef {import('../lib/types.js').Unavailable} Unavailable */

/**
 * @typedef {object} Decoder decoder of one stream
 * @property {(chunk: Buffer) => void} write emits each reply as soon as it is complete
 * @property {() => number} [take] instead of emitting: number of replies since the last call
 */

/**
 * Writes the whole fixture into `target`, and returns the offset after it.
 * @typedef {(target: Buffer) => number} Encoder
 */

/**
 * @typedef {object} Codec
 * @property {(shape: Shape, emit: (reply: any) => void) => Decoder} [createDecoder]
 * @property {(reply: any) => any} [comparable] a reply as plain values, to compare with the
 *   expected output; not timed
 * @property {Record<string, () => Encoder>} [encoders] by name of the fixture; each gets its rows
 *   before the clock starts
 */

/**
 * `driver`: used by an npm package. `ours`: this project's own. `bound`: decodes nothing, counts
 * replies. Results of earlier versions also contain `rejected`: alternatives that were not chosen.
 * @typedef {'driver' | 'ours' | 'bound'} CodecKind
 */

/**
 * @typedef {object} CodecDefinition
 * @property {string} name
 * @property {import('./fixtures.js').Protocol} protocol
 * @property {CodecKind} [kind] absent: `driver` if there is a package, otherwise `ours`
 * @property {string} summary
 * @property {string | null} [package] npm name
 * @property {readonly string[]} [decodes] fixtures; absent: all of the protocol; empty: none
 * @property {readonly string[]} [encodes] fixtures; absent: none
 * @property {Record<string, string>} [lacks] fixtures that it does not support because of a defect
 *   of its own, with the reason, which is reported
 * @property {() => Unavailable | null} [missing] reason why it is not built
 * @property {() => Codec | Promise<Codec>} load
 */

/**
 * View of a codec for the engine and the workload.
 * @typedef {import('../lib/types.js').Contender & {
 *   protocol: import('./fixtures.js').Protocol,
 *   kind: CodecKind,
 *   offers(parameters: Parameters): boolean | Unavailable,
 *   open(context: { parameters: Parameters }): Promise<CodecHandle>,
 * }} CodecContender offers: whether it supports the named fixture
 * @typedef {import('../lib/types.js').Handle & { trial: CodecTrial }} CodecHandle
 */

const NO_HINT = 'none: this codec does not support it by design';

/**
 * @param {CodecDefinition} definition
 * @returns {CodecContender}
 */
export function defineCodec(definition) {
  const { name, protocol, summary, package: driver = null, load, missing } = definition;
  const { kind = driver === null ? 'ours' : 'driver' } = definition;
  return defineContender({
    name,
    summary,
    package: driver,
    server: null,
    profiles: { default: { summary, options: { protocol, kind }, calls: 'sync' } },
    protocol,
    kind,
    offers: (parameters) => offers(definition, parameters),
    unavailable: async () => missing?.() ?? null,
    async open({ parameters }) {
      return { trial: new CodecTrial(await load(), kind, parameters), async close() {} };
    },
  });
}

/**
 * @param {import('./fixtures.js').Protocol} protocol
 * @param {readonly Omit<CodecDefinition, 'protocol'>[]} definitions
 * @returns {CodecContender[]}
 */
export function defineCodecs(protocol, definitions) {
  return definitions.map((one) => defineCodec({ ...one, protocol }));
}

/**
 * @param {CodecDefinition} definition
 * @param {Parameters} parameters
 */
function offers({ protocol, decodes, encodes = [], lacks = {} }, parameters) {
  const { direction } = parameters;
  const fixture = String(parameters['fixture']);
  if (parameters['protocol'] !== protocol) return false;
  if (Object.hasOwn(lacks, fixture)) return { reason: lacks[fixture], hint: NO_HINT };
  if (direction === 'encode') return encodes.includes(fixture);
  // A fixture of single chunks has the same bytes, divided differently.
  return decodes?.includes(fixture.replace(/-single$/, '')) ?? true;
}

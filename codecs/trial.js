/**
 * One codec on one fixture: the operation, its expected outcome, and its allocation. It reads no
 * clock.
 *
 * Decoding: the fixture's bytes arrive in chunks as from a socket, and each reply is passed on and
 * released immediately, as by a driver's caller. Encoding: all bytes are written into preallocated
 * memory, as into the batch of a socket.
 */

import { dataError, usageError } from '../lib/errors.js';
import { measureAllocation } from '../measure/allocation.js';
import { fixtureBytes } from './archive.js';
import { firstDifference } from './difference.js';
import { getFixture } from './fixtures.js';
import { referenceBytes } from './reference.js';

/** Largest read of a socket (suggested by libuv, used by Node). */
export const CHUNK_BYTES = 65_536;
/** Minimum bytes per operation, so that clock and loop are negligible. */
const OPERATION_BYTES = 262_144;
/** The allocation is the mean over enough passes for this number, and at least two. */
const ALLOCATION_BYTES = 1_048_576;
const PASSES_MIN = 2;
const ROOM = 2;

/** @typedef {import('./definition.js').Codec} Codec */
/** @typedef {import('./definition.js').CodecKind} CodecKind */
/** @typedef {import('./fixtures.js').Fixture} Fixture */

export class CodecTrial {
  /**
   * @param {Codec} codec
   * @param {CodecKind} kind
   * @param {import('../lib/types.js').Parameters} parameters protocol, direction and fixture
   */
  constructor(codec, kind, { protocol, direction, fixture: name }) {
    this.codec = codec;
    this.fixture = getFixture(String(protocol), String(direction), String(name));
    const decodes = this.fixture.direction === 'decode';
    this.pass = decodes ? decodePass(codec, kind, this.fixture) : encodePass(codec, this.fixture);
    this.repeat = Math.max(1, Math.ceil(OPERATION_BYTES / this.pass.bytes));
    /** Expected return value of `run`. */
    this.expected = this.pass.expected * this.repeat;
  }

  /**
   * An operation: processes the fixture `repeat` times.
   * @returns {number} number of decoded replies, or of encoded bytes
   */
  run() {
    const { repeat, pass } = this;
    let sum = 0;
    for (let i = 0; i < repeat; i += 1) sum += pass.run();
    return sum;
  }

  /**
   * Compares the complete output with the expected one.
   * @throws {Error} E_DATA, with the position of the first difference
   */
  check() {
    const found = this.pass.difference();
    if (found === null) return;
    const { path, actual, expected } = found;
    throw dataError(`wrong output at ${path || 'the top level'}: ${actual} instead of ${expected}`);
  }

  /**
   * @returns {{ bytes: number, rows: number, replies: number, repeat: number }} bytes of one
   *   operation
   */
  size() {
    const { repeat, fixture, pass } = this;
    const { rows, replies } = fixture;
    return { bytes: pass.bytes * repeat, rows: rows * repeat, replies: replies * repeat, repeat };
  }

  /** @returns {import('../lib/types.js').WorkloadMetrics} allocation of one operation */
  metrics() {
    const { repeat, pass } = this;
    const passes = Math.max(PASSES_MIN, Math.ceil(ALLOCATION_BYTES / pass.bytes));
    const { heapBytes, bufferBytes, collections } = measureAllocation(pass.steps, passes);
    return {
      ...this.size(),
      heapBytes: heapBytes * repeat,
      bufferBytes: bufferBytes * repeat,
      allocationPasses: passes,
      allocationCollections: collections,
    };
  }
}

/**
 * @typedef {object} Pass one pass over a fixture
 * @property {number} bytes
 * @property {number} expected
 * @property {() => number} run
 * @property {(() => unknown)[]} steps parts of a pass whose allocation is measured separately
 * @property {() => import('./difference.js').Difference | null} difference
 */

/**
 * @param {Codec} codec
 * @param {CodecKind} kind
 * @param {Fixture} fixture
 * @returns {Pass}
 */
function decodePass({ createDecoder, comparable = (reply) => reply }, kind, fixture) {
  if (createDecoder === undefined) throw usageError('it does not decode');
  const bytes = fixtureBytes(fixture);
  const chunks = chunksOf(bytes, fixture);
  let count = 0;
  /** @type {any} the last reply, so that none is optimised away, and only one is kept */
  let last = null;
  const decoder = createDecoder(fixture.shape, (reply) => {
    count += 1;
    last = reply;
  });
  const run = () => {
    count = 0;
    for (const chunk of chunks) decoder.write(chunk);
    return decoder.take?.() ?? count;
  };
  return {
    bytes: bytes.length,
    expected: fixture.replies,
    run,
    steps: stepsOf(chunks, decoder),
    difference() {
      if (last === fixture) return null; // never: it only keeps `last` alive
      if (kind === 'bound') return firstDifference(run(), fixture.replies, 'replies');
      return firstDifference(
        decodeAll({ createDecoder, comparable }, fixture, chunks),
        fixture.expected(),
      );
    },
  };
}

/**
 * @param {readonly Buffer[]} chunks
 * @param {import('./definition.js').Decoder} decoder
 * @returns {(() => void)[]} lists of as many chunks as make a large one
 */
function stepsOf(chunks, decoder) {
  /** @type {Buffer[][]} */
  const groups = [[]];
  let bytes = 0;
  for (const chunk of chunks) {
    if (bytes + chunk.length > CHUNK_BYTES && bytes > 0) {
      groups.push([]);
      bytes = 0;
    }
    groups[groups.length - 1].push(chunk);
    bytes += chunk.length;
  }
  return groups.map((group) => () => {
    for (const chunk of group) decoder.write(chunk);
  });
}

/**
 * @param {Codec} codec
 * @param {Fixture} fixture
 * @param {readonly Buffer[]} [chunks] chunks of its bytes; absent: as received from a socket
 * @returns {any[]} all replies, in comparable form
 */
export function decodeAll({ createDecoder, comparable }, fixture, chunks = undefined) {
  /** @type {any[]} */
  const replies = [];
  const decoder = createDecoder?.(fixture.shape, (reply) => replies.push(reply));
  for (const chunk of chunks ?? chunksOf(fixtureBytes(fixture), fixture)) decoder?.write(chunk);
  return comparable === undefined ? replies : replies.map(comparable);
}

/**
 * @param {Buffer} bytes
 * @param {Fixture} fixture
 * @returns {Buffer[]}
 */
export function chunksOf(bytes, { protocol, replies, single = false }) {
  const chunks = [];
  for (let at = 0; at < bytes.length; ) {
    const length = single ? replyLength(bytes, at, protocol, replies) : CHUNK_BYTES;
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @param {string} protocol
 * @param {number} replies replies of equal length, except those that include their length
 * @returns {number}
 */
function replyLength(bytes, at, protocol, replies) {
  if (protocol === 'messagepack') return 5 + bytes.readUInt32BE(at + 1);
  if (protocol === 'cql') return 9 + bytes.readUInt32BE(at + 5);
  return bytes.length / replies;
}

/**
 * @param {Codec} codec
 * @param {Fixture} fixture
 * @returns {Pass}
 */
function encodePass({ encoders = {} }, fixture) {
  const create = encoders[fixture.name];
  if (create === undefined) throw usageError(`it does not encode ${fixture.name}`);
  const encode = create();
  const reference = referenceBytes(fixture);
  const target = Buffer.alloc(reference.length * ROOM);
  return {
    bytes: reference.length,
    expected: reference.length,
    run: () => encode(target),
    steps: [() => encode(target)],
    difference() {
      target.fill(0xaa);
      const length = encode(target);
      if (Buffer.compare(target.subarray(0, length), reference) === 0) return null;
      const at = firstByteApart(target.subarray(0, length), reference);
      const piece = (/** @type {Buffer} */ bytes) => bytes.subarray(Math.max(0, at - 4), at + 8);
      return firstDifference(piece(target), piece(reference), `byte ${at}`);
    },
  };
}

/** @param {Buffer} a @param {Buffer} b */
function firstByteApart(a, b) {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

/** Runs one parser over mutated messages: deterministic for a seed. */

import { createRandom, drawBelow } from '../../lib/random.js';
import { systemClock } from '../../measure/clock.js';

/**
 * @typedef {object} Subject
 * @property {string} name
 * @property {readonly Buffer[]} samples valid messages
 * @property {(bytes: Buffer, cut: number) => unknown} parse may throw a DragstripError; cut:
 *   position at which the bytes are split, 0: not split; the return value must not depend on it
 *
 * @typedef {object} Fuzzed
 * @property {{ index: number, what: string, hex: string } | null} failure the first one
 * @property {number} refused cases that ended in a DragstripError
 * @property {number} slowestNs
 * @property {number} spentNs
 */

/** A case of some hundred bytes that takes longer is a failure; garbage collections may be long. */
const CASE_NS_MAX = 2e9;
const LENGTH_MAX = 4096;
const MUTATIONS_MAX = 4;
/** Permitted error codes of a parser. */
const CODES = new Set(['E_TARGET', 'E_USAGE', 'HS_PROTOCOL', 'HS_DECODE', 'HS_SERVER']);
/** Bytes with a meaning in protocols. */
const SPECIAL = Buffer.from(
  '\0\x01\x02\t\n\r $*+-:_,%#0159AEn\x7f\x80\xc0\xce\xcf\xdd\xdf\xfb\xfc\xfe\xff',
  'latin1',
);
const RUNS = ['9999999999', '-1', '0000', '\r\n\r\n', '        ', '\xff\xff\xff\xff'];

/**
 * @param {Subject} subject
 * @param {{ cases: number, seed: number }} options
 * @returns {Fuzzed}
 */
export function fuzz({ samples, parse }, { cases, seed }) {
  const random = createRandom(seed, 0x66757a7a);
  const startNs = systemClock.now();
  let refused = 0;
  let slowestNs = 0;
  for (let index = 0; index < cases; index += 1) {
    const bytes = mutate(samples, random);
    const beginNs = systemClock.now();
    const outcome = outcomeOf(parse, bytes, 0);
    const tookNs = systemClock.now() - beginNs;
    slowestNs = Math.max(slowestNs, tookNs);
    if (outcome.error !== null) refused += 1;
    const againNs = tookNs > CASE_NS_MAX ? timeOf(parse, bytes) : tookNs;
    const what =
      faultOf(outcome, Math.min(tookNs, againNs)) ?? splitFault(outcome, parse, bytes, random);
    if (what !== null) {
      const failure = { index, what, hex: bytes.toString('hex').slice(0, 2000) };
      return { failure, refused, slowestNs, spentNs: systemClock.now() - startNs };
    }
  }
  return { failure: null, refused, slowestNs, spentNs: systemClock.now() - startNs };
}

/** @typedef {{ value: unknown, error: any }} Outcome */

/**
 * @param {Subject['parse']} parse
 * @param {Buffer} bytes
 * @param {number} cut
 * @returns {Outcome}
 */
function outcomeOf(parse, bytes, cut) {
  try {
    return { value: parse(bytes, cut), error: null };
  } catch (error) {
    return { value: null, error };
  }
}

/**
 * A busy machine may have delayed the first attempt.
 * @param {Subject['parse']} parse
 * @param {Buffer} bytes
 */
function timeOf(parse, bytes) {
  const startNs = systemClock.now();
  outcomeOf(parse, bytes, 0);
  return systemClock.now() - startNs;
}

/** @param {Outcome} outcome @param {number} tookNs @returns {string | null} */
function faultOf({ error }, tookNs) {
  if (tookNs > CASE_NS_MAX) return `took ${(tookNs / 1e6).toFixed(0)} ms`;
  if (error === null || CODES.has(error.code)) return null;
  return `${error.stack ?? error}`.split('\n').slice(0, 3).join(' ');
}

/**
 * @param {Outcome} whole
 * @param {Subject['parse']} parse
 * @param {Buffer} bytes
 * @param {() => number} random
 * @returns {string | null}
 */
function splitFault(whole, parse, bytes, random) {
  if (bytes.length < 2) return null;
  const cut = 1 + drawBelow(random, bytes.length - 1);
  const parts = outcomeOf(parse, bytes, cut);
  const fault = faultOf(parts, 0);
  if (fault !== null) return `cut at ${cut}: ${fault}`;
  if ((parts.error === null) !== (whole.error === null)) return `cut at ${cut}: other end`;
  if (whole.error !== null) return null;
  const [a, b] = [whole.value, parts.value].map((value) => JSON.stringify(value));
  return a === b ? null : `cut at ${cut}: ${b}, whole: ${a}`.slice(0, 300);
}

/**
 * @param {readonly Buffer[]} samples
 * @param {() => number} random
 * @returns {Buffer}
 */
function mutate(samples, random) {
  /** @type {Buffer} */
  let bytes = Buffer.from(samples[drawBelow(random, samples.length)]);
  for (let n = drawBelow(random, MUTATIONS_MAX + 1); n > 0; n -= 1) {
    bytes = mutateOnce(bytes, samples, random);
  }
  return bytes.subarray(0, LENGTH_MAX);
}

/**
 * @param {Buffer} bytes
 * @param {readonly Buffer[]} samples
 * @param {() => number} random
 * @returns {Buffer}
 */
function mutateOnce(bytes, samples, random) {
  const at = bytes.length === 0 ? 0 : drawBelow(random, bytes.length);
  const before = bytes.subarray(0, at);
  switch (drawBelow(random, 7)) {
    case 0: // a flipped bit
      if (bytes.length > 0) bytes[at] ^= 1 << drawBelow(random, 8);
      return bytes;
    case 1: // a byte with a meaning
      if (bytes.length > 0) bytes[at] = SPECIAL[drawBelow(random, SPECIAL.length)];
      return bytes;
    case 2: // some bytes are missing
      return Buffer.concat([before, bytes.subarray(at + 1 + drawBelow(random, 8))]);
    case 3: // some are repeated
      return Buffer.concat([bytes.subarray(0, at + 1 + drawBelow(random, 8)), bytes.subarray(at)]);
    case 4: // cut off
      return before;
    case 5: // a number grows, blanks appear
      return Buffer.concat([
        before,
        Buffer.from(RUNS[drawBelow(random, RUNS.length)], 'latin1'),
        bytes.subarray(at),
      ]);
    default: // another message follows
      return Buffer.concat([bytes, samples[drawBelow(random, samples.length)]]);
  }
}

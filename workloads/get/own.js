/**
 * The point read of the user's data: keys of a sample, replies compared with reads over a separate
 * connection without the driver, one before and one after. Values are kept as digests only, in this
 * process.
 *
 * A reply is correct if it equals the first read. Otherwise the key is read again at the end: a
 * value that changed meanwhile is counted as changed. If both reads agree and the reply differs, it
 * is wrong, and the round fails.
 */

import { dataError } from '../../lib/errors.js';
import { MISMATCH, OK } from '../../lib/outcome.js';
import { drawKeys } from './keys.js';
import { nothingCompared } from './verifier.js';

/** Characters of a value in its tag. */
const TAG_CHARS = 8;
/** The digest of a missing key. */
const GONE = -1;
/** Maximum number of distinct replies kept per key until it is read again. */
const REPLIES_MAX = 16;

/** @typedef {import('../../lib/types.js').OwnData} OwnData */

/**
 * FNV-1a of 32 bits over UTF-16 units, spread by a multiplication at the end.
 * @param {string} text
 * @param {number} [step] distance of the hashed characters
 */
function hashOf(text, step = 1) {
  let hash = 0x811c9dc5 ^ text.length;
  for (let i = 0; i < text.length; i += step) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
}

/** @param {string} text @returns {number} hash of its length and some of its characters */
function tagOf(text) {
  return hashOf(text, Math.max(1, Math.ceil(text.length / TAG_CHARS)));
}

/** Values read over the separate connection, by key. */
class Digests {
  /** @param {number} length */
  constructor(length) {
    this.tags = new Float64Array(length).fill(GONE);
    this.hashes = new Float64Array(length).fill(GONE);
  }

  /**
   * @param {number} index
   * @param {string | undefined} text
   */
  set(index, text) {
    this.tags[index] = text === undefined ? GONE : tagOf(text);
    this.hashes[index] = text === undefined ? GONE : hashOf(text);
  }
}

/** Compares replies; differing ones are kept until the second read. */
class OwnVerifier {
  /** @param {OwnData} data */
  constructor({ keys, read }) {
    this.keys = keys;
    this.read = read;
    this.compared = nothingCompared();
    /** @type {Digests | null} null: before the first read */
    this.reference = null;
    /** @type {Map<number, { hashes: Set<number>, replies: number }>} by index of the key */
    this.others = new Map();
  }

  async begin() {
    const reference = new Digests(this.keys.length);
    await this.read(this.keys, (index, text) => reference.set(index, text));
    this.reference = reference;
  }

  /**
   * @param {number} index index of the key
   * @param {unknown} reply
   * @param {boolean} isFull
   * @returns {number}
   */
  verify(index, reply, isFull) {
    const text = reply ?? undefined;
    if (text !== undefined && typeof text !== 'string') return MISMATCH;
    const { reference, compared } = this;
    if (reference === null) return OK;
    compared.replies += 1;
    compared.length += text?.length ?? 0;
    compared.bytes += text === undefined ? 0 : isFull ? text.length : Math.min(8, text.length);
    compared.whole += isFull || text === undefined ? 1 : 0;
    const isSame =
      text === undefined
        ? reference.tags[index] === GONE
        : isFull
          ? reference.hashes[index] === hashOf(text)
          : reference.tags[index] === tagOf(text);
    if (!isSame) this.keep(index, text === undefined ? GONE : hashOf(text));
    return OK;
  }

  /**
   * @param {number} index
   * @param {number} hash
   */
  keep(index, hash) {
    const other = this.others.get(index) ?? { hashes: new Set(), replies: 0 };
    other.replies += 1;
    if (other.hashes.size < REPLIES_MAX) other.hashes.add(hash);
    this.others.set(index, other);
  }

  /**
   * @returns {Promise<import('../../lib/types.js').WorkloadMetrics>}
   * @throws {Error} E_DATA: a reply is neither the value before nor the one after
   */
  async end() {
    const { keys, others, reference } = this;
    const suspects = [...others.keys()];
    const second = new Digests(suspects.length);
    const names = suspects.map((index) => keys[index]);
    if (names.length > 0) await this.read(names, (index, text) => second.set(index, text));
    const wrong = suspects.filter((index, i) => reference?.hashes[index] === second.hashes[i]);
    const sum = (/** @type {readonly number[]} */ some) =>
      some.reduce((all, index) => all + (others.get(index)?.replies ?? 0), 0);
    if (wrong.length > 0) {
      throw dataError(
        `wrong data: ${sum(wrong)} replies for ${wrong.length} keys differ from the reads ` +
          'before and after, which are equal (or a value changed and changed back)',
      );
    }
    const gone = second.hashes.reduce((all, hash) => all + (hash === GONE ? 1 : 0), 0);
    return { keys: keys.length, changed: sum(suspects), changedKeys: suspects.length, gone };
  }
}

/** @type {import('../../lib/types.js').Prepare<import('../../lib/types.js').RowsHandle>} */
export const prepareOwn = ({ ownData, seed, ops, options, phase }) => {
  const data = /** @type {OwnData} */ (ownData);
  const { keys: distribution } = /** @type {{ keys?: string }} */ (options);
  const drawn = drawKeys(data.keys.length, seed, ops, { keys: distribution });
  const { length } = drawn;
  const indexOf = (/** @type {number} */ op) => drawn[op < length ? op : op % length] - 1;
  return (handle) => {
    const verifier = new OwnVerifier(data);
    const { value = (/** @type {any} */ reply) => reply } = handle;
    // Handles append ids to their prefix, which is empty here.
    const rows = /** @type {{ get(key: any, done?: any): any }} */ (handle);
    const { compared } = verifier;
    return {
      op: (op, done) => rows.get(data.keys[indexOf(op)], done),
      verify: (op, reply, whole) => verifier.verify(indexOf(op), value(reply), whole),
      ...(phase === 'measure' && {
        compared,
        begin: () => verifier.begin(),
        end: () => verifier.end(),
      }),
    };
  };
};

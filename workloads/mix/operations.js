/**
 * Reads, writes, scans, inserts, deletions and hashes in one mix, with verified replies; also those
 * of YCSB. Reads, writes and scans use the dataset, whose rows stay; inserted and deleted rows and
 * hashes have ids of the process (own-rows.js).
 *
 * A write writes the row's own value of the dataset with a version at its end (freshness.js), so
 * that every read stays verifiable, and stale reads are detected. If no row is left to delete, a
 * row is inserted instead, and if no id is left to insert, one is deleted; if neither is possible,
 * the operation is a get. The kinds in the result are those executed.
 */

import { MISMATCH, MISS, OK } from '../../lib/outcome.js';
import { bindVerify } from '../get/index.js';
import { createVerifier, nothingCompared } from '../get/verifier.js';
import { verifyFetch } from '../mget/fetches.js';
import { promised } from '../promised.js';
import { ALL_KINDS, drawOperations, KIND } from './drawn.js';
import { Freshness, holdsVersions, versioned } from './freshness.js';
import { joinFields, splitFields } from './hashes.js';
import { firstIdOf, OwnRows, rowsMax } from './own-rows.js';
import { forEachTogether, readBack } from './read-back.js';
import { kindsOf } from './weights.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */
/** @typedef {import('../../lib/types.js').RowsHandle} Handle */
/** @typedef {import('../../lib/types.js').CallStyle} CallStyle */
/** @typedef {(i: number, done?: any) => any} Issue */

/** Offset of a process's hash ids from its row ids. */
const HASHES_FROM = 2 ** 18;
const NONE = -1;

/**
 * @typedef {object} Mix
 * @property {import('./weights.js').Weights} weights
 * @property {Uint32Array} keys drawn rows of the operations, changed in place
 * @property {number | null} [ttlMs] time to live of inserted rows
 * @property {Readonly<Record<string, string>>} [names] names of kinds in a result, if they differ
 * @property {boolean} [owns] the rows are temporary, and are read back at the end
 */

/**
 * @typedef {object} State shared by all connections of a process
 * @property {Dataset} dataset
 * @property {import('./drawn.js').Drawn} drawn
 * @property {number[][]} fetches ids of each, by operation
 * @property {Freshness} freshness
 * @property {Freshness} hashFreshness
 * @property {string[][]} hashValues by slot
 * @property {OwnRows} own
 * @property {number} firstId first id of its rows
 * @property {(row: number) => string} textOf text of its rows
 * @property {number | null} ttlMs
 * @property {readonly string[]} kinds possible kinds
 * @property {readonly string[]} names names of these in a result
 * @property {boolean} owns
 * @property {{ now(): number }} clock
 * @property {Uint8Array} done executed kind per operation, an index of ALL_KINDS
 * @property {Int32Array} taken row of the process
 */

/**
 * @param {Parameters<import('../../lib/types.js').Prepare>[0]} context
 * @param {Mix} mix
 * @returns {ReturnType<import('../../lib/types.js').Prepare>}
 */
export function prepareMix(context, mix) {
  const state = createState(context, mix);
  return (handle, calls = 'promise') => bindMix(handle, calls, state);
}

/**
 * @param {Parameters<import('../../lib/types.js').Prepare>[0]} context
 * @param {Mix} mix
 * @returns {State}
 */
function createState(
  { dataset, seed, clock, round, slot, share },
  { weights, keys, ttlMs = null, names = {}, owns = false },
) {
  const place = (slot?.at ?? 0) * 2 + Number(slot?.isCopy ?? false);
  const firstId = firstIdOf({ round, place, share });
  const firstHash = firstId + HASHES_FROM;
  const drawn = drawOperations({ dataset, seed, keys, weights, firstHash });
  const freshness = new Freshness(dataset, { keys: drawn.keys, slots: drawn.slots });
  const hashes = { keys: drawn.hashKeys, slots: drawn.hashSlots };
  const hashFreshness = new Freshness(dataset, hashes);
  const changes = drawn.kinds.reduce((n, kind) => n + Number(isChange(kind)), 0);
  const { writer } = freshness;
  const make = (/** @type {number} */ row) =>
    versioned(dataset, firstId + row, { writer, slot: row });
  const ownRows = new OwnRows(changes > 0 ? rowsMax(dataset.meanSize) : 0);
  const values = Array.from({ length: Math.min(ownRows.size, changes) }, (_, row) => make(row));
  const kinds = possibleKinds(weights, ttlMs !== null);
  return {
    dataset,
    drawn,
    fetches: fetchesOf(drawn),
    freshness,
    hashFreshness,
    own: ownRows,
    firstId,
    ttlMs,
    kinds,
    names: kinds.map((kind) => names[kind] ?? kind),
    owns,
    hashValues: hashFreshness.values.map(splitFields),
    textOf: (row) => values[row] ?? make(row),
    clock: clock ?? { now: () => 0 },
    done: new Uint8Array(drawn.kinds.length),
    taken: new Int32Array(changes > 0 ? drawn.kinds.length : 0),
  };
}

/** @param {number} kind */
function isChange(kind) {
  return kind === KIND.insert || kind === KIND.del;
}

/**
 * @param {import('./drawn.js').Drawn} drawn
 * @returns {number[][]}
 */
function fetchesOf({ kinds, keys, lengths }) {
  /** @type {number[][]} */
  const fetches = [];
  for (const [i, kind] of kinds.entries()) {
    if (kind === KIND.fetch) fetches[i] = Array.from({ length: lengths[i] }, (_, n) => keys[i] + n);
  }
  return fetches;
}

/**
 * @param {import('./weights.js').Weights} weights
 * @param {boolean} expires
 * @returns {string[]} including kinds that replace others
 */
function possibleKinds(weights, expires) {
  const kinds = kindsOf(weights);
  const changes = kinds.includes('insert') || kinds.includes('del');
  const further = changes ? ['get', 'insert', ...(expires ? [] : ['del'])] : [];
  return ALL_KINDS.filter((kind) => kinds.includes(kind) || further.includes(kind));
}

/**
 * @param {Handle} handle
 * @param {CallStyle} calls
 * @param {State} state
 * @returns {import('../../lib/types.js').BoundWorkload}
 */
function bindMix(handle, calls, state) {
  const { dataset, drawn, done: kindOf, kinds, names, owns } = state;
  const { length } = drawn.kinds;
  const at = (/** @type {number} */ index) => (index < length ? index : index % length);
  const compared = { ...nothingCompared(), ...(holdsVersions(dataset) && { stale: 0 }) };
  const numberOf = ALL_KINDS.map((name) => kinds.indexOf(name));
  const issue = bindIssue(handle, calls, state);
  const verifiers = bindVerifiers(handle, state, compared);
  /** @type {import('../../lib/types.js').BoundWorkload} */
  const bound = {
    op: (index, done) => issue(at(index), done),
    verify: (index, reply, whole) => verifiers[kindOf[at(index)]](at(index), reply, whole),
    replyBytes: dataset.valueSize,
    compared,
    kinds: { names, of: (index) => numberOf[kindOf[at(index)]] },
  };
  const fetchCalls = handle.mgetCalls ?? calls;
  if (kinds.includes('fetch') && fetchCalls !== calls) {
    // Operations on one row and on many may have different styles; promises adapt both.
    const styleOf = (/** @type {number} */ i) =>
      drawn.kinds[i] === KIND.fetch ? fetchCalls : calls;
    bound.calls = 'promise';
    bound.op = (index) => promised(issue, styleOf(at(index)), at(index));
  }
  if (!owns) return bound;
  return {
    ...bound,
    begin: () => writeHashes(handle, calls, state),
    async end() {
      const metrics = await readBack(state, handle, calls);
      await removeOwn(handle, calls, state);
      return metrics;
    },
  };
}

/**
 * @param {Handle} handle
 * @param {CallStyle} calls
 * @param {State} state
 * @returns {Issue}
 */
function bindIssue(handle, calls, state) {
  const { drawn, fetches, freshness, hashFreshness, hashValues, done: kindOf } = state;
  const { kinds, keys, slots, lengths, hashKeys, hashSlots } = drawn;
  const change = bindChange(handle, state);
  /** @type {Issue} */
  const read = (i, done) => {
    freshness.beforeRead(i);
    return handle.get(keys[i], done);
  };
  /** @type {Issue} */
  const write = (i, done) => {
    freshness.beforeWrite(i);
    return handle.set?.(keys[i], freshness.values[slots[i]], done);
  };
  const modify = bindModify(calls, read, write);
  return (i, done) => {
    const kind = kinds[i];
    kindOf[i] = kind;
    switch (kind) {
      case KIND.get:
        return read(i, done);
      case KIND.set:
        return write(i, done);
      case KIND.scan:
        return handle.scan?.(keys[i], lengths[i], done);
      case KIND.fetch:
        return handle.mget?.(fetches[i], done);
      case KIND.modify:
        return modify(i, done);
      case KIND.hget:
        hashFreshness.beforeRead(i);
        return handle.hget?.(hashKeys[i], done);
      case KIND.hset:
        hashFreshness.beforeWrite(i);
        return handle.hset?.(hashKeys[i], hashValues[hashSlots[i]], done);
      default:
        if (change.take(i, kind)) return change.send(i, done);
        kindOf[i] = KIND.get;
        return read(i, done);
    }
  };
}

/**
 * @param {CallStyle} calls
 * @param {Issue} read
 * @param {Issue} write
 * @returns {Issue} both replies
 */
function bindModify(calls, read, write) {
  if (calls === 'sync') return (i) => ({ read: read(i), written: write(i) });
  if (calls === 'promise') {
    return async (i) => {
      const reply = await read(i);
      return { read: reply, written: await write(i) };
    };
  }
  return (i, done) =>
    read(i, (/** @type {any} */ error, /** @type {any} */ reply) => {
      if (error) done(error);
      else {
        write(i, (/** @type {any} */ fault, /** @type {any} */ written) =>
          done(fault, { read: reply, written }),
        );
      }
    });
}

/**
 * Inserts and deletions.
 * @param {Handle} handle
 * @param {State} state
 */
function bindChange(
  handle,
  { own: ownRows, taken: rowOf, firstId, textOf, ttlMs, clock, done: kindOf },
) {
  const ttlNs = (ttlMs ?? 0) * 1e6;
  const rowFor = (/** @type {number} */ kind) =>
    kind === KIND.insert ? ownRows.takeAbsent() : ownRows.takePresent();
  return {
    /**
     * @param {number} i
     * @param {number} kind insert or del
     * @returns {boolean} whether a row is available
     */
    take(i, kind) {
      if (ttlMs !== null) ownRows.expire(clock.now() - ttlNs - ttlNs / 2);
      kindOf[i] = kind;
      rowOf[i] = rowFor(kind);
      if (rowOf[i] === NONE && ttlMs === null) {
        kindOf[i] = kind === KIND.insert ? KIND.del : KIND.insert;
        rowOf[i] = rowFor(kindOf[i]);
      }
      return rowOf[i] !== NONE;
    },
    /** @type {Issue} */
    send(i, done) {
      const row = rowOf[i];
      const id = firstId + row;
      if (kindOf[i] === KIND.del) return handle.del?.(id, done);
      if (ttlMs === null) return handle.add?.(id, textOf(row), done);
      ownRows.sentNs[row] = clock.now();
      return handle.addFor?.(id, textOf(row), ttlMs, done);
    },
  };
}

/** @typedef {(i: number, reply: any, isFull: boolean) => number} Verify */

/**
 * @param {Handle} handle
 * @param {State} state
 * @param {import('../get/verifier.js').Compared} compared counted up
 * @returns {Verify[]} by kind
 */
function bindVerifiers(handle, state, compared) {
  const {
    dataset,
    drawn,
    fetches,
    freshness,
    hashFreshness,
    own: ownRows,
    taken: rowOf,
    ttlMs,
    clock,
  } = state;
  const { keys, lengths, hashKeys } = drawn;
  const { value = same, values = same, fields = same, scanned: pairsOf = same } = handle;
  const { stored = always, added = always, deleted = always, hashed = always } = handle;
  const verifyGet = bindVerify(handle, dataset, keys, compared);
  const verifyValue = createVerifier(dataset, compared);
  const unlessStale = (/** @type {number} */ outcome, /** @type {() => boolean} */ isStale) => {
    if (outcome !== OK || compared.stale === undefined || !isStale()) return outcome;
    compared.stale += 1;
    return MISMATCH;
  };
  /** @type {Verify} */
  const get = (i, reply, whole) =>
    unlessStale(verifyGet(i, reply, whole), () => freshness.isStale(i, value(reply)));
  const set = (/** @type {number} */ i, /** @type {any} */ reply) => {
    if (!stored(reply)) return MISMATCH;
    freshness.afterWrite(i);
    return OK;
  };
  /** @type {Record<string, Verify>} */
  const byName = {
    get,
    set,
    modify(i, reply, whole) {
      const outcome = get(i, reply.read, whole);
      const written = set(i, reply.written);
      return outcome === OK ? written : outcome;
    },
    fetch: (i, reply, whole) =>
      verifyFetch(verifyValue, fetches[i], values(reply, fetches[i]), whole),
    scan: (i, reply, whole) => verifyScan(pairsOf(reply), keys[i], lengths[i], verifyValue, whole),
    insert(i, reply) {
      if (!added(reply)) return MISMATCH;
      if (ttlMs !== null) ownRows.storedNs[rowOf[i]] = clock.now();
      ownRows.inserted(rowOf[i]);
      return OK;
    },
    del(i, reply) {
      if (!deleted(reply)) return MISS;
      ownRows.deleted(rowOf[i]);
      return OK;
    },
    hget(i, reply, whole) {
      const text = joinFields(fields(reply), dataset.sizeOf(hashKeys[i]));
      if (text === undefined) return MISS;
      const outcome = verifyValue(hashKeys[i], text, whole);
      return unlessStale(outcome, () => hashFreshness.isStale(i, String(text)));
    },
    hset(i, reply) {
      if (!hashed(reply)) return MISMATCH;
      hashFreshness.afterWrite(i);
      return OK;
    },
  };
  return ALL_KINDS.map((name) => byName[name]);
}

/** @param {any} reply */
const same = (reply) => reply;
const always = () => true;

/**
 * @param {readonly (readonly [number, string])[]} rows ids and values
 * @param {number} first
 * @param {number} length
 * @param {import('../get/verifier.js').VerifyValue} verifyValue
 * @param {boolean} whole
 * @returns {number} MISMATCH includes missing rows between others, and wrong order
 */
function verifyScan(rows, first, length, verifyValue, whole) {
  if (rows.length === 0) return MISS;
  if (rows.length !== length) return MISMATCH;
  for (let n = 0; n < length; n += 1) {
    const [id, text] = rows[n];
    if (Number(id) !== first + n) return MISMATCH;
    const outcome = verifyValue(first + n, text, whole);
    if (outcome !== OK) return outcome;
  }
  return OK;
}

/**
 * @param {Handle} handle
 * @param {CallStyle} calls
 * @param {State} state
 */
async function writeHashes(handle, calls, { drawn, dataset }) {
  const write = (/** @type {number} */ id, /** @type {any} */ done) =>
    handle.hset?.(id, splitFields(dataset.value(id)), done);
  await forEachTogether(drawn.hashes, (id) => promised(write, calls, id));
}

/**
 * The next process uses the same ids.
 * @param {Handle} handle
 * @param {CallStyle} calls
 * @param {State} state
 */
async function removeOwn(handle, calls, { own, firstId, ttlMs }) {
  if (ttlMs !== null) return;
  const left = own.present.last(own.size);
  const remove = (/** @type {number} */ row, /** @type {any} */ done) =>
    handle.del?.(firstId + row, done);
  await forEachTogether(left, (row) => promised(remove, calls, row));
}

/**
 * Reads, writes, scans, inserts, deletions and hashes in one mix, with verified replies: on rows
 * that are made for the run and removed after it. Reads, writes and scans are on the dataset, whose
 * rows stay; what is inserted and deleted has ids of the process (own-rows.js), as have hashes.
 *
 * Where no row is left to delete, a row is inserted in its place, and where no id is left to
 * insert, one is deleted; where neither is possible the operation is a get. The kinds of a result
 * say what was done.
 */

import { defineWorkload } from '../../lib/define.js';
import { MISMATCH, MISS, OK } from '../../lib/outcome.js';
import { formatVersion, VERSION_LETTERS } from '../../lib/row-version.js';
import { bindVerify, workload as get } from '../get/index.js';
import { options, planOf } from '../get/plan.js';
import { createVerifier, nothingCompared } from '../get/verifier.js';
import { Freshness, hasPlace } from '../mix/freshness.js';
import { ALL_KINDS, CRUD_DEFAULT, kindsOf, parseMix } from '../mix/weights.js';
import { promised } from '../promised.js';
import { drawOperations, fieldsOfAll, KIND } from './drawn.js';
import { joinFields, splitFields } from './hashes.js';
import { namespace } from './namespace.js';
import { firstIdOf, OwnRows, rowsMax } from './own-rows.js';
import { forEachTogether, readBack } from './read-back.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */
/** @typedef {import('../../lib/types.js').RowsHandle} Handle */
/** @typedef {import('../../lib/types.js').CallStyle} CallStyle */
/** @typedef {import('../../lib/types.js').RowOperation} RowOperation */

/** Ids of the hashes of a process begin so many above those of its rows. */
const HASHES_FROM = 2 ** 18;
const NONE = -1;

/** What a storage must have for each kind. @type {Readonly<Record<string, RowOperation[]>>} */
const NEEDED = Object.freeze({
  scan: ['scan'],
  insert: ['add', 'del'],
  del: ['add', 'del'],
  hget: ['hash'],
  hset: ['hash'],
});
/** @type {Readonly<Record<string, string>>} */
const WORDS = Object.freeze({
  scan: 'scans of adjacent rows',
  add: 'inserts of single rows',
  del: 'deletions',
  hash: 'hashes',
  expire: 'rows that expire',
});

export const workload = defineWorkload({
  name: 'crud',
  needs: ['get', 'set'],
  loads: true,
  options,
  plan: planOf('crud'),
  slices: true,
  namespace,
  offers({ name, rows = [] }, { mix = CRUD_DEFAULT, ttlMs }) {
    const kinds = kindsOf(parseMix(String(mix)));
    const needed = ttlMs === undefined ? [] : ['expire'];
    for (const kind of kinds) needed.push(...(NEEDED[kind] ?? []));
    const lacking = needed.find((one) => !rows.some((has) => has === one));
    if (lacking === undefined) return true;
    return {
      reason: `${name} has no ${WORDS[lacking]}`,
      hint: 'leave it out, or take it out of --mix',
    };
  },
  check: get.prepare,
  prepare(context) {
    const state = createState(context);
    return (handle, calls = 'promise') => bindCrud(handle, calls, state);
  },
});

/**
 * @typedef {object} State of a process, whatever the number of its connections
 * @property {Dataset} dataset
 * @property {import('./drawn.js').Drawn} drawn
 * @property {Freshness} freshness
 * @property {Freshness} hashFreshness
 * @property {string[][]} hashValues by slot
 * @property {OwnRows} own
 * @property {number} firstId of its own rows
 * @property {(row: number) => string} textOf of its own rows
 * @property {number | null} ttlMs
 * @property {readonly string[]} names of the kinds that occur
 * @property {{ now(): number }} clock
 * @property {Uint8Array} done what each operation was in the end, an index of ALL_KINDS
 * @property {Int32Array} taken its own row
 */

/**
 * @param {Parameters<import('../../lib/types.js').Prepare>[0]} context
 * @returns {State}
 */
function createState({ dataset, seed, ops, options, clock, round, slot, share }) {
  const { mix = CRUD_DEFAULT, ttlMs = null, keys } = /** @type {any} */ (options);
  const place = slot === undefined ? (share ?? process.pid) : slot.at * 2 + Number(slot.isCopy);
  const firstId = firstIdOf({ round, place });
  const from = { dataset, seed, ops, mix, keys, firstHash: firstId + HASHES_FROM };
  const drawn = drawOperations(from);
  const freshness = new Freshness(dataset, { keys: drawn.keys, slots: drawn.slots });
  const hashes = { keys: drawn.hashKeys, slots: drawn.hashSlots };
  const hashFreshness = new Freshness(dataset, hashes);
  const { kinds } = drawn;
  const inserts = kinds.reduce(
    (n, kind) => n + Number(kind === KIND.insert || kind === KIND.del),
    0,
  );
  const { writer } = freshness;
  const make = (/** @type {number} */ row) => versioned(dataset, firstId + row, writer, row);
  const own = new OwnRows(rowsMax(dataset.meanSize));
  const values = Array.from({ length: Math.min(own.size, inserts) }, (_, row) => make(row));
  return {
    ...{ dataset, drawn, freshness, hashFreshness, own, firstId, ttlMs },
    names: possibleKinds(parseMix(mix), ttlMs !== null),
    hashValues: fieldsOfAll(hashFreshness.values),
    textOf: (row) => values[row] ?? make(row),
    clock: clock ?? { now: () => 0 },
    done: new Uint8Array(kinds.length),
    taken: new Int32Array(kinds.length),
  };
}

/**
 * @param {import('../mix/weights.js').Weights} weights
 * @param {boolean} expires
 * @returns {string[]} with those in whose place others are done
 */
function possibleKinds(weights, expires) {
  const kinds = kindsOf(weights);
  const changes = kinds.includes('insert') || kinds.includes('del');
  const further = changes ? ['get', 'insert', ...(expires ? [] : ['del'])] : [];
  return ALL_KINDS.filter((kind) => kinds.includes(kind) || further.includes(kind));
}

/**
 * @param {Dataset} dataset
 * @param {number} id
 * @param {number} writer
 * @param {number} slot
 * @returns {string} its value, with a version where it has a place
 */
function versioned(dataset, id, writer, slot) {
  const text = dataset.value(id);
  if (!hasPlace(text)) return text;
  const body = text.slice(0, text.length - VERSION_LETTERS);
  return Buffer.from(body + formatVersion(id, { writer, slot }), 'latin1').toString('latin1');
}

/**
 * @param {Handle} handle
 * @param {CallStyle} calls
 * @param {State} state
 * @returns {import('../../lib/types.js').BoundWorkload}
 */
function bindCrud(handle, calls, state) {
  const { dataset, drawn, done: kindOf } = state;
  const { length } = drawn.kinds;
  const at = (/** @type {number} */ index) => (index < length ? index : index % length);
  const compared = { ...nothingCompared(), stale: 0 };
  const { names } = state;
  const numberOf = ALL_KINDS.map((name) => names.indexOf(name));
  const issue = bindIssue(handle, state);
  const verifiers = bindVerifiers(handle, state, compared);
  return {
    op: (index, done) => issue(at(index), done),
    verify: (index, reply, whole) => verifiers[kindOf[at(index)]](at(index), reply, whole),
    replyBytes: dataset.valueSize,
    compared,
    kinds: { names, of: (index) => numberOf[kindOf[at(index)]] },
    before: () => writeHashes(handle, calls, state),
    async after() {
      const metrics = await readBack(state, handle, calls);
      await removeOwn(handle, calls, state);
      return metrics;
    },
  };
}

/**
 * @param {Handle} handle
 * @param {State} state
 * @returns {(i: number, done?: any) => any}
 */
function bindIssue(handle, state) {
  const { drawn, freshness, hashFreshness, hashValues, done: kindOf } = state;
  const { kinds, keys, slots, lengths, hashKeys, hashSlots } = drawn;
  const change = bindChange(handle, state);
  const read = (/** @type {number} */ i, /** @type {any} */ done) => {
    kindOf[i] = KIND.get;
    freshness.beforeRead(i);
    return handle.get(keys[i], done);
  };
  return (i, done) => {
    const kind = kinds[i];
    kindOf[i] = kind;
    switch (kind) {
      case KIND.get:
        return read(i, done);
      case KIND.set:
        freshness.beforeWrite(i);
        return handle.set?.(keys[i], freshness.values[slots[i]], done);
      case KIND.scan:
        return handle.scan?.(keys[i], lengths[i], done);
      case KIND.hget:
        hashFreshness.beforeRead(i);
        return handle.hget?.(hashKeys[i], done);
      case KIND.hset:
        hashFreshness.beforeWrite(i);
        return handle.hset?.(hashKeys[i], hashValues[hashSlots[i]], done);
      default:
        return change(i, kind) ? change.send(i, done) : read(i, done);
    }
  };
}

/**
 * Inserts and deletions.
 * @param {Handle} handle
 * @param {State} state
 */
function bindChange(handle, { own, taken, firstId, textOf, ttlMs, clock, done: kindOf }) {
  const ttlNs = (ttlMs ?? 0) * 1e6;
  /**
   * @param {number} i
   * @param {number} kind insert or del
   * @returns {boolean} whether there is a row for it
   */
  function take(i, kind) {
    if (ttlMs !== null) own.expire(clock.now() - ttlNs - ttlNs / 2);
    const first = kind === KIND.insert ? own.takeAbsent() : own.takePresent();
    const other =
      ttlMs !== null || first !== NONE ? NONE : kind === KIND.insert ? KIND.del : KIND.insert;
    const row =
      first !== NONE || other === NONE
        ? first
        : other === KIND.insert
          ? own.takeAbsent()
          : own.takePresent();
    kindOf[i] = first === NONE ? other : kind;
    taken[i] = row;
    return row !== NONE;
  }

  /** @param {number} i @param {any} done */
  function send(i, done) {
    const row = taken[i];
    const id = firstId + row;
    if (kindOf[i] === KIND.del) return handle.del?.(id, done);
    if (ttlMs === null) return handle.add?.(id, textOf(row), done);
    own.sentNs[row] = clock.now();
    return handle.addFor?.(id, textOf(row), ttlMs, done);
  }
  return Object.assign(take, { send });
}

/** @typedef {(i: number, reply: any, whole: boolean) => number} Verify */

/**
 * @param {Handle} handle
 * @param {State} state
 * @param {import('../../lib/types.js').Compared & { stale: number }} compared counted up
 * @returns {Verify[]} by kind
 */
function bindVerifiers(handle, state, compared) {
  const { dataset, drawn, freshness, hashFreshness, own, taken, ttlMs, clock } = state;
  const { keys, lengths, hashKeys } = drawn;
  const { value = same, fields = same, scanned: pairsOf = same } = handle;
  const { stored = always, added = always, deleted = always, hashed = always } = handle;
  const verifyGet = bindVerify(handle, dataset, keys, compared);
  const verifyValue = createVerifier(dataset, compared);
  const unlessStale = (/** @type {number} */ outcome, /** @type {() => boolean} */ isStale) => {
    if (outcome !== OK || !isStale()) return outcome;
    compared.stale += 1;
    return MISMATCH;
  };
  /** @type {Record<string, Verify>} */
  const byName = {
    get: (i, reply, whole) =>
      unlessStale(verifyGet(i, reply, whole), () => freshness.isStale(i, value(reply))),
    set(i, reply) {
      if (!stored(reply)) return MISMATCH;
      freshness.afterWrite(i);
      return OK;
    },
    scan: (i, reply, whole) => verifyScan(pairsOf(reply), keys[i], lengths[i], verifyValue, whole),
    insert(i, reply) {
      if (!added(reply)) return MISMATCH;
      if (ttlMs !== null) own.storedNs[taken[i]] = clock.now();
      own.inserted(taken[i]);
      return OK;
    },
    del(i, reply) {
      if (!deleted(reply)) return MISS;
      own.deleted(taken[i]);
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
 * @returns {number} MISMATCH also for a row that is missing between others, or out of order
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
 * The ids are of the next process, too.
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

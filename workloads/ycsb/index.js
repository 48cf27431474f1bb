/**
 * The core workloads of YCSB by their letters, on the rows of the race. A write writes the row's
 * own value, so that every read stays verifiable. As the rows are fixed, D and E update where YCSB
 * inserts; as no storage here scans, a scan is one multi-get of adjacent keys.
 */

import { defineWorkload } from '../../lib/define.js';
import { choices } from '../../lib/options.js';
import { MISMATCH, OK } from '../../lib/outcome.js';
import { bindVerify, workload as get } from '../get/index.js';
import { createVerifier, nothingCompared } from '../get/verifier.js';
import { verifyFetch } from '../mget/fetches.js';
import { promised } from '../promised.js';
import { CORES, drawOperations, KINDS } from './operations.js';

/** @typedef {import('../../lib/types.js').RowsHandle} Handle */
/** @typedef {import('../../lib/types.js').CallStyle} CallStyle */
/** @typedef {import('./operations.js').Drawn} Drawn */

const LETTERS = Object.freeze(Object.keys(CORES));
const summaryOf = (/** @type {string} */ letter) => `${letter}: ${CORES[letter].summary}`;
const CORE = choices(LETTERS, LETTERS, {
  help: `core workloads; ${LETTERS.map(summaryOf).join('; ')}`,
});
const OPERATIONS = 20_000;
const IN_FLIGHT = Object.freeze([1, 64]);

/** @type {import('../../lib/types.js').Prepare} */
const prepare = ({ dataset, seed, ops, options }) => {
  const { core } = /** @type {any} */ (options['parameters']);
  const drawn = drawOperations(CORES[core], { dataset, seed, ops });
  const at = (/** @type {number} */ index) => index % drawn.length;
  return (handle, calls = 'promise') => {
    const ways = bindWays(handle, calls, drawn, CORES[core].share.scan !== undefined);
    const compared = nothingCompared();
    const verifyRead = bindVerify(handle, dataset, drawn.keys, compared);
    const verifyValue = createVerifier(dataset, compared);
    const { stored, values = (/** @type {any} */ reply) => reply } = handle;
    const isStored = (/** @type {any} */ reply) => stored === undefined || stored(reply);
    /** @type {Record<string, (index: number, reply: any, whole: boolean) => number>} */
    const verifiers = {
      read: verifyRead,
      update: (_index, reply) => (isStored(reply) ? OK : MISMATCH),
      modify(index, reply, whole) {
        const read = verifyRead(index, reply.read, whole);
        return read === OK && !isStored(reply.written) ? MISMATCH : read;
      },
      scan(index, reply, whole) {
        const ids = drawn.scans[at(index)];
        return verifyFetch(verifyValue, ids, values(reply, ids), whole);
      },
    };
    return {
      calls: ways.calls,
      op: (index, done) => ways.op[KINDS[drawn.kinds[at(index)]]](at(index), done),
      verify: (index, reply, whole) =>
        verifiers[KINDS[drawn.kinds[at(index)]]](index, reply, whole),
      kinds: { names: KINDS, of: (index) => drawn.kinds[at(index)] },
      compared,
    };
  };
};

/**
 * @param {Handle} handle
 * @param {CallStyle} calls
 * @param {Drawn} drawn
 * @param {boolean} scans
 * @returns {{ calls: CallStyle, op: Record<string, (i: number, done?: any) => any> }}
 */
function bindWays(handle, calls, { keys, scans: ids, values }, scans) {
  const set = (/** @type {number} */ i, /** @type {any} */ done) =>
    handle.set?.(keys[i], /** @type {string} */ (values.get(keys[i])), done);
  const read = (/** @type {number} */ i, /** @type {any} */ done) => handle.get(keys[i], done);
  const scan = (/** @type {number} */ i, /** @type {any} */ done) => handle.mget?.(ids[i], done);
  const own = handle.mgetCalls ?? calls;
  if (!scans || own === calls) {
    return { calls, op: { read, update: set, scan, modify: bindModify(calls, read, set) } };
  }
  // Single rows and many are called in different styles: promises carry both.
  const one =
    (/** @type {typeof read} */ way, /** @type {CallStyle} */ style) => (/** @type {number} */ i) =>
      promised(way, style, i);
  return {
    calls: 'promise',
    op: { read: one(read, calls), update: one(set, calls), scan: one(scan, own) },
  };
}

/**
 * @param {CallStyle} calls
 * @param {(i: number, done?: any) => any} read
 * @param {(i: number, done?: any) => any} set
 * @returns {(i: number, done?: any) => any} both replies
 */
function bindModify(calls, read, set) {
  if (calls === 'sync') return (i) => ({ read: read(i), written: set(i) });
  if (calls === 'promise') {
    return (i) =>
      read(i).then((/** @type {any} */ reply) =>
        set(i).then((/** @type {any} */ written) => ({ read: reply, written })),
      );
  }
  return (i, done) =>
    read(i, (/** @type {any} */ error, /** @type {any} */ reply) => {
      if (error) done(error);
      else {
        set(i, (/** @type {any} */ fault, /** @type {any} */ written) =>
          done(fault, { read: reply, written }),
        );
      }
    });
}

export const workload = defineWorkload({
  name: 'ycsb',
  needs: ['get', 'set'],
  options: { core: CORE },
  shared: {
    ...{ rounds: 3, warmupOperations: 2000, against: null },
    ops: { shown: `${OPERATIONS}; open loops: 10s` },
    inFlight: { shown: IN_FLIGHT.join() },
  },
  loads: ({ inFlight = IN_FLIGHT }) =>
    inFlight.map((/** @type {number} */ k) =>
      k === 1
        ? { kind: 'sync', operations: OPERATIONS }
        : { kind: 'window', inFlight: k, operations: OPERATIONS },
    ),
  plan: ({ core }) => ({
    variants: core.map((/** @type {string} */ letter) => ({ parameters: { core: letter } })),
  }),
  presets: Object.fromEntries(
    LETTERS.map((letter) => [
      `ycsb-${letter}`,
      { summary: summaryOf(letter), options: { core: { ...CORE, default: [letter] } } },
    ]),
  ),
  offers: ({ rows }, { core }) =>
    core !== 'e' || rows?.includes('mget') || { reason: 'no multi-get', hint: 'leave out core e' },
  slices: 'default',
  check: get.prepare,
  prepare,
});

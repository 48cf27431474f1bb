/**
 * A recorded trace, replayed in an open loop: each operation has the time, key and value size of
 * the trace. Keys are numbers of the trace in temporary rows, which get their initial sizes before
 * each benchmark.
 *
 * Requests in flight may be reordered, so a read may return any value that its key has in the
 * trace.
 */

import { defineWorkload } from '../../lib/define.js';
import { usageError } from '../../lib/errors.js';
import { count, reading, text } from '../../lib/options.js';
import { MISMATCH, OK } from '../../lib/outcome.js';
import { KINDS, readTrace } from '../../lib/trace.js';
import { nothingCompared } from '../get/verifier.js';
import { promised } from '../promised.js';
import { rowsNamespace } from '../rows-namespace.js';
import { ReplayValues } from './values.js';

/** @typedef {import('../../lib/types.js').RowsHandle} Handle */
/** @typedef {import('../../lib/types.js').CallStyle} CallStyle */
/** @typedef {import('../../lib/trace.js').Trace} Trace */

const [GET, SET, MGET] = KINDS.keys();
const VALUE_DEFAULT = 16_384;
/** A loader first writes each row with its largest size. */
const FILL_BYTES_MAX = 2 ** 30;
const VALUE_MIN = 8;
/** Concurrent writes before the clock starts. */
const SET_UP_IN_FLIGHT = 64;

/**
 * @param {any} given `2`, `0.5`
 * @param {string} label
 * @returns {number}
 */
function readSpeed(given, label) {
  const speed = typeof given === 'number' ? given : Number(/^\d*\.?\d+$/.exec(given)?.[0]);
  if (speed >= 0.001 && speed <= 1000) return speed;
  throw usageError(
    `${label} ${JSON.stringify(given)}: not a factor from 0.001 to 1000`,
    `write for example ${label} 2`,
  );
}

const options = Object.freeze({
  trace: text({ value: '<file>', help: 'trace that dragstrip record wrote' }),
  speed: reading(readSpeed, {
    value: '<factor>',
    help: 'divide the times of the trace by this: 2 is twice as fast',
    shown: '1',
  }),
  maxInFlight: count(1, 1_000_000, undefined, {
    value: '<k>',
    help: 'most requests in flight; arrivals beyond it are dropped and counted',
    shown: '10000',
  }),
  maxValue: count(VALUE_MIN, 2 ** 23, VALUE_DEFAULT, {
    value: '<bytes>',
    help: 'values of the trace larger than this are replayed at this size',
  }),
});

/** @type {NonNullable<import('../../lib/types.js').WorkloadDefinition['plan']>} */
function plan({ trace: file, speed = 1, maxInFlight, maxValue }) {
  if (file === undefined) throw usageError('replay needs a trace', 'write replay trace.json');
  const trace = readTrace(file);
  const { operations } = trace;
  const rows = Math.max(1, trace.sizes.length);
  const valueSize = Math.max(VALUE_MIN, Math.min(maxValue, largestOf(trace)));
  if (rows * valueSize > FILL_BYTES_MAX) {
    throw usageError(
      `${file}: ${rows} keys of up to ${valueSize} bytes are more than 1 GiB to fill`,
      'choose a smaller --max-value',
    );
  }
  const seconds = Math.max(1, operations.at(-1)?.[0] ?? 0) / 1e6 / speed;
  const rate = Math.max(1e-3, Number((operations.length / seconds).toPrecision(4)));
  const load = { kind: /** @type {const} */ ('rate'), rate, operations: operations.length };
  return {
    loads: [{ ...load, arrivals: 'trace', maxInFlight }],
    shared: { rows, valueSize },
    workload: { workloadOptions: { trace: file, speed, maxValue } },
  };
}

/** @param {Trace} trace */
function largestOf({ sizes, operations }) {
  let largest = 0;
  for (const size of sizes) largest = Math.max(largest, size);
  for (const operation of operations) largest = Math.max(largest, operation[3] ?? 0);
  return largest;
}

/**
 * @param {Trace} trace
 * @param {number} sizeMax
 * @returns {Set<number>[]} all sizes of key 1, 2 …
 */
function sizesOf({ sizes, operations }, sizeMax) {
  const all = sizes.map((size) => new Set([Math.min(size, sizeMax)]));
  for (const [, kind, key, bytes = 0] of operations) {
    if (kind === SET) all[Number(key) - 1].add(Math.min(bytes, sizeMax));
  }
  return all;
}

/** @type {import('../../lib/types.js').Prepare<Handle>} */
const prepare = ({ dataset, options: workloadOptions, contender }) => {
  const { trace: file, speed } = /** @type {{ trace: string, speed: number }} */ (workloadOptions);
  const trace = readTrace(file);
  const { operations } = trace;
  const { valueSize: sizeMax, seed } = dataset;
  const values = new ReplayValues(seed, sizeMax);
  const sizes = sizesOf(trace, sizeMax);
  const kinds = Uint8Array.from(operations, ([, kind]) => kind);
  const { length } = operations;
  const at = (/** @type {number} */ index) => (index < length ? index : index % length);
  const dueNs = Float64Array.from(operations, ([atUs]) => (atUs * 1000) / speed);
  return (handle, calls = 'promise') => {
    const hasMget = kinds.includes(MGET);
    if (hasMget && handle.mget === undefined) {
      throw new Error(`the trace has MGET, which ${contender?.name} does not support`);
    }
    const issue = bindKinds(handle, calls, { trace, values, sizeMax, hasMget });
    const compared = nothingCompared();
    const { value = same, values: valuesOf = same, stored } = handle;
    /** @param {number} key @param {any} one @param {boolean} whole */
    const verifyOne = (key, one, whole) => values.verify(key, sizes[key - 1], one, whole, compared);
    return {
      calls: issue.calls,
      dueNs,
      op: (index, done) => issue.op(at(index), done),
      verify(index, reply, whole) {
        const [, kind, key] = operations[at(index)];
        if (kind === SET) return stored === undefined || stored(reply) ? OK : MISMATCH;
        if (kind === GET) return verifyOne(Number(key), value(reply), whole);
        const keys = /** @type {number[]} */ (key);
        const found = valuesOf(reply, keys);
        const outcomes = keys.map((one, i) => verifyOne(one, found[i], whole));
        return outcomes.find((outcome) => outcome !== OK) ?? OK;
      },
      kinds: { names: KINDS, of: (index) => kinds[at(index)] },
      compared,
      before: () => setSizes(issue.set, trace.sizes, sizeMax),
    };
  };
};

const same = (/** @type {any} */ reply) => reply;

/**
 * @param {Handle} handle
 * @param {CallStyle} calls
 * @param {{ trace: Trace, values: ReplayValues, sizeMax: number, hasMget: boolean }} what
 */
function bindKinds(handle, calls, { trace, values, sizeMax, hasMget }) {
  const { operations, sizes } = trace;
  // A key without a value is mapped to an id after all rows, missing on every storage.
  const idOf = (/** @type {number} */ key) => (sizes[key - 1] < 0 ? sizes.length + key : key);
  const set = (/** @type {number} */ key, /** @type {number} */ size, /** @type {any} */ done) =>
    handle.set?.(key, values.make(key, Math.min(size, sizeMax)), done);
  /** @type {((i: number, done?: any) => any)[]} by kind */
  const ways = [];
  ways[GET] = (i, done) => handle.get(idOf(Number(operations[i][2])), done);
  ways[SET] = (i, done) => set(Number(operations[i][2]), operations[i][3] ?? 0, done);
  const manyOf = operations.map(([, kind, key]) =>
    kind === MGET ? /** @type {number[]} */ (key).map(idOf) : [],
  );
  ways[MGET] = (i, done) => handle.mget?.(manyOf[i], done);
  const manyCalls = handle.mgetCalls ?? calls;
  const isMixed = hasMget && manyCalls !== calls;
  // Operations on one row and on many may have different styles; promises adapt both.
  const styles = [calls, calls, manyCalls];
  const op = isMixed
    ? (/** @type {number} */ i) => promised(ways[operations[i][1]], styles[operations[i][1]], i)
    : (/** @type {number} */ i, /** @type {any} */ done) => ways[operations[i][1]](i, done);
  return {
    calls: isMixed ? /** @type {const} */ ('promise') : calls,
    op,
    set: (/** @type {number} */ key, /** @type {number} */ size) =>
      promised((_i, done) => set(key, size, done), calls, 0),
  };
}

/**
 * @param {(key: number, size: number) => Promise<any>} set
 * @param {readonly number[]} sizes
 * @param {number} sizeMax
 */
async function setSizes(set, sizes, sizeMax) {
  let next = 0;
  const work = async () => {
    while (next < sizes.length) {
      const key = (next += 1);
      await set(key, Math.min(Math.max(0, sizes[key - 1]), sizeMax));
    }
  };
  await Promise.all(Array.from({ length: SET_UP_IN_FLIGHT }, work));
}

export const workload = defineWorkload({
  name: 'replay',
  needs: ['get', 'set'],
  serverOperations: 1,
  namespace: rowsNamespace('replay'),
  options,
  shared: { rows: null, valueSize: null, warmupOperations: 1000 },
  plan,
  check: false,
  prepare,
});

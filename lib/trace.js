/**
 * A trace: commands of clients, written by `dragstrip record` and run by the workload `replay`. It
 * has times, kinds, numbers instead of keys, sizes instead of values, and a digest: a damaged or
 * edited trace is not replayed.
 */

import { readFileSync, statSync } from 'node:fs';
import { digestOf } from './digest.js';
import { unreadable, usageError } from './errors.js';

export const TRACE_SCHEMA = 'dragstrip.trace';
/** 1 had no digest. */
export const TRACE_VERSION = 2;
export const KINDS = Object.freeze(/** @type {const} */ (['get', 'set', 'mget']));
/** Bounds of a recording, and of a file that is read. */
export const OPERATIONS_MAX = 1_000_000;
export const KEYS_MAX = 100_000;
export const KEYS_PER_MGET_MAX = 10_000;
const FILE_BYTES_MAX = 512 * 2 ** 20;
const SIZE_MAX = 512 * 2 ** 20;

/**
 * Microseconds since the first operation; index in KINDS; a key, or keys of an mget; the size in
 * bytes of a set.
 * @typedef {[atUs: number, kind: number, key: number | number[], bytes?: number]} TraceOperation
 */

/**
 * @typedef {object} Trace
 * @property {typeof TRACE_SCHEMA} schema
 * @property {number} version
 * @property {string} recordedAt ISO 8601
 * @property {number} durationUs
 * @property {number[]} sizes size of each key's value in bytes, from key 1 on; -1: no value
 * @property {TraceOperation[]} operations operations ordered by time
 * @property {Record<string, number>} leftOut commands that are not replayed, by name
 */

/** @type {Map<string, Trace>} */
const read = new Map();

/**
 * Synchronous, for a workload's plan and `prepare`; a process reads a file once.
 * @param {string} file
 * @returns {Trace}
 * @throws {import('./errors.js').DragstripError} E_USAGE
 */
export function readTrace(file) {
  const known = read.get(file);
  if (known !== undefined) return known;
  const trace = parseTrace(textOf(file), file);
  read.set(file, trace);
  return trace;
}

/** @param {string} file */
function textOf(file) {
  try {
    if (statSync(file).size <= FILE_BYTES_MAX) return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(`trace ${file}: ${unreadable(error)}`);
  }
  throw usageError(`trace ${file}: larger than 512 MiB`);
}

/**
 * @param {string} text
 * @param {string} file file name for messages
 * @returns {Trace}
 * @throws {import('./errors.js').DragstripError} E_USAGE
 */
export function parseTrace(text, file) {
  const refuse = (/** @type {string} */ why) =>
    usageError(`${file}: not a trace of Dragstrip (${why})`, 'write one: npx dragstrip record');
  /** @type {any} */
  let trace;
  try {
    trace = JSON.parse(text);
  } catch {
    throw refuse('no JSON');
  }
  if (trace?.schema !== TRACE_SCHEMA) throw refuse('another schema');
  if (trace.version !== TRACE_VERSION) throw refuse(`version ${trace.version}`);
  const { digest, ...content } = trace;
  if (digest !== digestOf(content)) {
    throw usageError(
      `${file}: it was changed after it was written: its digest differs`,
      'use the original file, or write one: npx dragstrip record',
    );
  }
  return checkedTrace(content, file, refuse);
}

/**
 * @param {any} trace
 * @param {string} file
 * @param {(why: string) => Error} refuse
 * @returns {Trace}
 */
function checkedTrace(trace, file, refuse) {
  const { sizes, operations, durationUs } = trace;
  if (!isList(sizes, KEYS_MAX) || !sizes.every((one) => isWhole(one, -1, SIZE_MAX))) {
    throw refuse('sizes');
  }
  if (!isList(operations, OPERATIONS_MAX) || !isWhole(durationUs, 0, 86_400e6)) {
    throw refuse('operations');
  }
  if (operations.length === 0) throw usageError(`${file}: it contains no operation to replay`);
  let lastUs = 0;
  for (const [i, operation] of operations.entries()) {
    const why = problemOf(operation, sizes.length, lastUs);
    if (why !== null) throw refuse(`operation ${i + 1}: ${why}`);
    [lastUs] = operation;
  }
  if (lastUs > durationUs) throw refuse('a time after its end');
  return trace;
}

/**
 * @param {Trace} trace
 * @returns {Trace & { digest: string }} trace in the form of a file
 */
export function sealTrace(trace) {
  return { ...trace, digest: digestOf(/** @type {any} */ (trace)) };
}

/**
 * @param {any} operation
 * @param {number} keys
 * @param {number} lastUs
 * @returns {string | null}
 */
function problemOf(operation, keys, lastUs) {
  if (!isList(operation, 4)) return 'no list';
  const [atUs, kind, key, bytes] = operation;
  if (!isWhole(atUs, lastUs, 86_400e6)) return 'time';
  if (!isWhole(kind, 0, KINDS.length - 1)) return 'kind';
  const named = KINDS[kind] === 'mget' ? key : [key];
  if (!isList(named, KEYS_PER_MGET_MAX) || named.length === 0) return 'keys';
  if (!named.every((one) => isWhole(one, 1, keys))) return 'key';
  return KINDS[kind] === 'set' && !isWhole(bytes, 0, SIZE_MAX) ? 'size' : null;
}

/** @param {unknown} value @param {number} max @returns {value is any[]} */
function isList(value, max) {
  return Array.isArray(value) && value.length <= max;
}

/** @param {unknown} value @param {number} min @param {number} max */
function isWhole(value, min, max) {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

/**
 * A trace: what clients asked a server, as `dragstrip record` writes it and the workload `replay`
 * runs it. It has times, kinds, numbers in place of keys, and sizes in place of values.
 */

import { readFileSync, statSync } from 'node:fs';
import { usageError } from './errors.js';

export const TRACE_SCHEMA = 'dragstrip.trace';
export const TRACE_VERSION = 1;
export const KINDS = Object.freeze(/** @type {const} */ (['get', 'set', 'mget']));
/** Bounds of a recording, and of a file that is read. */
export const OPERATIONS_MAX = 1_000_000;
export const KEYS_MAX = 100_000;
export const KEYS_PER_MGET_MAX = 10_000;
const FILE_BYTES_MAX = 512 * 2 ** 20;
const SIZE_MAX = 512 * 2 ** 20;

/**
 * Microseconds since the first operation; index in KINDS; a key, or keys of an mget; of a set the
 * size in bytes.
 * @typedef {[atUs: number, kind: number, key: number | number[], bytes?: number]} TraceOperation
 */

/**
 * @typedef {object} Trace
 * @property {typeof TRACE_SCHEMA} schema
 * @property {number} version
 * @property {string} recordedAt ISO 8601
 * @property {number} durationUs
 * @property {number[]} sizes of each key's value in bytes, from key 1 on; -1: it had none
 * @property {TraceOperation[]} operations in the order of their times
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
    throw usageError(`trace ${file}: cannot be read (${error.code ?? error.message})`);
  }
  throw usageError(`trace ${file}: larger than 512 MiB`);
}

/**
 * @param {string} text
 * @param {string} file for messages
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
  const { sizes, operations, durationUs } = trace;
  if (!isList(sizes, KEYS_MAX) || !sizes.every((one) => isWhole(one, -1, SIZE_MAX))) {
    throw refuse('sizes');
  }
  if (!isList(operations, OPERATIONS_MAX) || !isWhole(durationUs, 0, 86_400e6)) {
    throw refuse('operations');
  }
  if (operations.length === 0) throw usageError(`${file}: it has no operation to replay`);
  let lastUs = 0;
  for (const [i, operation] of operations.entries()) {
    const why = lackOf(operation, sizes.length, lastUs);
    if (why !== null) throw refuse(`operation ${i + 1}: ${why}`);
    [lastUs] = operation;
  }
  if (lastUs > durationUs) throw refuse('a time after its end');
  return trace;
}

/**
 * @param {any} operation
 * @param {number} keys
 * @param {number} lastUs
 * @returns {string | null}
 */
function lackOf(operation, keys, lastUs) {
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

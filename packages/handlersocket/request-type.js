/**
 * The type of a request: decoder of its reply, promise or callback, and whether it may be retried.
 * Requests of one type share one object, so a request in flight is only a type and a function.
 */

import { HandlerSocketError } from './handlersocket-error.js';
import { describe } from './request-lines.js';

/** @typedef {import('./reply-values.js').Decode} Decode */

/**
 * Receives the result: the resolve function of a promise, or a callback (error, value).
 * @typedef {(...result: any[]) => void} ReplyCallback
 */

export class RequestType {
  /**
   * @param {Decode} decode
   * @param {{ promise: boolean, change?: boolean, indexId?: number }} options change: not retried;
   *   indexId: its index, -1 for none
   */
  constructor(decode, { promise, change = false, indexId = -1 }) {
    this.decode = decode;
    this.promise = promise;
    this.change = change;
    this.indexId = indexId;
  }
}

/** The two types of an operation, for promises and for callbacks. */
export class RequestTypePair {
  /**
   * @param {Decode} decode
   * @param {number} indexId
   * @param {boolean} [change]
   */
  constructor(decode, indexId, change = false) {
    this.promise = new RequestType(decode, { promise: true, change, indexId });
    this.callback = new RequestType(decode, { promise: false, change, indexId });
  }
}

/**
 * @param {RequestType} type
 * @param {ReplyCallback} callback
 * @param {any} value
 */
export function settle(type, callback, value) {
  if (type.promise) {
    callback(value);
    return;
  }
  try {
    callback(null, value);
  } catch (error) {
    throwLater(error);
  }
}

/**
 * @param {RequestType} type
 * @param {ReplyCallback} callback
 * @param {unknown} error
 */
export function settleError(type, callback, error) {
  if (type.promise) {
    // Only resolve is kept of each promise: resolving with a rejected one rejects it.
    callback(Promise.reject(error));
    return;
  }
  try {
    callback(error);
  } catch (thrown) {
    throwLater(thrown);
  }
}

export const MAYBE_EXECUTED = '; the change in flight may have been executed';

/**
 * @param {{ type: RequestType, callback: ReplyCallback }[]} entries
 * @param {HandlerSocketError} error
 */
export function rejectLost(entries, error) {
  const { address, code, message } = error;
  // Two shared errors, because one per request would take seconds with 500,000 in flight.
  const plain = new HandlerSocketError(code, message, { address, cause: error });
  const detail = { address, cause: error, outcomeUnknown: true };
  const unknown = new HandlerSocketError(code, message + MAYBE_EXECUTED, detail);
  for (const { type, callback } of entries)
    settleError(type, callback, type.change ? unknown : plain);
}

/**
 * Exceptions of a callback are the caller's; they must not break the connection.
 * @param {unknown} error
 */
function throwLater(error) {
  process.nextTick(() => {
    throw error;
  });
}

/** @type {ReplyCallback} */
let captured = ignore;
/** @param {ReplyCallback} resolve */
const capture = (resolve) => {
  captured = resolve;
};

/**
 * Creates a promise and passes its resolve function to `captured()`, without a closure per promise.
 * @returns {Promise<any>}
 */
export function newPromise() {
  return new Promise(capture);
}

/** @returns {ReplyCallback} the resolve function of the last promise of newPromise */
export function capturedResolve() {
  return captured;
}

/** @type {ReplyCallback} */
export function ignore() {}

/**
 * @param {unknown} callback
 * @returns {string} for messages
 */
export function describeCallback(callback) {
  return `callback ${describe(callback)}: must be a function`;
}

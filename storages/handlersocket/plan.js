/**
 * What is known of a request while it waits: how its reply is read, how the caller is told, and
 * whether it may be sent twice. One plan is shared by all requests of a kind, so that a request in
 * flight is no more than a plan and a function.
 */

import { HandlerSocketError } from '../../protocols/handlersocket/errors.js';
import { describe } from '../../protocols/handlersocket/request.js';

/** @typedef {import('../../protocols/handlersocket/reply.js').Decode} Decode */

/**
 * Takes the result. Of a promise: its resolve function. Of a callback: (error, value).
 * @typedef {(...result: any[]) => void} Sink
 */

export class Plan {
  /**
   * @param {Decode} decode
   * @param {{ promise: boolean, change?: boolean, indexId?: number }} options change: not to be
   *   sent twice; indexId: the index that it is for, -1 for none
   */
  constructor(decode, { promise, change = false, indexId = -1 }) {
    this.decode = decode;
    this.promise = promise;
    this.change = change;
    this.indexId = indexId;
  }
}

/** The two plans of an operation: `of(callback)` gives the one for the caller's style. */
export class PlanPair {
  /**
   * @param {Decode} decode
   * @param {number} indexId
   * @param {boolean} [change]
   */
  constructor(decode, indexId, change = false) {
    this.promise = new Plan(decode, { promise: true, change, indexId });
    this.callback = new Plan(decode, { promise: false, change, indexId });
  }
}

/**
 * @param {Plan} plan
 * @param {Sink} sink
 * @param {any} value
 */
export function settle(plan, sink, value) {
  if (plan.promise) {
    sink(value);
    return;
  }
  try {
    sink(null, value);
  } catch (error) {
    throwLater(error);
  }
}

/**
 * @param {Plan} plan
 * @param {Sink} sink
 * @param {unknown} error
 */
export function settleError(plan, sink, error) {
  if (plan.promise) {
    // Only resolve is kept of each promise: resolving with a rejected one rejects it.
    sink(Promise.reject(error));
    return;
  }
  try {
    sink(error);
  } catch (thrown) {
    throwLater(thrown);
  }
}

export const MAYBE_EXECUTED = '; the change in flight may have been executed';

/**
 * @param {{ plan: Plan, sink: Sink }[]} entries
 * @param {HandlerSocketError} error
 */
export function rejectLost(entries, error) {
  const { address, code, message } = error;
  // Two errors for all of them: with 500,000 in flight, one each would cost seconds.
  const plain = new HandlerSocketError(code, message, { address, cause: error });
  const detail = { address, cause: error, outcomeUnknown: true };
  const unknown = new HandlerSocketError(code, message + MAYBE_EXECUTED, detail);
  for (const { plan, sink } of entries) settleError(plan, sink, plan.change ? unknown : plain);
}

/**
 * What a callback throws is the caller's: it must surface, and must not break the connection.
 * @param {unknown} error
 */
function throwLater(error) {
  process.nextTick(() => {
    throw error;
  });
}

/** @type {Sink} */
let captured = ignore;
/** @param {Sink} resolve */
const capture = (resolve) => {
  captured = resolve;
};

/**
 * Makes a promise and hands its resolve function to `captured()`, without a closure per promise.
 * @returns {Promise<any>}
 */
export function newPromise() {
  return new Promise(capture);
}

/** @returns {Sink} resolve of the newest promise of newPromise */
export function capturedSink() {
  return captured;
}

/** @type {Sink} */
export function ignore() {}

/**
 * @param {unknown} callback
 * @returns {string} for messages
 */
export function describeCallback(callback) {
  return `callback ${describe(callback)}: must be a function`;
}

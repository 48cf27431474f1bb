/** Validates the arguments of the mutex before sending. */

import { MutexError } from './mutex-error.js';

const EXPIRE_MS_MAX = 2 ** 31 - 1;
const EXPIRE_MS_DEFAULT = 30_000;

/** @param {string} message */
function refuse(message) {
  return new MutexError('MUTEX_ARGUMENT', message);
}

/**
 * @param {unknown} work
 * @param {string} message
 */
export function argumentsOf(work, message) {
  if (typeof work !== 'function') throw refuse(message);
}

/**
 * @param {number} expireMs
 * @returns {number}
 */
export function requireExpireMs(expireMs) {
  if (Number.isInteger(expireMs) && expireMs >= 1 && expireMs <= EXPIRE_MS_MAX) return expireMs;
  throw refuse(`expireMs ${expireMs}: must be whole milliseconds from 1 to ${EXPIRE_MS_MAX}`);
}

/**
 * @param {number} blockMs
 * @returns {number}
 */
export function requireBlockMs(blockMs) {
  if (typeof blockMs === 'number' && blockMs >= 0) return blockMs;
  throw refuse(`blockMs ${blockMs}: must be milliseconds from 0, or Infinity`);
}

/**
 * @param {string | readonly string[]} names
 * @returns {readonly string[]}
 */
export function requireNames(names) {
  const list = typeof names === 'string' ? [names] : names;
  if (!Array.isArray(list) || list.length === 0) {
    throw refuse('names: must be a name or a list of names');
  }
  const wrong = list.findIndex((name) => typeof name !== 'string' || name === '');
  if (wrong >= 0) throw refuse(`names[${wrong}]: must be a non-empty string`);
  if (new Set(list).size < list.length) throw refuse('names: a name is listed twice');
  return list;
}

/**
 * @param {{ expireMs?: number, blockMs?: number, owner?: string }} options
 * @param {{ expireMs?: number, blockMs?: number }} defaults
 */
export function completeOptions(
  { expireMs, blockMs, owner },
  { expireMs: expire = EXPIRE_MS_DEFAULT, blockMs: block = Number.POSITIVE_INFINITY },
) {
  if (owner !== undefined && (typeof owner !== 'string' || owner === '')) {
    throw refuse('owner: must be a non-empty string');
  }
  return {
    owner,
    expireMs: requireExpireMs(expireMs ?? expire),
    blockMs: requireBlockMs(blockMs ?? block),
  };
}

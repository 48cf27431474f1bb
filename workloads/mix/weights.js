/** The weights of a mix, as they are written. */

import { usageError } from '../../lib/errors.js';

export const MIX_DEFAULT = 'get:95,set:5';
export const CRUD_DEFAULT = 'get:80,set:10,insert:5,del:5';
/** Those of the workload mix, on the rows of the race. */
export const KINDS = /** @type {const} */ (['get', 'set']);
/** With those of the workload crud, on rows of its own. */
export const ALL_KINDS = /** @type {const} */ ([
  ...KINDS,
  .../** @type {const} */ (['scan', 'insert', 'del', 'hget', 'hset']),
]);

/** @typedef {typeof ALL_KINDS[number]} Kind */
/** @typedef {{ kind: Kind, weight: number }[]} Weights */

/**
 * @param {string} text kinds and weights, `get:95,set:5`
 * @returns {Weights} weights add up to more than 0
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function parseMix(text) {
  const parts = text.split(',').map((part) => {
    const match = /^\s*(\w+):(\d+(?:\.\d+)?)\s*$/.exec(part);
    return { kind: /** @type {Kind} */ (match?.[1]), weight: Number(match?.[2]) };
  });
  const known = parts.every(({ kind }) => ALL_KINDS.some((one) => one === kind));
  const once = new Set(parts.map(({ kind }) => kind)).size === parts.length;
  const sum = parts.reduce((all, { weight }) => all + weight, 0);
  if (known && once && sum > 0 && Number.isFinite(sum)) return parts;
  throw usageError(
    `--mix ${JSON.stringify(text)}: not a mix of operations`,
    `write kinds with their weights, ${MIX_DEFAULT}; the kinds: ${ALL_KINDS.join(', ')}`,
  );
}

/**
 * @param {Weights} weights
 * @returns {Kind[]} those that occur
 */
export function kindsOf(weights) {
  return ALL_KINDS.filter((kind) => weights.some((one) => one.kind === kind && one.weight > 0));
}

/**
 * @param {Weights} weights
 * @returns {boolean} whether it leaves the rows that there are: reads, and writes of their values
 */
export function isPlainMix(weights) {
  return kindsOf(weights).every((kind) => KINDS.some((one) => one === kind));
}

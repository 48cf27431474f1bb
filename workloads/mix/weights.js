/** Parser of the weights of a mix. */

import { usageError } from '../../lib/errors.js';

export const MIX_DEFAULT = 'get:95,set:5';
export const CRUD_DEFAULT = 'get:80,set:10,insert:5,del:5';
/** Kinds of `--mix`. */
export const KINDS = Object.freeze([...['get', 'set', 'scan', 'insert', 'del', 'hget', 'hset']]);
/** Kinds that keep the rows of the dataset, except for versions. */
const PLAIN = ['get', 'set'];

/** @typedef {readonly { kind: string, weight: number }[]} Weights */

/**
 * @param {string} text kinds and weights, `get:95,set:5`
 * @returns {Weights} weights with a positive sum
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function parseMix(text) {
  const parts = text.split(',').map((part) => {
    const match = /^\s*(\w+):(\d+(?:\.\d+)?)\s*$/.exec(part);
    return { kind: match?.[1] ?? '', weight: Number(match?.[2]) };
  });
  const known = parts.every(({ kind }) => KINDS.includes(kind));
  const once = new Set(parts.map(({ kind }) => kind)).size === parts.length;
  const sum = parts.reduce((all, { weight }) => all + weight, 0);
  if (known && once && sum > 0 && Number.isFinite(sum)) return parts;
  throw usageError(
    `--mix ${JSON.stringify(text)}: not a mix of operations`,
    `write kinds with their weights, ${MIX_DEFAULT}; kinds: ${KINDS.join(', ')}`,
  );
}

/**
 * @param {Weights} weights
 * @returns {string[]} kinds with a positive weight
 */
export function kindsOf(weights) {
  return weights.filter(({ weight }) => weight > 0).map(({ kind }) => kind);
}

/**
 * @param {Weights} weights
 * @returns {boolean} whether it keeps the existing rows: reads, and writes of their values
 */
export function isPlainMix(weights) {
  return kindsOf(weights).every((kind) => PLAIN.includes(kind));
}

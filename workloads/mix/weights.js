/** The weights of a mix, as they are written. */

import { usageError } from '../../lib/errors.js';

export const MIX_DEFAULT = 'get:95,set:5';
export const KINDS = /** @type {const} */ (['get', 'set']);

/**
 * @param {string} text kinds and weights, `get:95,set:5`
 * @returns {{ kind: 'get' | 'set', weight: number }[]} weights add up to more than 0
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function parseMix(text) {
  const parts = text.split(',').map((part) => {
    const match = /^\s*(\w+):(\d+(?:\.\d+)?)\s*$/.exec(part);
    return { kind: /** @type {'get'} */ (match?.[1]), weight: Number(match?.[2]) };
  });
  const known = parts.every(({ kind }) => KINDS.some((one) => one === kind));
  const once = new Set(parts.map(({ kind }) => kind)).size === parts.length;
  const sum = parts.reduce((all, { weight }) => all + weight, 0);
  if (known && once && sum > 0 && Number.isFinite(sum)) return parts;
  throw usageError(
    `--mix ${JSON.stringify(text)}: not a mix of operations`,
    `write kinds with their weights, ${MIX_DEFAULT}; the kinds: ${KINDS.join(', ')}`,
  );
}

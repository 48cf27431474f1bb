/** Rates as written on the command line: `10k` per second, and the steps of a ramp. */

import { usageError } from '../lib/errors.js';

const RATE_MIN = 0.01;
const RATE_MAX = 1e7;
/** Rates of a ramp; each is one benchmark per storage. */
const RAMP_MAX = 100;

/**
 * @param {string | number} given `10k`, `2.5k`, `1M`, `0.5`
 * @param {string} flag
 * @returns {number} operations per second, more than 0 and at most ten million
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function parseRate(given, flag) {
  const text = String(given);
  const match = /^(\d+(?:\.\d+)?)([kM]?)$/.exec(text.trim());
  const unit = { '': 1, k: 1e3, M: 1e6 }[match?.[2] ?? ''] ?? 1;
  const value = match === null ? Number.NaN : Number((Number(match[1]) * unit).toPrecision(12));
  if (value >= RATE_MIN && value <= RATE_MAX) return value;
  throw usageError(
    `${flag} ${JSON.stringify(text)}: not a rate from ${RATE_MIN} to ${RATE_MAX} per second`,
    `write for example ${flag} ${flag === '--ramp' ? '1k:10k:1k' : '10k'}`,
  );
}

/**
 * @param {string | readonly number[]} input `from:to:step`, or a list separated by commas
 * @param {string} flag
 * @returns {number[]} unique rates, ascending
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function parseRamp(input, flag) {
  const text = String(input);
  const parts = text.split(':');
  if (parts.length === 1) {
    const rates = text.split(',').map((part) => parseRate(part, flag));
    return [...new Set(rates)].sort((a, b) => a - b);
  }
  const [from, to, step] = parts.map((part) => parseRate(part, flag));
  if (parts.length !== 3 || from > to) {
    throw usageError(
      `${flag} ${JSON.stringify(text)}: not from:to:step, ascending`,
      `write for example ${flag} 1k:10k:1k`,
    );
  }
  const count = Math.floor((to - from) / step + 1e-9) + 1;
  if (count > RAMP_MAX) {
    throw usageError(
      `${flag} ${text}: ${count} rates, the maximum is ${RAMP_MAX}`,
      'take larger steps',
    );
  }
  return Array.from({ length: count }, (_, i) => Number((from + i * step).toPrecision(12)));
}

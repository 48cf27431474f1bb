/**
 * Parts of strict schemas for messages of other machines. The input is already limited in bytes; a
 * list ends at its first invalid element, so that millions of them are one issue.
 */

import { z } from 'zod';
import { count } from '../../lib/schema-parts.js';

export { count, nanoseconds } from '../../lib/schema-parts.js';

export const number = z.number();
/** JSON has null for numbers that are not finite. */
export const known = number.nullable();
/** A displayed name, or a key. */
export const label = z.string().max(500);
/** A message of a driver. */
export const message = z.string().max(65_536);
/** Name of an installed part of Dragstrip, never a path. */
export const partName = z.string().regex(/^[a-z0-9-]{1,100}$/i);
export const runId = z.uuid();
/** Signature of seat-key.js, in base64. */
export const signature = z.string().max(200);
export const failure = z.strictObject({ code: label, message });
/** Fields that describe a load machine. */
export const MACHINE = Object.freeze({
  dragstrip: label,
  node: label,
  platform: label,
  host: label,
  cpu: label,
  cores: count,
});

/**
 * @template {z.ZodType} T
 * @param {T} item
 * @param {number} max
 * @returns {z.ZodType<z.infer<T>[]>}
 */
export function list(item, max) {
  const all = z.array(z.unknown()).max(max);
  return /** @type {any} */ (all.superRefine((found, context) => firstWrong(item, found, context)));
}

/**
 * @template {z.ZodType} T
 * @param {T} item
 * @param {number} [max]
 * @returns {z.ZodType<Record<string, z.infer<T>>>}
 */
export function record(item, max = 1000) {
  const isObject = (/** @type {unknown} */ value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  return /** @type {any} */ (
    z.custom(isObject, 'not an object').superRefine((found, context) => {
      const names = Object.keys(found);
      if (names.length > max || names.some((name) => name.length > 500)) {
        context.addIssue({ code: 'custom', message: 'too many names, or too long ones' });
      } else firstWrong(item, Object.values(found), context);
    })
  );
}

/**
 * @param {z.ZodType} item
 * @param {readonly unknown[]} found
 * @param {z.RefinementCtx} context
 */
function firstWrong(item, found, context) {
  for (const [i, one] of found.entries()) {
    const [issue] = item.safeParse(one).error?.issues ?? [];
    if (issue === undefined) continue;
    context.addIssue({
      code: 'custom',
      message: issue.message,
      path: [i, ...issue.path],
    });
    return;
  }
}

/** @param {number} max @returns {z.ZodType<number[]>} a long list of finite numbers */
export function numbers(max) {
  return z.custom(
    (value) => Array.isArray(value) && value.length <= max && value.every(Number.isFinite),
    'not a list of numbers',
  );
}

/** @type {z.ZodType<[number, number][]>} */
export const intervals = z.custom(
  (value) =>
    Array.isArray(value) &&
    value.every((one) => Array.isArray(one) && one.length === 2 && one.every(Number.isFinite)),
  'not a list of intervals',
);

/**
 * @param {z.ZodError} error
 * @returns {string} first issue, in one line
 */
export function firstIssue({ issues: [issue] }) {
  const where = issue.path.join('.');
  return `${where === '' ? '' : `${where}: `}${issue.message}`.slice(0, 300);
}

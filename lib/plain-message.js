/**
 * Messages between a process of Node and one of Bun or Deno, which share only JSON: values without
 * a JSON form (typed arrays, NaN, Infinity) are written as an object with one reserved key.
 */

const ARRAY = '$array';
const NUMBER = '$number';

/** @type {Readonly<Record<string, { from: (values: number[]) => ArrayBufferView }>>} */
const ARRAYS = Object.freeze({ Int32Array, Uint32Array, Float64Array, Uint8Array, Uint16Array });

/** Whether this process uses plain messages. */
export const IS_PLAIN =
  process.versions['bun'] !== undefined || process.versions['deno'] !== undefined;

/**
 * @param {any} value
 * @returns {any} a JSON-compatible copy
 */
export function toPlain(value) {
  if (typeof value === 'number') {
    return Number.isFinite(value) ? value : { [NUMBER]: String(value) };
  }
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value)) {
    const kind = Buffer.isBuffer(value) ? 'Uint8Array' : value.constructor.name;
    return { [ARRAY]: kind, values: Array.from(/** @type {any} */ (value), toPlain) };
  }
  if (Array.isArray(value)) return value.map(toPlain);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toPlain(one)]));
}

/**
 * @param {any} value result of toPlain, through JSON
 * @returns {any}
 */
export function fromPlain(value) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(fromPlain);
  if (Object.hasOwn(value, NUMBER)) return Number(value[NUMBER]);
  if (Object.hasOwn(value, ARRAY)) return ARRAYS[value[ARRAY]].from(value.values.map(fromPlain));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fromPlain(one)]));
}

/**
 * In a child: sends to the parent, in the form that this process uses.
 * @param {unknown} message
 * @param {() => void} [sent]
 */
export function sendToParent(message, sent) {
  // If the parent has exited, this process exits on `disconnect`.
  process.send?.(IS_PLAIN ? toPlain(message) : message, undefined, undefined, sent);
}

/**
 * In a child: receives messages of the parent.
 * @param {(message: any) => void} handle
 */
export function onParentMessage(handle) {
  process.on('message', (message) => handle(IS_PLAIN ? fromPlain(message) : message));
}

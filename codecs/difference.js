/**
 * Compares two decoded values in every part, and locates the first difference. More lenient than
 * deepStrictEqual in one point: bytes in a Buffer and in a Uint8Array are equal, because drivers
 * choose either.
 */

/**
 * @typedef {object} Difference
 * @property {string} path `[3][0].name`
 * @property {string} actual shortened for a message
 * @property {string} expected
 */

/**
 * @param {any} actual
 * @param {any} expected
 * @param {string} [path]
 * @returns {Difference | null} the first difference; null: they are equal
 */
export function firstDifference(actual, expected, path = '') {
  if (Object.is(actual, expected)) return null;
  if (expected instanceof Uint8Array && actual instanceof Uint8Array) {
    return Buffer.compare(actual, expected) === 0 ? null : differ(actual, expected, path);
  }
  if (expected instanceof Error && actual instanceof Error) {
    return actual.message === expected.message ? null : differ(actual, expected, path);
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    for (let i = 0; i < Math.max(expected.length, actual.length); i += 1) {
      if (i >= actual.length) return differ(undefined, expected[i], `${path}[${i}]`);
      const found = firstDifference(actual[i], expected[i], `${path}[${i}]`);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isRecord(expected) || !isRecord(actual)) return differ(actual, expected, path);
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const found = firstDifference(actual[key], expected[key], `${path}.${key}`);
    if (found !== null) return found;
  }
  return null;
}

/** @param {any} value */
function isRecord(value) {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Uint8Array) &&
    !(value instanceof Map) &&
    !(value instanceof Error)
  );
}

/**
 * @param {any} actual
 * @param {any} expected
 * @param {string} path
 * @returns {Difference}
 */
function differ(actual, expected, path) {
  return { path, actual: show(actual), expected: show(expected) };
}

const SHOWN = 60;

/** @param {any} value */
function show(value) {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex', 0, 24)}`;
  if (value instanceof Error) return `Error(${value.message})`;
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Map) return 'a Map';
  return (JSON.stringify(value) ?? String(value)).slice(0, SHOWN);
}

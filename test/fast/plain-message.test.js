/** Messages to and from processes of other runtimes, through JSON. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseRuntime } from '../../engine/drivers/runtimes.js';
import { fromPlain, toPlain } from '../../lib/plain-message.js';

test('values that JSON cannot represent survive a round trip', () => {
  const number = fc.oneof(fc.double({ noDefaultInfinity: false }), fc.integer());
  const leaf = fc.oneof(number, fc.string(), fc.boolean(), fc.constant(null));
  const array = fc.oneof(fc.int32Array(), fc.float64Array(), fc.uint8Array());
  const { value } = fc.letrec((/** @type {any} */ tie) => ({
    value: fc.oneof({ depthSize: 'small' }, leaf, array, tie('list'), tie('record')),
    list: fc.array(tie('value'), { maxLength: 4 }),
    record: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), tie('value'), { maxKeys: 4 }),
  }));
  fc.assert(
    fc.property(value, (one) => {
      const back = fromPlain(JSON.parse(JSON.stringify(toPlain(one))));
      assert.deepEqual(normal(back), normal(one));
    }),
    { seed: 3, numRuns: 300 },
  );
});

/** JSON has no -0, and gives records a prototype. @param {any} value @returns {any} */
function normal(value) {
  if (typeof value === 'number') return value + 0 === 0 ? 0 : value;
  if (ArrayBuffer.isView(value)) {
    return [value.constructor.name, ...Array.from(/** @type {any} */ (value), normal)];
  }
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, normal(one)]));
}

test('only runtimes with or without a version are accepted', () => {
  assert.deepEqual(parseRuntime('node@24'), { kind: 'node', range: '24' });
  assert.deepEqual(parseRuntime('bun'), { kind: 'bun', range: 'latest' });
  for (const text of ['', 'nodejs', 'node@', 'node@x', 'bun@--global', 'deno@^2']) {
    assert.throws(() => parseRuntime(text), { code: 'E_USAGE', hint: /node@24,bun/ });
  }
});

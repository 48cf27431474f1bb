/** The dataset and the seeded random numbers: the same at any time, on any machine. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createDataset, ROWS_MAX, TAG_LENGTH, VALUE_SIZE_MAX } from '../../lib/dataset.js';
import { createRandom, drawBelow, mix32, shuffled } from '../../lib/random.js';

const GOLDEN_SHORT = [
  'eiCcMOU9IkGdwWS4vMl6PMIx',
  'eiCcPOU9x3T9Xl2pPWaRk4rn',
  'eiaGtOU9fZgjv-bxwtDYDLGH',
];
const GOLDEN_SEED_0 = 'Qq8bbbvDDAT9AMabRRYW4ecn';
const GOLDEN_LAST = 'rUBtlfh4xQxaaWx2f-rFA7fi';
const GOLDEN_TAG = 'eiCcMyku';
/** SHA-256 of the values of rows 1 to 1,000 of the default dataset, one behind another. */
const GOLDEN_HASH = '2bb29c0a2b144da6218c133350b66593755e3688800e192d24f6a74b5d2f43cb';
const GOLDEN_MIX = [4289745439, 1113914319, 1434512949];
const GOLDEN_RANDOM = [1672256454, 1983794808, 901460088, 800490246];
const GOLDEN_STREAM = [4283292908, 1662550666];
const GOLDEN_SHUFFLE = [1, 2, 3, 7, 5, 4, 6, 8];

const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const ids = fc.integer({ min: 1, max: ROWS_MAX });
const sizes = fc.integer({ min: TAG_LENGTH, max: 300 });
/** fast-check's own seed: a failure comes again. */
const fixed = { seed: 20261121, numRuns: 300 };

/** @param {number} seed @param {number} valueSize */
const datasetOf = (seed, valueSize) => createDataset({ rows: ROWS_MAX, valueSize, seed });

test('The golden values never change', () => {
  const short = createDataset({ valueSize: 24 });
  assert.deepEqual([1, 2, 100_000].map(short.value), GOLDEN_SHORT);
  assert.equal(datasetOf(0, 24).value(1), GOLDEN_SEED_0);
  assert.equal(datasetOf(2 ** 32 - 1, 24).value(ROWS_MAX), GOLDEN_LAST);
  assert.equal(createDataset({ valueSize: 8 }).value(1), GOLDEN_TAG);
  const hash = createHash('sha256');
  const whole = createDataset();
  for (let id = 1; id <= 1000; id += 1) hash.update(whole.value(id));
  assert.equal(hash.digest('hex'), GOLDEN_HASH);
});

test('A value is the same in every dataset of its seed and size, and from write and value', () => {
  fc.assert(
    fc.property(seeds, ids, sizes, fc.integer({ min: 0, max: 9 }), (seed, id, size, offset) => {
      const text = datasetOf(seed, size).value(id);
      assert.equal(createDataset({ rows: id, valueSize: size, seed }).value(id), text);
      const target = Buffer.alloc(size + 20, 0x2e);
      assert.equal(datasetOf(seed, size).write(id, target, offset), offset + size);
      assert.equal(target.toString('latin1', offset, offset + size), text);
      const outside =
        target.toString('latin1', 0, offset) + target.toString('latin1', offset + size);
      assert.equal(outside, '.'.repeat(20), 'no byte before or behind the value is touched');
    }),
    fixed,
  );
});

test('Every letter of a value is in the alphabet, and all 64 letters occur', () => {
  fc.assert(
    fc.property(seeds, ids, sizes, (seed, id, size) => {
      const text = datasetOf(seed, size).value(id);
      assert.equal(text.length, size);
      assert.match(text, /^[A-Za-z0-9_-]+$/);
    }),
    fixed,
  );
  assert.equal(new Set(createDataset().value(1)).size, 64);
});

test('Distinct ids have distinct values, even if a value is only its tag', () => {
  fc.assert(
    fc.property(seeds, sizes, fc.uniqueArray(ids, { minLength: 2 }), (seed, size, few) => {
      const { value } = datasetOf(seed, size);
      assert.equal(new Set(few.map(value)).size, few.length);
    }),
    fixed,
  );
  const { value } = createDataset({ valueSize: TAG_LENGTH });
  const all = new Set(Array.from({ length: 100_000 }, (_, index) => value(index + 1)));
  assert.equal(all.size, 100_000);
});

test('Distinct seeds have distinct values for the same row', () => {
  fc.assert(
    fc.property(fc.uniqueArray(seeds, { minLength: 2, maxLength: 8 }), ids, (some, id) => {
      const values = some.map((seed) => datasetOf(seed, 64).value(id));
      assert.equal(new Set(values).size, some.length);
    }),
    fixed,
  );
});

test('A value belongs to its own id and to no other', () => {
  fc.assert(
    fc.property(seeds, sizes, ids, ids, (seed, size, id, other) => {
      const { value, belongs } = datasetOf(seed, size);
      assert.equal(belongs(id, value(id)), true);
      assert.equal(belongs(other, value(id)), other === id);
    }),
    fixed,
  );
});

test('A value that is cut, longer, or of another tag does not belong', () => {
  fc.assert(
    fc.property(seeds, sizes, ids, fc.nat({ max: TAG_LENGTH - 1 }), (seed, size, id, at) => {
      const { value, belongs } = datasetOf(seed, size);
      const text = value(id);
      assert.equal(belongs(id, text.slice(1)), false);
      assert.equal(belongs(id, text.slice(0, -1)), false);
      assert.equal(belongs(id, `${text}A`), false);
      const letter = text[at] === 'A' ? 'B' : 'A';
      assert.equal(belongs(id, text.slice(0, at) + letter + text.slice(at + 1)), false);
    }),
    fixed,
  );
  assert.equal(datasetOf(1, 32).belongs(1, ''), false);
});

test('Options out of range are refused with the name of the option', () => {
  /** @type {[object, RegExp][]} */
  const cases = [
    [{ rows: 0 }, /--rows 0/],
    [{ rows: ROWS_MAX + 1 }, /--rows/],
    [{ rows: 1.5 }, /--rows 1\.5/],
    [{ valueSize: TAG_LENGTH - 1 }, /--value-size 7/],
    [{ valueSize: VALUE_SIZE_MAX + 1 }, /--value-size/],
    [{ seed: -1 }, /--seed -1/],
    [{ seed: 2 ** 32 }, /--seed/],
    [{ seed: Number.NaN }, /--seed NaN/],
  ];
  for (const [options, message] of cases) {
    assert.throws(() => createDataset(options), { code: 'E_USAGE', message });
  }
});

test('The random numbers never change', () => {
  assert.deepEqual([mix32(0, 0), mix32(1, 2), mix32(-1, 2 ** 32 - 1)], GOLDEN_MIX);
  const random = createRandom(1);
  assert.deepEqual([random(), random(), random(), random()], GOLDEN_RANDOM);
  const stream = createRandom(1, 7);
  assert.deepEqual([stream(), stream()], GOLDEN_STREAM);
  assert.deepEqual(shuffled([1, 2, 3, 4, 5, 6, 7, 8], createRandom(42)), GOLDEN_SHUFFLE);
});

test('mix32 takes its arguments modulo 2^32 and returns an unsigned integer of 32 bits', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer(), (a, b) => {
      const mixed = mix32(a, b);
      assert.equal(mixed, mix32(a >>> 0, b >>> 0));
      assert.ok(Number.isInteger(mixed) && mixed >= 0 && mixed < 2 ** 32);
    }),
    fixed,
  );
});

test('Draws stay below their bound and reach every value of a small one evenly', () => {
  fc.assert(
    fc.property(seeds, fc.integer({ min: 1, max: 2 ** 32 }), (seed, bound) => {
      const drawn = drawBelow(createRandom(seed), bound);
      assert.ok(Number.isInteger(drawn) && drawn >= 0 && drawn < bound);
    }),
    fixed,
  );
  const random = createRandom(3);
  const counts = new Array(10).fill(0);
  for (let i = 0; i < 100_000; i += 1) counts[drawBelow(random, 10)] += 1;
  // Chi-squared with 9 degrees of freedom exceeds 27.9 once in a thousand; the seed is fixed.
  const chi = counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
  assert.ok(chi < 27.9, `chi-squared ${chi}`);
});

test('A shuffle keeps every item, does not change its argument and depends on its seed', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), seeds, (items, seed) => {
      const before = items.slice();
      const result = shuffled(items, createRandom(seed));
      assert.deepEqual(items, before);
      assert.deepEqual(result.slice().sort(), before.slice().sort());
      assert.deepEqual(result, shuffled(items, createRandom(seed)));
    }),
    fixed,
  );
  const deck = Array.from({ length: 52 }, (_, index) => index);
  assert.notDeepEqual(shuffled(deck, createRandom(1)), shuffled(deck, createRandom(2)));
});

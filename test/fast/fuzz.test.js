/** The parsers under mutated messages, some thousand each with a fixed seed; more: npm run fuzz. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz } from '../../bench/fuzz/run.js';
import { SUBJECTS } from '../../bench/fuzz/subjects.js';

const SEED = 20261122;
const CASES = 2000;

for (const subject of SUBJECTS) {
  test(`${subject.name}: a value or a DragstripError, however the bytes are split`, () => {
    const { failure, refused } = fuzz(subject, { cases: CASES, seed: SEED });
    assert.equal(failure, null);
    assert.ok(refused > 0, 'some are refused');
  });
}

test('a parser that throws another error, or depends on the split, is detected', () => {
  const samples = [Buffer.from('abc')];
  const broken = () => {
    throw new TypeError('ours');
  };
  assert.match(
    String(fuzz({ name: 'x', samples, parse: broken }, { cases: 1, seed: 1 }).failure?.what),
    /TypeError/,
  );
  const cutting = (/** @type {Buffer} */ _bytes, /** @type {number} */ cut) => cut;
  assert.match(
    String(fuzz({ name: 'x', samples, parse: cutting }, { cases: 99, seed: 1 }).failure?.what),
    /cut at/,
  );
});

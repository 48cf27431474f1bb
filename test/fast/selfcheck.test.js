/**
 * The self-check at its smallest size: its figures are all there; how good they are is not judged.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../../bench/selfcheck.js';

test('the self-check reports the rate of false differences and the cost beside other loops', async () => {
  const figures = [];
  for await (const figure of run({ smoke: true, servers: {}, rows: 0 })) figures.push(figure);
  assert.deepEqual(
    figures.map(({ name, target }) => [name, target]),
    [
      ['A/A: called different, of 4', 0.42],
      ['A/A: interval without 1, of 4', null],
      ['CPU of an operation in the loop: ours', null],
      ['CPU of an operation in the loop: ours-verified', null],
      ['CPU of an operation in the loop: tinybench', null],
      ['CPU of an operation in the loop: mitata', null],
      ['our loop, every latency recorded, over tinybench', 1],
      ['our loop, every latency recorded, over mitata', 1],
    ],
  );
  for (const { median, name } of figures) assert.ok(Number.isFinite(median) && median >= 0, name);
});

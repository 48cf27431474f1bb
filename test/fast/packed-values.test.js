/** Values of slices as they are stored: small, exact once rounded, and the old form is read too. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { openStore } from '../../cli/storage.js';
import {
  packResult,
  packValues,
  roundedToStep,
  unpackResult,
  unpackValues,
} from '../../lib/packed-values.js';
import { parseResult } from '../../lib/parse-result.js';
import { defaultRace } from '../helpers/default-race.js';
import { withFolder } from '../helpers/folder.js';

const VALUES = [null, 0, 1, 7, 999, 12_345, 17_213_456, 1e12, 1e16];

test('a value is packed within 0.03 %, and a rounded one is unchanged', () => {
  for (const value of VALUES) {
    const rounded = roundedToStep(value);
    if (value === null || value === 0) assert.equal(rounded, value);
    else assert.ok(Math.abs(Number(rounded) / value - 1) < 3e-4, `${value}: ${rounded}`);
    assert.equal(roundedToStep(rounded), rounded);
  }
  const rounded = VALUES.map(roundedToStep);
  assert.deepEqual(unpackValues(packValues(rounded)), rounded);
  for (let value = 1; value < 1e15; value *= 1.013) {
    const once = roundedToStep(value);
    assert.equal(roundedToStep(once), once);
  }
});

/** @param {import('../../lib/result.js').Result} result */
function rounded({ ...result }) {
  const { comparison } = structuredClone(result);
  for (const { contenders } of comparison?.loads ?? []) {
    for (const round of contenders.flatMap(({ rounds }) => rounds)) {
      for (const name of /** @type {const} */ (['timePs', 'clientCpuPs', 'serverCpuPs'])) {
        round[name] = round[name].map(roundedToStep);
      }
      round.medianNs = round.medianNs.map(roundedToStep);
    }
  }
  return { ...result, comparison };
}

test('a stored race has its slices in a third of the space, and is read unchanged', async (t) => {
  const folder = withFolder(t);
  const result = rounded(defaultRace());
  const file = path.join(folder, 'race.json');
  const store = await openStore({ json: file });
  await store?.write(result);
  const text = readFileSync(file, 'utf8');
  assert.deepEqual(parseResult(text, file).comparison, result.comparison);
  const sizeOf = (/** @type {unknown} */ value) => JSON.stringify(value).length;
  const packed = packResult(result).comparison;
  const share = sizeOf(packed) / sizeOf(result.comparison);
  assert.ok(share < 0.5, `${sizeOf(packed)} of ${sizeOf(result.comparison)}`);
});

test('the unfinished round is packed like the others', () => {
  const result = rounded(defaultRace({ storages: 2, rounds: 2 }));
  const { comparison } = /** @type {{ comparison: any }} */ (result);
  comparison.unfinished = {
    round: 2,
    blocks: 20,
    loads: comparison.loads.map((/** @type {any} */ { contenders }) =>
      contenders.map((/** @type {any} */ { name, rounds: [round] }) => {
        return { name, invalid: 0, ...round, occupancy: undefined };
      }),
    ),
  };
  const text = JSON.stringify(packResult(result));
  assert.deepEqual(
    JSON.parse(text).comparison.unfinished.loads[1][0].name,
    result.storages[0].name,
  );
  assert.equal(typeof JSON.parse(text).comparison.unfinished.loads[1][0].timePs, 'string');
  const expected = JSON.parse(JSON.stringify(result.comparison));
  assert.deepEqual(parseResult(text, 'race.json').comparison, expected);
});

test('a result of an earlier version, with arrays, is readable', () => {
  const result = defaultRace({ storages: 2 });
  const read = parseResult(JSON.stringify(result), 'old.json');
  assert.deepEqual(read.comparison, result.comparison);
});

test('anything but a result is unchanged', () => {
  for (const wrong of [null, 1, 'x', [], {}, { comparison: 3 }, { comparison: { loads: [1] } }]) {
    assert.doesNotThrow(() => unpackResult(wrong));
  }
  const broken = {
    comparison: { loads: [{ contenders: [{ rounds: [null, { timePs: 'AQ' }] }] }] },
  };
  assert.doesNotThrow(() => unpackResult(broken));
});

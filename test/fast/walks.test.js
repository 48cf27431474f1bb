/**
 * How many files name a key, an option of a load and a percentile on their way: what
 * docs/architecture.md lists is what scripts/walks.js finds, and no list grows.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesOfWalks, WALKS, walksInDocument, walksText } from '../../scripts/walks.js';

test('three walks through the product are as documented', () => {
  assert.equal(walksInDocument(), walksText(), 'run `node scripts/walks.js --write`');
});

const walks = filesOfWalks();
for (const [name, { title, max, aside }] of Object.entries(WALKS)) {
  const files = walks[name];

  test(`${title}: at most ${max} files`, () => {
    const own = files.filter((file) => !Object.hasOwn(aside, file));
    assert.ok(own.length <= max, `${own.length}: ${own.join(', ')}`);
    assert.ok(own.length >= 5, 'a leg finds nothing any more');
  });

  test(`${title}: uncounted files name it`, () => {
    for (const file of Object.keys(aside)) assert.ok(files.includes(file), file);
  });
}

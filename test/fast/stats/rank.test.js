/** Ranks of storages over rounds, also with rounds that were missed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rankEntries } from '../../../stats/rank.js';

/** Rounds that share a drift, with a little of their own. */
const WOBBLE = [1, 1.002, 0.999, 1.001, 0.998];
const DRIFT = [1, 1.2, 0.9, 1.1, 0.8];

/**
 * @param {string} name
 * @param {number} level
 * @param {number} shift which wobble each round has
 * @param {number} [size] of the wobble
 */
function entry(name, level, shift, size = 1) {
  const rounds = DRIFT.map((drift, i) => level * drift * WOBBLE[(i + shift) % 5] ** size);
  return { name, rounds };
}

test('entries that rounds do not separate share a rank, and the next counts them', () => {
  const { entries, groups } = rankEntries([
    entry('slow', 50, 3),
    entry('fast', 100, 0),
    entry('alike', 100.1, 1),
    entry('middle', 80, 2),
  ]);
  assert.deepEqual(
    entries.map(({ name, rank, rankWorst }) => [name, rank, rankWorst]),
    [
      ['alike', 1, 2],
      ['fast', 1, 2],
      ['middle', 3, 3],
      ['slow', 4, 4],
    ],
  );
  assert.deepEqual(entries[0].tiedWith, ['fast']);
  assert.deepEqual(entries[2].tiedWith, []);
  assert.deepEqual(groups, [['alike', 'fast'], ['middle'], ['slow']]);
});

test('a chain of ties whose ends are separated gives overlapping groups', () => {
  // c wobbles so much that it is apart from neither neighbour.
  const { entries, groups } = rankEntries([
    entry('a', 103, 0),
    entry('c', 101.5, 1, 12),
    entry('b', 100, 2),
  ]);
  assert.deepEqual(groups, [
    ['a', 'c'],
    ['c', 'b'],
  ]);
  assert.deepEqual(
    entries.map(({ name, rank, rankWorst }) => [name, rank, rankWorst]),
    [
      ['a', 1, 2],
      ['c', 1, 3],
      ['b', 2, 3],
    ],
  );
});

test('one round separates nothing', () => {
  const { entries, groups } = rankEntries([
    { name: 'a', rounds: [100] },
    { name: 'b', rounds: [10] },
  ]);
  assert.deepEqual(
    entries.map(({ rank }) => rank),
    [1, 1],
  );
  assert.deepEqual(groups, [['a', 'b']]);
});

test('where less is better the order turns, and what did not run stands last either way', () => {
  const given = [
    entry('a', 10, 0),
    { name: 'out', rounds: DRIFT.map(() => null) },
    entry('b', 20, 1),
  ];
  const less = rankEntries(given, { better: 'lower' }).entries;
  assert.deepEqual(
    less.map(({ name }) => name),
    ['a', 'b', 'out'],
  );
  assert.deepEqual([less[0].rank, less[1].rank, less[2].mean], [1, 2, null]);
  const more = rankEntries(given).entries;
  assert.deepEqual(
    more.map(({ name }) => name),
    ['b', 'a', 'out'],
  );
});

test('a noisy run makes ties of what a quiet one would separate', () => {
  const given = [entry('a', 103, 0), entry('b', 100, 1)];
  assert.deepEqual(rankEntries(given).groups, [['a'], ['b']]);
  assert.deepEqual(rankEntries(given, { noise: 0.04 }).groups, [['a', 'b']]);
});

test('no entries give an empty ranking', () => {
  assert.deepEqual(rankEntries([]), { entries: [], groups: [], comparisons: [] });
});

test('rounds that one side missed do not decide who is faster in the others', () => {
  // b has the greater mean only because it did not run in the slow rounds.
  const { entries } = rankEntries([
    { name: 'a', rounds: [100, 101, 99, 10, 10.1, 9.9] },
    { name: 'b', rounds: [80, 81, 79, null, null, null] },
  ]);
  assert.deepEqual(
    entries.map(({ name, rank }) => [name, rank]),
    [
      ['b', 2],
      ['a', 1],
    ],
  );
});

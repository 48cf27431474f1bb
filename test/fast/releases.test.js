/** Releases of a driver: which versions, their curve, and the one that changed a metric. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bisectReleases, raceReleases, selectVersions } from '../../engine/releases.js';
import { createRandom } from '../../lib/random.js';
import { benchmark, buildResult, measuredRound, SYNC } from '../helpers/result-builder.js';

test('versions of a range: oldest first, releases alone, the last of each', () => {
  const all = [
    '4.0.0',
    '5.0.0',
    '5.10.1',
    '5.2.0',
    '5.2.3',
    '5.10.0',
    '6.0.0-beta.1',
    '6.0.0',
    '6.1.0',
  ];
  const select = (/** @type {any} */ range) => selectVersions(all, range).join(' ');
  assert.equal(select({ from: '5', to: '5' }), '5.0.0 5.2.0 5.2.3 5.10.0 5.10.1');
  assert.equal(select({ from: '5.2', every: 'minor' }), '5.2.3 5.10.1 6.0.0 6.1.0');
  assert.equal(select({ every: 'major' }), '4.0.0 5.10.1 6.1.0');
  assert.equal(select({ from: '5.2.1', to: '5.10.0' }), '5.2.3 5.10.0');
});

/**
 * Runs that are made up: a version's speed, some noise, and versions that do not open.
 * @param {Record<string, number | null>} speeds
 * @param {number} [noise]
 */
function madeUp(speeds, noise = 0.002) {
  const random = createRandom(5);
  const seen = /** @type {string[][]} */ ([]);
  return {
    seen,
    async race(/** @type {any} */ { against, onlyAgainst }) {
      assert.equal(onlyAgainst, true);
      seen.push(against);
      const benchmarks = against.map((/** @type {string} */ text) => {
        const version = text.slice(text.indexOf('@') + 1);
        const speed = speeds[version];
        const storage = `ioredis@${version}`;
        if (speed === null) {
          return benchmark({ storage, load: SYNC, state: 'skipped', reason: 'no', rounds: [] });
        }
        const rounds = Array.from({ length: 8 }, (_, i) => {
          const factor = 1 + noise * (random() / 2 ** 31 - 1);
          return measuredRound(i, SYNC, { throughput: speed * factor });
        });
        return benchmark({ storage, load: SYNC, rounds });
      });
      return buildResult({ benchmarks });
    },
  };
}

describe('simulated releases', () => {
  test('several runs share a reference; a version that does not open has its reason', async () => {
    const speeds = Object.fromEntries(
      Array.from({ length: 10 }, (_, i) => [`5.${i}.0`, i === 3 ? null : 1000 * (i < 6 ? 1 : 0.8)]),
    );
    const { race, seen } = madeUp(speeds);
    const releases = await raceReleases('ioredis', Object.keys(speeds), {}, 'throughput', { race });
    assert.deepEqual(
      seen.map((one) => one.length),
      [7, 4],
    );
    assert.equal(seen[1][0], 'ioredis@5.0.0');
    assert.deepEqual(
      releases.map(({ version }) => version),
      Object.keys(speeds),
    );
    assert.equal(releases[3].reason, 'no');
    assert.ok(Math.abs((releases[5].vs?.ratio ?? 0) - 1) < 0.01);
    assert.ok(Math.abs((releases[9].vs?.ratio ?? 0) - 0.8) < 0.01);
  });

  test('the changed release is found in logarithmic steps, also past a broken one', async () => {
    for (const [at, broken] of [
      [11, null],
      [1, 8],
      [19, 10],
      [8, 10],
    ]) {
      const speeds = Object.fromEntries(
        Array.from({ length: 20 }, (_, i) => [
          `5.${i}.0`,
          i === broken ? null : 1000 * (i < Number(at) ? 1 : 0.95),
        ]),
      );
      const { race, seen } = madeUp(speeds);
      const bisection = await bisectReleases('ioredis', Object.keys(speeds), {}, 'throughput', {
        race,
      });
      assert.equal(bisection.outcome, 'found');
      assert.deepEqual([bisection.last, bisection.first], [`5.${Number(at) - 1}.0`, `5.${at}.0`]);
      assert.ok(seen.length <= 9, `${seen.length} runs`);
      assert.ok(Math.abs((bisection.change?.ratio ?? 0) - 0.95) < 0.01);
      assert.deepEqual(bisection.skipped, broken === null ? [] : bisection.skipped);
    }
  });

  test('no difference is one outcome, too much noise another', async () => {
    const equal = { '5.0.0': 1000, '5.1.0': 1000, '5.2.0': 1000 };
    const versions = Object.keys(equal);
    const { race } = madeUp(equal);
    const none = await bisectReleases('ioredis', versions, {}, 'throughput', { race });
    assert.equal(none.outcome, 'no difference');
    const between = { '5.0.0': 1000, '5.1.0': 950, '5.2.0': 900 };
    const hidden = await bisectReleases('ioredis', versions, {}, 'throughput', {
      race: madeUp(between, 0.02).race,
    });
    assert.equal(hidden.outcome, 'undecided');
  });
});

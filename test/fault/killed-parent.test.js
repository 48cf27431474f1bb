/** The process of a run is killed, as the kernel does when memory runs out: its result remains. */

import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { parseResult } from '../../lib/parse-result.js';
import { eventually, runCommand, startCommand, startTurns } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';

const RATE = 40;
const INDEX = new URL('../../index.js', import.meta.url);
/** Three contenders of one storage: a round of them, an eighth of the budget, takes some seconds. */
const BUDGET = '24s';
const NAMES = ['default', 'b', 'c'];
const STORAGE = `
  import { defineStorage } from '${INDEX}';
  const turn = () => new Promise(setImmediate);
  const names = ${JSON.stringify(NAMES)};
  const profile = { summary: 'plain', options: {} };
  export default defineStorage({
    name: 'turns', summary: 'for a test', package: null, server: null, rows: ['get'],
    profiles: Object.fromEntries(names.map((name) => [name, profile])),
    open: {
      rows: async ({ dataset }) => ({
        get: async (id) => { await turn(); return dataset.value(id); },
        close: async () => {},
      }),
    },
  });`;

describe('the parent of a run is killed', () => {
  const folder = withFolder();

  for (const processes of [1, 2]) {
    test(`all but the last second is stored, with ${processes} per load`, async () => {
      const file = path.join(folder, `killed-${processes}.json`);
      const load = ['--rate', `${RATE}`, '--duration', '60s', '--processes', `${processes}`];
      const words = ['run', '--storages', 'memory', ...load, '--rows', '100', '--json', file];
      const { child, ended } = startCommand(folder, ['bin/dragstrip.js', ...words]);
      const secondsIn = () => {
        const { benchmarks } = parseResult(readFileSync(file, 'utf8'), file);
        return Number(benchmarks[0].rounds[0]?.durationNs) / 1e9;
      };
      await eventually(() => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0, 'stored');
      const first = secondsIn();
      const turnsMs = startTurns();
      await eventually(() => secondsIn() > first + 2, 'two more seconds');
      const passed = turnsMs() / 1000;
      child.kill('SIGKILL');
      await ended;
      const last = secondsIn();
      // A second, and what a busy machine adds.
      assert.ok(last - first > passed - 2.5, `${last - first} of ${passed} s are stored`);
      const result = parseResult(readFileSync(file, 'utf8'), file);
      assert.equal(result.state, 'running');
      const [{ state, rounds }] = result.benchmarks;
      assert.deepEqual([state, rounds.length, rounds[0].state], ['aborted', 1, 'aborted']);
      const { outcomes, latency, durationNs } = rounds[0];
      assert.equal(latency?.count, outcomes.ok);
      assert.ok(outcomes.ok > (RATE * durationNs * 0.8) / 1e9, JSON.stringify(outcomes));
      const shown = await runCommand(folder, ['bin/dragstrip.js', 'report', file]);
      assert.equal(shown.status, 0, shown.stderr);
      assert.match(shown.stdout, /not finished/);
      assert.match(shown.stdout, /memory/);
    });
  }

  test('by slices: the current round is stored up to its last second, separate from the others', async () => {
    const file = path.join(folder, 'slices.json');
    const storage = path.join(folder, 'turns.mjs');
    writeFileSync(storage, STORAGE);
    const storages = NAMES.map((name) => `${storage}:${name}`).join();
    const load = ['--budget', BUDGET, '--anyway', '--in-flight', '1', '--rows', '100'];
    const words = ['race', '--storages', storages, ...load, '--json', file];
    const { child, ended } = startCommand(folder, ['bin/dragstrip.js', ...words]);
    const stored = () => {
      try {
        return parseResult(readFileSync(file, 'utf8'), file);
      } catch {
        return null; // reserved, and empty until the first second
      }
    };
    const soFar = () =>
      stored()
        ?.benchmarks.flatMap(({ rounds }) => rounds)
        .filter(({ state }) => state === 'aborted') ?? [];
    const count = () => soFar().reduce((sum, { outcomes }) => sum + outcomes.ok, 0);
    const limitMs = 60_000;
    try {
      await eventually(() => soFar().length > 0, 'a part of a round', limitMs);
      const first = count();
      // Within a second, and what a busy machine adds.
      await eventually(() => count() !== first, 'the journal goes on', 2500);
      const hasRound = () => (stored()?.comparison?.blocks.length ?? 0) > 0;
      await eventually(hasRound, 'a whole round', limitMs);
      assert.ok(
        soFar().every(({ round }) => round > 0),
        'its part was not removed',
      );
      await eventually(() => soFar().length === NAMES.length, 'the next round', limitMs);
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
    const result = parseResult(readFileSync(file, 'utf8'), file);
    assert.equal(result.state, 'running');
    const { blocks, loads } = /** @type {NonNullable<typeof result.comparison>} */ (
      result.comparison
    );
    const [{ contenders }] = loads;
    for (const { rounds } of contenders) {
      assert.equal(rounds.length, blocks.length, 'no statistics of a part of a round');
    }
    for (const { id, rounds } of result.benchmarks) {
      const { state, round, outcomes } = rounds[blocks.length];
      assert.deepEqual(
        [rounds.length, state, round],
        [blocks.length + 1, 'aborted', blocks.length],
      );
      assert.ok(outcomes.ok > 0, id);
    }
    const shown = await runCommand(folder, ['bin/dragstrip.js', 'report', file]);
    assert.equal(shown.status, 0, shown.stderr);
    const title = `Round ${blocks.length + 1}, unfinished \\(excluded from all estimates\\)`;
    assert.match(shown.stdout, new RegExp(title));
    assert.match(shown.stdout, /1 in flight: turns [\d,]+, turns:b [\d,]+,/);
  });
});

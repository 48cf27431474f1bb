/** The process of a run is killed, as the kernel does when memory runs out: its result remains. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseResult } from '../../lib/parse-result.js';
import { eventually, runCommand, startCommand } from '../helpers/command-line.js';

const RATE = 1000;

describe('the parent of a run is killed', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dragstrip-killed-parent-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

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
      const from = performance.now();
      await sleep(5000);
      const passed = (performance.now() - from) / 1000;
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
});

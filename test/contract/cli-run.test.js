/** Whole runs at the command line: output, result and leftovers, at completion or a signal. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { parseResult } from '../../lib/parse-result.js';
import {
  assertFailure,
  childrenOf,
  eventually,
  isRunning,
  runCommand,
  startCommand,
} from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';

const FEW = ['--rows', '20', '--warmup', '0'];
const SMALL = [...FEW, '--ops', '60'];

/** A storage that takes ten milliseconds for an operation and says who it is: time to end it. */
const SLOW = `
import { appendFileSync } from 'node:fs';
let reads = 0;
export default {
  name: 'slow', summary: 'ten milliseconds each', package: null, server: null,
  rows: ['get'], profiles: { default: { summary: 'as it is', options: {} } },
  async open({ dataset }) {
    return {
      get: (id) => new Promise((resolve) => {
        reads += 1;
        if (reads === 80) appendFileSync(process.env.SLOW_FILE, process.pid + '\\n');
        setTimeout(resolve, reads > 66 ? 10 : 0, dataset.value(id));
      }),
      async close() {},
    };
  },
};
`;

const folder = withFolder();
let count = 0;
before(() => writeFile(path.join(folder, 'slow.mjs'), SLOW));

/** @param {string} file */
function readResult(file) {
  return parseResult(readFileSync(path.join(folder, file), 'utf8'), file);
}

/**
 * @param {string[]} more
 * @returns {Promise<ReturnType<typeof startCommand> & { benchmark: number }>} a run whose slow
 *   storage is being measured, in a process of its own with the pid `benchmark`
 */
async function startSlow(more = []) {
  count += 1;
  const file = path.join(folder, `slow-${count}`);
  const words = ['test.js', '--storages', './slow.mjs,memory', ...FEW, '--ops', '900', ...more];
  const started = startCommand(folder, words, { env: { SLOW_FILE: file } });
  const early = started.ended.then(({ stderr }) => {
    throw new Error(`it ended before it was measured: ${stderr}`);
  });
  early.catch(() => {});
  const isThere = () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n');
  await Promise.race([early, eventually(isThere, 'the slow storage is measured')]);
  return { ...started, benchmark: Number(readFileSync(file, 'utf8')) };
}

describe('a run without any server', () => {
  test('skips with reason and hint, races the embedded stores, twice with equal output', async () => {
    for (const pass of [1, 2]) {
      const words = ['async_test.js', ...SMALL, '--json', `run-${pass}.json`];
      const { status, stdout, stderr } = await runCommand(folder, words);
      assert.equal(status, 4, stderr); // nothing that has a server could run
      assert.match(
        stdout,
        /^Test 'memory' started\nStorage created in [\d.]+ ms\nTest finished: 60 ops, [\d.]+ ms, [\d.]+ ops\/sec\n\nTest 'lmdb' started\n/,
      );
      assert.match(stdout, /\nDone\n\nDragstrip /);
      assert.match(stdout, /redis: Redis at 127\.0\.0\.1:1: connection refused/);
      const result = readResult(`run-${pass}.json`);
      assert.equal(result.state, 'complete');
      const states = new Map(result.benchmarks.map(({ storage, state }) => [storage, state]));
      assert.equal(states.get('memory'), 'measured');
      assert.equal(states.get('lmdb'), 'measured');
      assert.equal(states.get('ioredis'), 'skipped');
      for (const { state, reason, hint } of result.benchmarks) {
        if (state === 'skipped') assert.ok(reason && hint, `${reason} → ${hint}`);
      }
    }
    const left = (await readdir(folder)).filter((name) => name.endsWith('.tmp'));
    assert.deepEqual(left, []);
  });

  test('the race stores to results/, under a new name each time', async () => {
    const words = ['bin/dragstrip.js', 'race', '--storages', 'memory', ...SMALL, '--rounds', '1'];
    const runs = await Promise.all([runCommand(folder, words), runCommand(folder, words)]);
    for (const { status, stderr, stdout } of runs) {
      assert.equal(status, 0, stderr);
      assert.match(stdout, /^round 1: .* s\n/);
      assert.match(stdout, /\n +– +memory \(overhead\) +[\d,]+ /);
    }
    const all = await readdir(path.join(folder, 'results'));
    const files = all.filter((file) => file.endsWith('.json'));
    const pages = all.filter((file) => file.endsWith('.html'));
    assert.deepEqual(pages.sort(), files.map((file) => file.replace('.json', '.html')).sort());
    assert.equal(files.length, 2, `${files}`);
    for (const file of files) assert.equal(readResult(`results/${file}`).state, 'complete');
  });

  test('--force overwrites, --quiet shows the result alone', async () => {
    await writeFile(path.join(folder, 'old.json'), 'old');
    const words = ['test.js', '--storages', 'memory', ...SMALL, '--json', 'old.json'];
    const { status, stdout, stderr } = await runCommand(folder, [...words, '--force', '--quiet']);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^\nDragstrip /);
    assert.equal(readResult('old.json').benchmarks.length, 1);
  });
});

describe('a run that is stopped', () => {
  for (const [signal, expected] of /** @type {const} */ ([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])) {
    test(`by ${signal}: what was measured is stored, no process is left`, async () => {
      const { child, ended, benchmark } = await startSlow(['--json', `${signal}.json`]);
      // A terminal signals the benchmark's process too.
      process.kill(benchmark, signal);
      child.kill(signal);
      const { status, stderr } = await ended;
      assert.equal(status, expected, stderr);
      // A line of progress comes every five seconds.
      assert.match(stderr, /^(slow, .*\n)*\nstopping; results so far are kept .*\n$/);
      const result = readResult(`${signal}.json`);
      assert.equal(result.state, 'aborted');
      const [slow, memory] = result.benchmarks;
      assert.equal(slow.state, 'aborted');
      const [{ outcomes, scheduled }] = slow.rounds;
      assert.ok(outcomes.ok > 0 && outcomes.unsent > 0);
      assert.equal(
        Object.values(outcomes).reduce((sum, n) => sum + n),
        scheduled,
      );
      assert.deepEqual([memory.state, memory.rounds.length], ['aborted', 0]);
      assert.ok(!isRunning(benchmark));
    });
  }

  test('by SIGKILL: no benchmark process is left', async () => {
    const { child, ended, benchmark } = await startSlow();
    assert.deepEqual(childrenOf(/** @type {number} */ (child.pid)), [benchmark]);
    child.kill('SIGKILL');
    await ended;
    await eventually(() => !isRunning(benchmark), 'the benchmark ends');
  });

  test('by a closed output pipe: silently', async () => {
    const { child, ended, benchmark } = await startSlow();
    child.stdout?.destroy();
    process.kill(benchmark, 'SIGKILL'); // so that the next lines come now
    const { status, stderr } = await ended;
    // Progress is a line every ten seconds, which a busy machine may take until then.
    const lines = stderr.split('\n').filter((line) => !/^(slow, .* \(\d+ %\))?$/.test(line));
    assert.deepEqual({ status, lines }, { status: 141, lines: [] });
  });

  test('a benchmark process that is killed fails alone', async () => {
    const { ended, benchmark } = await startSlow(['--json', 'killed.json']);
    process.kill(benchmark, 'SIGKILL');
    const { status, stdout, stderr } = await ended;
    assert.equal(status, 5, stderr);
    assert.match(stdout, /Test failed: the benchmark process was killed by SIGKILL/);
    const [slow, memory] = readResult('killed.json').benchmarks;
    assert.deepEqual([slow.state, memory.state], ['failed', 'measured']);
    assert.equal(slow.rounds[0].failure?.code, 'E_BENCHMARK_PROCESS');
  });
});

describe('a result that cannot be stored', () => {
  test('is still shown, with status 7; the previous file is intact', async () => {
    const before = 'the one of before';
    await writeFile(path.join(folder, 'full.json'), before);
    const words = ['test.js', '--storages', 'memory', ...SMALL, '--force', '--quiet'];
    const ended = await runCommand(folder, [...words, '--json', 'full.json'], { limitBlocks: 2 });
    assertFailure(
      ended,
      7,
      /full\.json: the result could not be stored \(EFBIG\); free some space/,
    );
    assert.match(ended.stdout, /memory \(overhead\)/);
    assert.equal(await readFile(path.join(folder, 'full.json'), 'utf8'), before);
    const left = (await readdir(folder)).filter((name) => name.includes('.tmp'));
    assert.deepEqual(left, []);
  });

  test('leaves no empty file behind', async () => {
    const words = ['test.js', '--storages', 'memory', ...SMALL, '--quiet', '--out', 'none'];
    const ended = await runCommand(folder, words, { limitBlocks: 2 });
    assert.equal(ended.status, 7);
    assert.deepEqual(await readdir(path.join(folder, 'none')), []);
  });

  test('standard output on a full disk is reported in one line', async (t) => {
    if (!existsSync('/dev/full')) return t.skip('there is no /dev/full');
    const ended = await runCommand(folder, ['bin/dragstrip.js', 'list'], { output: '/dev/full' });
    assertFailure(ended, 7, /standard output cannot be written \(ENOSPC\)/);
  });
});

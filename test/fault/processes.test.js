/** One of several processes of a load is killed; control groups with little CPU time or memory. */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { parseResult } from '../../lib/parse-result.js';
import { childrenOf, eventually, runCommand, startCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';

const folder = withFolder();

/** Takes memory beyond any limit once the test has written a file. */
const GROWS = `import { existsSync } from 'node:fs';
const kept = [];
export const storage = {
  name: 'grows', summary: 'for a test', package: null, server: null, rows: ['get'],
  profiles: { default: { summary: 'for a test', options: {} } },
  open: { async rows({ dataset }) {
    return {
      async get(id) {
        if (existsSync(new URL('grow-now', import.meta.url))) kept.push(Buffer.alloc(2 ** 24, 1));
        return dataset.value(id);
      },
      value: (text) => text,
      close: async () => {},
    };
  } },
};
`;

test('one of two processes is killed: its benchmark fails with the signal, the others run', async () => {
  const file = path.join(folder, 'killed.json');
  const load = ['--rate', '50', '--duration', '4s', '--processes', '2', '--rows', '100'];
  const words = ['run', '--storages', 'memory,lmdb', ...load, '--json', file, '--quiet'];
  const { child, ended } = startCommand(folder, ['bin/dragstrip.js', ...words]);
  const isMeasured = () => {
    // The result is stored each second while a benchmark runs.
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return text !== '' && parseResult(text, file).benchmarks[0].rounds.length > 0;
  };
  await eventually(isMeasured, 'the first benchmark runs', 60_000);
  const [victim] = childrenOf(Number(child.pid));
  process.kill(victim, 'SIGKILL');
  const { status, stderr } = await ended;
  assert.equal(status, 5, stderr);
  const [memory, lmdb] = parseResult(readFileSync(file, 'utf8'), file).benchmarks;
  assert.equal(memory.state, 'failed');
  assert.match(String(memory.reason), /SIGKILL/);
  assert.equal(memory.rounds.length, 1);
  assert.equal(memory.rounds[0].throughput, 0, 'what the other did is no measurement of this load');
  assert.equal(lmdb.state, 'measured');
  assert.deepEqual(childrenOf(Number(child.pid)), []);
});

/**
 * @param {string} controller controller of version 1, which has a mount of its own
 * @param {[file: string, value: string][]} limits limits of version 1 and of version 2
 * @returns {{ enter: string[], remove: () => void } | string} words before a program that has this
 *   limit; or why there is no such control group here
 */
function makeGroup(controller, limits) {
  if (process.getuid?.() !== 0) return 'a control group needs root';
  const mounts = [`/sys/fs/cgroup/${controller}`, '/sys/fs/cgroup'];
  for (const [i, [file, value]] of limits.entries()) {
    const group = path.join(mounts[i], `dragstrip-${process.pid}-${controller}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    const enter = ['/bin/sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$@"`, 'sh'];
    try {
      writeFileSync(path.join(group, file), value);
      return { enter, remove: () => rmdirSync(group) };
    } catch {
      rmdirSync(group);
    }
  }
  return `no control group with a limit of ${controller} can be created`;
}

describe('a CPU quota', () => {
  const quota = makeGroup('cpu', [
    ['cpu.cfs_quota_us', '10000'],
    ['cpu.max', '10000 100000'],
  ]);
  const skip = typeof quota === 'string' ? quota : false;
  after(() => typeof quota !== 'string' && quota.remove());

  test('throttles a run: the result has the count and a hint', { skip }, async () => {
    const file = path.join(folder, 'throttled.json');
    const load = ['--ops', '1M', '--rows', '100', '--rounds', '1', '--warmup', '1000'];
    const words = ['run', '--storages', 'memory', ...load, '--json', file];
    const prefix = typeof quota === 'string' ? [] : quota.enter;
    const ended = await runCommand(folder, ['bin/dragstrip.js', ...words], { prefix });
    assert.equal(ended.status, 0, ended.stderr);
    assert.match(ended.stdout, /CPU limit throttled this program \d+ times/);
    const { benchmarks, warnings } = parseResult(readFileSync(file, 'utf8'), file);
    assert.ok(warnings.some(({ code }) => code === 'W_THROTTLED'));
    const { conditions } = benchmarks[0].rounds[0];
    assert.ok(Number(conditions?.throttledCount) > 0, JSON.stringify(conditions));
    assert.ok(Number(conditions?.throttledNs) > 0, JSON.stringify(conditions));
  });
});

describe('a memory limit', () => {
  const bytes = `${400 * 2 ** 20}`;
  const limit = makeGroup('memory', [
    ['memory.limit_in_bytes', bytes],
    ['memory.max', bytes],
  ]);
  const skip = typeof limit === 'string' ? limit : false;
  after(() => typeof limit !== 'string' && limit.remove());

  test('kills a benchmark: its partial result has the reason, and the next one runs', {
    skip,
  }, async () => {
    const file = path.join(folder, 'out-of-memory.json');
    const grows = path.join(folder, 'grows.mjs');
    writeFileSync(grows, GROWS);
    const load = ['--rate', '50', '--duration', '5s', '--rows', '100', '--rounds', '1'];
    const storages = ['--storages', `${grows},lmdb`];
    const words = ['run', ...storages, ...load, '--json', file, '--quiet'];
    const prefix = typeof limit === 'string' ? [] : limit.enter;
    const { child, ended } = startCommand(folder, ['bin/dragstrip.js', ...words], { prefix });
    const hasStored = () => {
      const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
      if (text === '') return false;
      const rounds = parseResult(text, file).benchmarks.flatMap((one) => one.rounds);
      return rounds.some(({ outcomes }) => outcomes.ok > 0);
    };
    await eventually(hasStored, 'a part of the benchmark is stored', 60_000);
    writeFileSync(path.join(folder, 'grow-now'), '');
    assert.ok(child.pid);
    const { status, stderr } = await ended;
    assert.equal(status, 5, stderr);
    const { benchmarks } = parseResult(readFileSync(file, 'utf8'), file);
    const [stopped, other] = benchmarks;
    assert.equal(stopped.state, 'failed');
    assert.match(
      String(stopped.reason),
      /was killed by SIGKILL .*: the kernel killed .* lack of memory/,
    );
    const [{ outcomes, latency }] = stopped.rounds;
    assert.ok(outcomes.ok > 0 && latency?.count === outcomes.ok, JSON.stringify(outcomes));
    assert.equal(other.state, 'measured');
  });
});

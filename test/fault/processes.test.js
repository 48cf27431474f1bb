/** One of several processes of a load is killed; and a CPU quota throttles all of them. */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { parseResult } from '../../lib/parse-result.js';
import { childrenOf, eventually, runCommand, startCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';

const folder = withFolder();

test('one of two processes is killed: its benchmark fails with the signal, the others run', async () => {
  const file = path.join(folder, 'killed.json');
  const load = ['--rate', '200', '--duration', '6s', '--processes', '2', '--rows', '100'];
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
 * @returns {{ enter: string[], remove: () => void } | string} words before a program that has a
 *   fifth of a processor; or why there is no such control group here
 */
function makeQuota() {
  if (process.getuid?.() !== 0) return 'a control group needs root';
  const name = `dragstrip-${process.pid}`;
  for (const [mount, file, value] of [
    ['/sys/fs/cgroup/cpu', 'cpu.cfs_quota_us', '20000'],
    ['/sys/fs/cgroup', 'cpu.max', '20000 100000'],
  ]) {
    const group = path.join(mount, name);
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
  return 'no control group with a CPU quota can be created';
}

describe('a CPU quota', () => {
  const quota = makeQuota();
  const skip = typeof quota === 'string' ? quota : false;
  after(() => typeof quota !== 'string' && quota.remove());

  test('throttles a run: the result says how often, and what helps', { skip }, async () => {
    const file = path.join(folder, 'throttled.json');
    const words = ['run', '--storages', 'memory', '--ops', '3M', '--rows', '100', '--json', file];
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

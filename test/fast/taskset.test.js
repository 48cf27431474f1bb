/** Processes bound to processors by a shell that stays. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { execa } from 'execa';
import { allowedCpus } from '../../engine/placement.js';
import { bindToCpus, missingTaskset } from '../../lib/taskset.js';
import { eventually, isRunning } from '../helpers/command-line.js';

const LIBRARY = new URL('../../lib/taskset.js', import.meta.url).href;
const [first] = allowedCpus();

/** @returns {number[]} shells started by this process */
function shells() {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  return children
    .split(' ')
    .map(Number)
    .filter((pid) => pid > 0 && readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sh\n');
}

describe('binding to processors', () => {
  /** @type {import('node:child_process').ChildProcess[]} */
  const sleeping = [];
  /** @type {number[]} */
  let pids = [];

  before(async () => {
    assert.equal(await missingTaskset(), null);
    for (let i = 0; i < 2; i += 1) sleeping.push(spawn('sleep', ['60'], { stdio: 'ignore' }));
    pids = sleeping.map(({ pid }) => Number(pid));
  });
  after(() => {
    for (const child of sleeping) child.kill('SIGKILL');
  });

  test('binds several, in order, by one shell', async () => {
    const all = allowedCpus();
    const outcomes = await Promise.all([
      bindToCpus(pids, all, { isWhole: true }),
      bindToCpus(pids, [first], { isWhole: true }),
      bindToCpus(pids.slice(1), all, { isWhole: false }),
    ]);
    assert.deepEqual(outcomes, [true, true, true]);
    assert.deepEqual(pids.map(allowedCpus), [[first], all]);
    assert.equal(shells().length, 1);
  });

  test('reports a process that is not there, and binds the others', async () => {
    const child = spawn('true');
    await new Promise((resolve) => child.on('close', resolve));
    assert.equal(
      await bindToCpus([Number(child.pid), pids[1]], [first], { isWhole: false }),
      false,
    );
    assert.deepEqual(allowedCpus(pids[1]), [first]);
    const taskset = "/nonexistent/it's";
    assert.equal(await bindToCpus(pids, [first], { taskset, isWhole: true }), false);
  });

  test('starts another shell if its shell was killed; Ctrl-C does not end it', async () => {
    const [shell] = shells();
    process.kill(shell, 'SIGINT');
    process.kill(shell, 'SIGTERM');
    assert.equal(await bindToCpus(pids, [first], { isWhole: true }), true);
    assert.deepEqual(shells(), [shell]);
    process.kill(shell, 'SIGKILL');
    assert.equal(await bindToCpus(pids, [first], { isWhole: true }), true);
    assert.notDeepEqual(shells(), [shell]);
  });

  test('keeps no process alive, and ends with it', async () => {
    const code = `const { readFileSync } = await import('node:fs');
      const { bindToCpus } = await import('${LIBRARY}');
      const isBound = await bindToCpus([process.pid], [${first}], { isWhole: true });
      const own = readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8');
      console.log(isBound, own.trim());`;
    for (const end of ['', "process.kill(process.pid, 'SIGKILL')"]) {
      const args = ['--input-type=module', '-e', code + end];
      const { stdout } = await execa(process.execPath, args, { reject: false });
      const [isBound, shell] = stdout.split(' ');
      assert.equal(isBound, 'true');
      await eventually(() => !isRunning(Number(shell)), 'the shell ends');
    }
  });
});

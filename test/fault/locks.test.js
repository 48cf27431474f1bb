/**
 * Locks between processes: exclusive, broken after a holder that was killed by exactly one other,
 * and not to be taken by another user of the machine.
 */
// Needs: redis

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { formatEndpoint } from '../../lib/address.js';
import { machineLock, withLock } from '../../servers/lock.js';
import { runCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { withServers } from '../helpers/servers.js';

const HOLDER = fileURLToPath(new URL('../helpers/hold-lock.js', import.meta.url));
const PROCESSES = 4;
const TURNS = 50;
const NOT_ROOT = process.getuid?.() !== 0 && 'only root can give a folder to another user';
const servers = withServers(['redis']);
const folder = withFolder();

/** @param {string} lock @param {string} file @param {string} n */
function hold(lock, file, n) {
  return spawn(process.execPath, [HOLDER, lock, file, n], { stdio: ['ignore', 'pipe', 'inherit'] });
}

test('one process at a time, even if the first holder was killed', async () => {
  const lock = join(folder, 'a');
  const file = join(folder, 'count');
  writeFileSync(file, '0');
  const killed = hold(lock, file, 'hang');
  await once(killed.stdout, 'data');
  const others = Array.from({ length: PROCESSES }, () => hold(lock, file, String(TURNS)));
  killed.kill('SIGKILL');
  const ends = await Promise.all(others.map((child) => once(child, 'exit')));
  assert.deepEqual(
    ends.map(([status]) => status),
    others.map(() => 0),
  );
  assert.equal(readFileSync(file, 'utf8'), String(PROCESSES * TURNS));
  const left = readdirSync(folder).filter((name) => name.startsWith('a.lock'));
  assert.deepEqual(left, [], 'nothing is left of it');
});

test('two seeds at once: the second waits, and finds the rows of the first', async () => {
  const { main } = servers.address('redis');
  const words = ['bin/dragstrip.js', 'seed', 'redis', '--rows', '50000'];
  const both = await Promise.all(
    [1, 2].map(() => runCommand(folder, [...words, '--redis', formatEndpoint(main)])),
  );
  for (const { status, stderr } of both) assert.equal(status, 0, stderr);
  const outcomes = both.map(({ stdout }) => (/written/.test(stdout) ? 'written' : stdout)).sort();
  assert.match(outcomes[0], /already present/);
  assert.equal(outcomes[1], 'written');
});

test('a lock without waiting is refused, with the holder’s purpose', async () => {
  const lock = join(folder, 'c');
  const refuse = (/** @type {import('../../servers/lock.js').Holder} */ { purpose, pid }) => {
    if (purpose === 'run') throw new Error(`refused: ${pid}`);
  };
  await withLock(lock, { purpose: 'run' }, async () => {
    await assert.rejects(
      withLock(lock, { refuse }, async () => {}),
      { message: `refused: ${process.pid}` },
    );
  });
  await withLock(lock, { purpose: 'seed' }, async () => {
    await assert.rejects(
      withLock(lock, { refuse, timeoutMs: 100 }, async () => {}),
      { code: 'E_TARGET' },
    );
  });
  assert.equal(await withLock(lock, { refuse }, async () => 'done'), 'done');
});

const sharedIn = () => readdirSync(folder).filter((name) => name.includes('-shared-'));

test('shared holders coexist, but not with an exclusive one', async () => {
  const lock = join(folder, 'd');
  /** @type {number[]} */
  const met = [];
  const onMeet = (/** @type {import('../../servers/lock.js').Holder} */ { pid }) =>
    void met.push(pid);
  const first = hold(lock, '', 'share');
  const ended = once(first, 'exit');
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let second;
  try {
    await once(first.stdout, 'data');
    await withLock(lock, { shared: true, purpose: 'race', onMeet }, async () => {
      assert.deepEqual(met, [first.pid]);
      const later = hold(lock, '', 'share');
      second = later;
      await once(later.stdout, 'data');
      const refuse = (/** @type {import('../../servers/lock.js').Holder} */ { pid, purpose }) => {
        if (purpose === 'race') throw new Error(`refused: ${pid}`);
      };
      await assert.rejects(
        withLock(lock, { refuse }, async () => {}),
        /refused: \d+/,
      );
      later.kill('SIGKILL');
      await once(later, 'exit');
    });
    assert.deepEqual(met, [first.pid, second?.pid], 'also one that came and ended meanwhile');
  } finally {
    first.kill('SIGKILL');
    await ended;
  }
  const dead = readFileSync(join(folder, String(sharedIn()[0])), 'utf8');
  writeFileSync(join(folder, 'other.lock-shared-1'), dead);
  assert.equal(await withLock(lock, { timeoutMs: 0 }, async () => 'done'), 'done', 'all are dead');
  assert.deepEqual(sharedIn(), [], 'also those of other locks, which may never be used again');
  const left = readdirSync(folder).filter((name) => name.startsWith('d.lock'));
  assert.deepEqual(left, [], 'nothing is left of them');
  await withLock(lock, {}, async () => {
    await assert.rejects(
      withLock(lock, { shared: true, timeoutMs: 0 }, async () => {}),
      { code: 'E_TARGET' },
    );
  });
});

test('a living holder is waited for, up to the limit', async () => {
  const lock = join(folder, 'b');
  const holder = hold(lock, '', 'hang');
  try {
    await once(holder.stdout, 'data');
    let waited = 0;
    const options = { timeoutMs: 200, onWait: () => void (waited += 1) };
    await assert.rejects(
      withLock(lock, options, async () => {}),
      { code: 'E_TARGET', message: /locked by another Dragstrip process/ },
    );
    assert.equal(waited, 1);
  } finally {
    holder.kill('SIGKILL');
    await once(holder, 'exit');
  }
});

test('the name of a lock is of no use to another user', async () => {
  // Locks were such sockets before, and a command waited for the one of another user.
  const lock = join(folder, 'c');
  const key = createHash('sha256').update(lock).digest('hex').slice(0, 32);
  const intruder = createServer().listen(`\0dragstrip-${key}`);
  await once(intruder, 'listening');
  try {
    assert.equal(await withLock(lock, { timeoutMs: 0 }, async () => 'done'), 'done');
  } finally {
    intruder.close();
  }
  const { mode, uid } = statSync(join(machineLock('redis@127.0.0.1:6379', folder), '..'));
  assert.equal(mode & 0o777, 0o700);
  assert.equal(uid, process.getuid?.());
});

test('a folder created by another user does not block commands', { skip: NOT_ROOT }, async () => {
  // Locks were in such a folder before.
  const shared = join(folder, 'shared');
  const squatted = join(shared, `dragstrip-locks-${process.getuid?.()}`);
  mkdirSync(squatted, { recursive: true });
  chownSync(squatted, 65_534, 65_534);
  const { main } = servers.address('redis');
  const words = ['bin/dragstrip.js', 'seed', 'redis', '--rows', '100'];
  const env = { TMPDIR: shared };
  const ended = await runCommand(folder, [...words, '--redis', formatEndpoint(main)], { env });
  assert.equal(ended.status, 0, ended.stderr);
});

test('an account without a usable home has its locks in the state folder', () => {
  const open = join(folder, 'open');
  mkdirSync(join(open, '.local/state/dragstrip/locks'), { recursive: true });
  chmodSync(join(open, '.local/state/dragstrip/locks'), 0o777);
  for (const account of [null, '/proc/none', open]) {
    assert.equal(join(machineLock('a', folder, account), '..'), join(folder, 'locks'));
  }
  chmodSync(join(folder, 'locks'), 0o777);
  assert.throws(() => machineLock('a', folder, null), { code: 'E_TARGET' });
});

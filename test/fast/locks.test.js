/**
 * Conditions for breaking a lock, by records of holders as other processes leave them; test/fault
 * has the processes.
 */

import assert from 'node:assert/strict';
import fs, { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { resolveAddress } from '../../engine/addresses.js';
import { withServerLocks } from '../../engine/server-locks.js';
import { ownIdentity, processScope } from '../../lib/process-identity.js';
import { withLock } from '../../servers/lock.js';
import { withFolder } from '../helpers/folder.js';

const folder = withFolder();
const [boot, namespace] = String(processScope()).split('.');
const LIVING = { ...ownIdentity(), scope: processScope() };
const DEAD = { pid: 2 ** 22 + 1, startTicks: 1, scope: processScope() };
let made = 0;

/** @param {object} holder @returns {string} locked path */
function lockOf(holder) {
  const path = join(folder, `lock-${++made}`);
  writeFileSync(`${path}.lock`, JSON.stringify({ id: 'first', ...holder }));
  return path;
}

/** @param {string} path */
async function isTaken(path) {
  try {
    await withLock(path, { timeoutMs: 0 }, async () => {});
    return false;
  } catch (error) {
    assert.equal(error.code, 'E_TARGET');
    return true;
  }
}

/** @param {string} path */
const leavesOf = (path) => readdirSync(folder).filter((leaf) => leaf.startsWith(basename(path)));

describe('a lock', () => {
  test('is broken if its holder cannot live: dead here, or of another boot of the machine', async () => {
    for (const [holder, taken] of /** @type {const} */ ([
      [LIVING, true],
      [DEAD, false],
      // A pid of another container says nothing here.
      [{ ...DEAD, scope: `${boot}.${Number(namespace) + 1}` }, true],
      [{ ...LIVING, scope: `another-boot.${namespace}` }, false],
    ])) {
      const path = lockOf(holder);
      assert.equal(await isTaken(path), taken, JSON.stringify(holder));
      const left = taken ? [`${basename(path)}.lock`] : [];
      assert.deepEqual(leavesOf(path), left);
    }
  });

  test('that another process has meanwhile broken and acquired is not broken again', async (t) => {
    const path = lockOf(DEAD);
    const lockText = JSON.stringify({ id: 'second', ...LIVING });
    const link = fs.linkSync;
    t.mock.method(fs, 'linkSync', (/** @type {string} */ from, /** @type {string} */ to) => {
      if (to.endsWith('-of-first')) writeFileSync(`${path}.lock`, lockText);
      link(from, to);
    });
    syncBuiltinESMExports();
    try {
      assert.equal(await isTaken(path), true);
    } finally {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    }
    assert.equal(readFileSync(`${path}.lock`, 'utf8'), lockText);
  });

  test('shared twice by one process is not reported as a second user', async () => {
    const path = join(folder, 'shared');
    const shared = { shared: true, onMeet: () => assert.fail('it met itself') };
    await withLock(path, shared, () => withLock(path, shared, async () => {}));
    assert.deepEqual(leavesOf(path), []);
  });
});

test('two servers with assumed further ports are different', async () => {
  const { address, assumed } = await resolveAddress('mariadb', {
    flags: { mysql: `p${process.pid}.invalid:1` },
    env: {},
    home: folder,
  });
  assert.deepEqual(assumed, ['read', 'write']);
  const servers = [1, 2].map((port) => ({
    name: 'mariadb',
    address: { ...address, sql: { host: `p${process.pid}.invalid`, port } },
    assumed,
  }));
  const context = { home: folder, purpose: 'race' };
  await withServerLocks([servers[0]], context, async () => {
    await withServerLocks([servers[1]], context, async () => {});
    await assert.rejects(
      withServerLocks([servers[0]], context, async () => {}),
      { code: 'E_REFUSED' },
    );
  });
});

test('locks of several servers are acquired in one order, whatever the order of the servers', async () => {
  const [a, b] = [1, 2].map((port) => ({
    name: `server-${port}`,
    address: { main: { host: `p${process.pid}.invalid`, port } },
  }));
  const context = { home: folder, purpose: 'race' };
  const both = (/** @type {(typeof a)[]} */ servers) =>
    withServerLocks(servers, context, async () => {});
  await withServerLocks([a], context, () =>
    withServerLocks([b], context, async () => {
      for (const servers of [
        [a, b],
        [b, a],
      ]) {
        await assert.rejects(both(servers), { code: 'E_REFUSED', message: /^server-1 / });
      }
    }),
  );
});

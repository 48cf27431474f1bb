/** The bench of the coordination in a small size: leases, orders, uploads and merging are real. */
// Needs: redis

import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { PACKAGES_HOME } from '../helpers/servers.js';

test('six simulated agents in two processes are merged, and the cost is printed', async (t) => {
  const folder = withFolder(t);
  await symlink(path.join(PACKAGES_HOME, 'packages'), path.join(folder, 'packages'));
  const size = ['--agents', '6', '--per-process', '3', '--seconds', '1', '--repeat', '2'];
  const { status, stdout, stderr } = await runCommand(folder, ['bench/fleet.js', ...size], {
    env: { DRAGSTRIP_HOME: folder },
  });
  assert.equal(status, 0, stderr);
  const [seconds, agents, kib, ...times] = (stdout.trim().split('\n').at(-1) ?? '').split('  ');
  assert.deepEqual([seconds, agents], ['1', '6'], stdout);
  assert.ok(Number(kib) > 0, stdout);
  // Time to merge, time of a step, memory of the coordinator.
  assert.equal(times.length, 3, stdout);
  for (const text of times) assert.match(text, /^[\d,.]+( \([\d,.]+–[\d,.]+\))?$/, stdout);
});

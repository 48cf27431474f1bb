/** The README's generated blocks: options of every command and the example storage. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { ROOT } from '../helpers/command-line.js';

test('README.md is what its sources say', () => {
  const words = ['scripts/build-readme.js', '--check'];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: ROOT, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});

/** A file that imports `dragstrip` loads only its own definitions in a benchmark process. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CONDITION = '--conditions=dragstrip-contender';
const folder = withFolder();

/** @param {string[]} flags @returns {string[]} names that `dragstrip` exports */
function exportsOf(flags) {
  const program = `import * as all from 'dragstrip'; console.log(Object.keys(all).join());`;
  const words = [...flags, '--input-type=module', '--eval', program];
  return execFileSync(process.execPath, words, { cwd: ROOT, encoding: 'utf8' }).trim().split(',');
}

test('`dragstrip` exports only the define functions in benchmark processes', () => {
  const [all, measured] = [exportsOf([]), exportsOf([CONDITION])];
  assert.deepEqual(
    ['run', 'report', 'defineStorage', 'count'].map((name) => all.includes(name)),
    [true, true, true, true],
  );
  assert.deepEqual(
    ['run', 'report', 'parseResult'].filter((name) => measured.includes(name)),
    [],
  );
  assert.deepEqual(
    measured.filter((name) => !all.includes(name)),
    [],
  );
  assert.ok(measured.includes('defineStorage') && measured.includes('count'));
});

test('a benchmark process has the import condition', async () => {
  writeFileSync(
    path.join(folder, 'flags.mjs'),
    `export default {
      name: 'flags', summary: 'of a test', package: null, server: null,
      profiles: { default: { summary: '', options: {} } },
      async open() { throw new Error(process.execArgv.join(' ')); },
    };`,
  );
  const words = ['run', '--storages', './flags.mjs', '--rows', '5', '--ops', '5', '--quiet'];
  const { stdout, stderr } = await runCommand(folder, ['bin/dragstrip.js', ...words]);
  assert.match(stdout + stderr, new RegExp(CONDITION));
});

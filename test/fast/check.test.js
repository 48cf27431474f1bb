/** `dragstrip check`: each promise of a storage, kept and broken. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { assertFailure, runCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';

const folder = withFolder();

const RIGHT = 'id <= dataset.rows ? dataset.value(id) : undefined';

/** @param {string} name @param {string} get body of get(id) @param {string} [rows] */
function writeStorage(name, get, rows = "['get']") {
  writeFileSync(
    path.join(folder, `${name}.mjs`),
    `export default {
      name: '${name}', summary: 'of a test', package: null, server: null, rows: ${rows},
      profiles: { default: { summary: '', options: {} } },
      open: { rows: async ({ dataset }) => ({ async get(id) { ${get} }, async close() {} }) },
    };`,
  );
  return `./${name}.mjs`;
}

/** @param {string[]} words */
const check = (...words) =>
  runCommand(folder, ['bin/dragstrip.js', 'check', ...words, '--rows', '300', '--quiet']);

test('a correct storage passes all checks, each on one line', async () => {
  const { status, stdout, stderr } = await check(writeStorage('right', `return ${RIGHT};`));
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^right\n {2}ok {6}opens, and its handle has the declared operations: get/);
  assert.match(stdout, /ok {6}every row has its own value: 200 rows compared in full/);
  assert.match(stdout, /skip {4}a lost connection is an error: it has no server/);
  assert.match(stdout, /\n4 ok, 0 failed, 6 skipped\n$/);
});

test('each failed check is named, the others still run', async () => {
  const broken = [
    writeStorage('other-row', 'return dataset.value(1 + (id % dataset.rows));'),
    writeStorage('no-miss', `return (${RIGHT}) ?? '';`),
    writeStorage('throws', `setImmediate(() => { throw new Error('late') }); return ${RIGHT};`),
    writeStorage('leaves', 'process.exit(3);'),
    writeStorage('less', `return ${RIGHT};`, "['get', 'mget']"),
  ];
  const { status, stdout } = await check(...broken);
  assert.equal(status, 5, stdout);
  assert.match(stdout, /FAILED {2}every row has its own value: row 1: another value, 1024 char/);
  assert.match(stdout, /FAILED {2}a missing row is a miss: it returns "" instead of undefined/);
  assert.match(stdout, /FAILED {2}every row .*: uncaught error: late/);
  assert.match(stdout, /FAILED {2}every row .*: the process ended with status 3/);
  assert.match(
    stdout,
    /FAILED {2}opens, .*: it declares mget, but the handle does not implement it/,
  );
});

test('an unknown storage is a usage error, one without its server exit status 4', async () => {
  assertFailure(await check('./nowhere.mjs'), 2, /no such file/);
  assertFailure(await check('ioredis'), 4, /ioredis/);
});

/** A file is on the disk, under its name, before a run goes on: synced, renamed, folder synced. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { after, test } from 'node:test';
import { writeWhole } from '../../cli/storage.js';
import { withFolder } from '../helpers/folder.js';

const folder = withFolder();
const { open, rename } = promises;
/** @type {string[]} */
const events = [];

/** @param {unknown} file @returns {string} */
const nameOf = (file) => path.basename(String(file)).replace(/\.[0-9a-f]+\.tmp$/, '.tmp');

promises.open = async (file, ...rest) => {
  const handle = await open(file, ...rest);
  const sync = handle.sync.bind(handle);
  handle.sync = async () => {
    events.push(`sync ${nameOf(file)}`);
    await sync();
  };
  return handle;
};
promises.rename = async (from, to) => {
  events.push(`rename ${nameOf(from)} ${nameOf(to)}`);
  await rename(from, to);
};
syncBuiltinESMExports();

after(() => {
  Object.assign(promises, { open, rename });
  syncBuiltinESMExports();
});

test('the file is synced before it is renamed, the folder afterwards', async () => {
  const file = path.join(folder, 'a.json');
  await writeWhole(file, 'x');
  assert.deepEqual(events, [
    'sync a.json.tmp',
    'rename a.json.tmp a.json',
    `sync ${path.basename(folder)}`,
  ]);
  assert.equal(readFileSync(file, 'utf8'), 'x');
});

test('the partial result of each second does not wait for the disk', async () => {
  events.length = 0;
  await writeWhole(path.join(folder, 'b.json'), 'y', { sync: false });
  assert.deepEqual(events, ['rename b.json.tmp b.json']);
});

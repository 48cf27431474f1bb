/** Embedded stores whose state folder several runs share at the same time. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createDataset } from '../../lib/dataset.js';
import { loadStorage } from '../../storages/index.js';
import { runCommand } from '../helpers/command-line.js';
import { makeHome } from '../helpers/servers.js';

const HOUR_MS = 3_600_000;

describe('embedded stores in one state folder', () => {
  let home = '';
  before(async () => {
    home = await makeHome();
  });
  after(() => rmSync(home, { recursive: true, force: true }));

  test('runs with different datasets do not disturb each other', async () => {
    const words = ['bin/dragstrip.js', 'run', '--storages', 'lmdb', '--in-flight', '1', '--quiet'];
    const runs = [500, 600, 500, 700].map((rows) =>
      runCommand(home, [...words, '--ops', '500', '--rounds', '2', '--rows', `${rows}`]),
    );
    for (const { status, stderr } of await Promise.all(runs)) assert.equal(status, 0, stderr);
  });

  test('a file unused for an hour is deleted for another dataset', async () => {
    const folder = path.join(home, 'unused');
    const { fill } = await loadStorage('lmdb');
    const files = () => readdirSync(folder).filter((name) => name.endsWith('.lmdb'));
    for (const rows of [10, 20]) await fill?.({ folder, dataset: createDataset({ rows }) });
    assert.equal(files().length, 2);
    const [first] = files();
    const old = new Date(Date.now() - 2 * HOUR_MS);
    utimesSync(path.join(folder, first), old, old);
    await fill?.({ folder, dataset: createDataset({ rows: 30 }) });
    assert.equal(files().length, 2);
    assert.equal(existsSync(path.join(folder, first)), false);
  });
});

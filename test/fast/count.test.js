/** scripts/count.js counts the working tree. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { count } from '../../scripts/count.js';

test('npm run count gives files, lines, code lines and imports per folder', (t) => {
  let counts;
  try {
    counts = count({ workload: 'insert' });
  } catch (error) {
    if (!/not a git repository|ENOENT/.test(error.message)) throw error;
    t.skip('needs a git clone');
    return;
  }
  const { folders, total } = counts;
  for (const name of ['cli', 'engine', 'load', 'data/loaders', 'workloads']) {
    assert.ok(folders[name].files > 0, name);
    assert.ok(folders[name].code > 0 && folders[name].code < folders[name].lines, name);
  }
  assert.equal(folders.test, undefined);
  assert.equal(folders.bench, undefined);
  assert.ok(total.code > 10_000 && total.code < total.lines);
  assert.ok(counts.imports > 300);
  assert.ok(Array.isArray(counts.upwards) && Array.isArray(counts.cycles));
  assert.ok(counts.naming?.includes('workloads/index.js'));
});

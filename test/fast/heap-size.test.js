/** The sizes of V8's heap: the same in all benchmark processes, unless the user sets them. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { heapFlags, heapSettings } from '../../lib/heap-size.js';
import { parseResult } from '../../lib/parse-result.js';
import { differencesOf } from '../../report/analysis/conditions.js';
import { runCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';

const folder = withFolder();

test('NODE_OPTIONS of the user take precedence', () => {
  const young = ['--min-semi-space-size=16', '--max-semi-space-size=16'];
  const old = ['--initial-old-space-size=256'];
  const sizes = { semiSpaceMib: 16, oldSpaceMib: 256 };
  assert.deepEqual(heapSettings({}, 4), { ...sizes, scavengeHelpers: true });
  assert.deepEqual(heapFlags({}, 4), [...young, ...old]);
  assert.deepEqual(heapFlags({ NODE_OPTIONS: '--max-old-space-size=99' }, 4), young);
  assert.deepEqual(heapFlags({ NODE_OPTIONS: '--max_semi_space_size=64' }, 4), old);
});

test('collections have no helper threads where client and server need the processors', () => {
  assert.deepEqual(heapFlags({}, 3), ['--no-parallel-scavenge', ...heapFlags({}, 4)]);
  assert.equal(heapSettings({}, 3).scavengeHelpers, false);
  const own = { NODE_OPTIONS: '--parallel-scavenge' };
  assert.equal(heapSettings(own, 3).scavengeHelpers, null);
  assert.deepEqual(heapFlags(own, 3), heapFlags({}, 4));
});

/** @param {Record<string, string>} env */
async function measure(env) {
  const words = ['run', '--storages', './sized.mjs', '--json', 'r.json', '--force', '--quiet'];
  const amounts = ['--rows', '50', '--ops', '200', '--warmup', '10', '--rounds', '1'];
  const ended = await runCommand(folder, ['bin/dragstrip.js', ...words, ...amounts], { env });
  assert.equal(ended.status, 0, ended.stderr);
  const result = parseResult(readFileSync(path.join(folder, 'r.json'), 'utf8'), 'r.json');
  return { result, mib: Number(readFileSync(path.join(folder, 'size'), 'utf8')) };
}

test('a benchmark process has it, and its result contains it', async () => {
  writeFileSync(
    path.join(folder, 'sized.mjs'),
    `import { writeFileSync } from 'node:fs';
    import { getHeapStatistics } from 'node:v8';
    export default {
      name: 'sized', summary: 'of a test', package: null, server: null,
      profiles: { default: { summary: '', options: {} } },
      async open({ dataset }) {
        writeFileSync('size', String(getHeapStatistics().heap_size_limit / 2 ** 20));
        return { get: async (id) => dataset.value(id), async close() {} };
      },
    };`,
  );
  const fixed = await measure({ NODE_OPTIONS: '' });
  const { semiSpaceMib, oldSpaceMib } = fixed.result.environment;
  assert.deepEqual([semiSpaceMib, oldSpaceMib], [16, 256]);
  const smaller = await measure({ NODE_OPTIONS: '--max-semi-space-size=2' });
  assert.equal(smaller.result.environment.semiSpaceMib, null);
  // V8 counts three semi-spaces beside the old generation, by the maximum of one.
  assert.equal(fixed.mib - smaller.mib, 3 * (16 - 2));
  const what = differencesOf(fixed.result, smaller.result).map((one) => one.what);
  assert.deepEqual(what, ['young generation']);

  /** @param {boolean | undefined} scavengeHelpers undefined: an earlier version */
  const withHelpers = (scavengeHelpers) => {
    const { environment } = fixed.result;
    return { ...fixed.result, environment: { ...environment, scavengeHelpers } };
  };
  assert.deepEqual(differencesOf(withHelpers(undefined), withHelpers(true)), []);
  assert.deepEqual(differencesOf(withHelpers(undefined), withHelpers(false)), [
    { what: 'helper threads of collections', base: 'yes', other: 'no' },
  ]);
});

/** The generated blocks of the documents: all options and the example storage. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { callCommand, ROOT } from '../helpers/command-line.js';

test('documents equal their sources', () => {
  const words = ['scripts/build-docs.js', '--check'];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: ROOT, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});

test('exactly the environment variables of the code are described', () => {
  const page = readFileSync(path.join(ROOT, 'docs/options.md'), 'utf8');
  const table = page.slice(page.indexOf('<!-- variables:start -->'));
  const described = [...table.matchAll(/^\| `(DRAGSTRIP_\w+)` \|/gm)].map(([, name]) => name);
  const tests = /^(node_modules|results|types|docs|test|packages\/[^/]+\/test|\.)/;
  const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file !== 'scripts/build-docs.js' &&
      !tests.test(file) &&
      /\.(js|lua|sh)$/.test(file) &&
      !file.includes('node_modules'),
  );
  const named = files.flatMap((file) =>
    [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/\bDRAGSTRIP_[A-Z_]*[A-Z]/g)].map(
      ([name]) => name.replace(/_FILE$/, ''),
    ),
  );
  // From a run to its processes; no user sets them.
  const internal = ['DRAGSTRIP_REDIS_BENCHMARK', 'DRAGSTRIP_REDIS_BENCHMARK_LIBRARIES'];
  const tls = ['DRAGSTRIP_TLS_CERT', 'DRAGSTRIP_TLS_KEY', 'DRAGSTRIP_TLS_SERVER_NAME']; // computed
  const known = new Set([...named, ...tls].filter((name) => !internal.includes(name)));
  const bare = described.map((name) => name.replace(/_FILE$/, ''));
  assert.deepEqual([...new Set(bare)].sort(), [...known].sort());
});

test('the help of a command fits on two screens, and docs/options.md has the rest', async () => {
  const page = readFileSync(path.join(ROOT, 'docs/options.md'), 'utf8');
  for (const command of ['race', 'async', 'mget', 'mutex', 'commands', 'insert', 'ycsb', 'limit']) {
    const { stdout } = await callCommand(['bin/dragstrip.js', command, '--help']);
    assert.ok(stdout.split('\n').length <= 74, `${command}: ${stdout.split('\n').length} lines`);
    const { stdout: whole } = await callCommand(['bin/dragstrip.js', command, '--help-all']);
    const described = [...whole.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, name]) => name);
    for (const name of described) {
      assert.ok(stdout.includes(name), `${command} --help names ${name}`);
      if (!name.startsWith('--help')) assert.match(page, new RegExp(`${name}[ \`]`));
    }
  }
});

/**
 * Runs the tests by name: a bare `node --test` would take test.js and async_test.js for tests, and
 * Node 20 knows no globs. `node scripts/test.js fast contract` runs these folders only.
 */

import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');
const FOLDERS = ['fast', 'golden', 'contract', 'fault'];

const given = process.argv.slice(2);
const folders = given.length === 0 ? FOLDERS : given;
const unknown = folders.find((folder) => !FOLDERS.includes(folder));
if (unknown !== undefined) {
  console.error(`no test folder ${unknown}; there are ${FOLDERS.join(', ')}`);
  process.exit(2);
}

const files = folders.flatMap((folder) =>
  readdirSync(path.join(ROOT, 'test', folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js'))
    .sort()
    .map((name) => path.join('test', folder, name)),
);
const child = spawn(
  process.execPath,
  ['--test', '--test-concurrency=2', '--test-reporter=spec', ...files],
  { cwd: ROOT, stdio: 'inherit' },
);
child.on('exit', (status, signal) => {
  process.exitCode = signal === null ? (status ?? 70) : 70;
});

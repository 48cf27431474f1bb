/** Commands in messages and hints: written so that they work in a clone, `npx dragstrip …`. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { version } from '../../lib/version.js';
import { WORKLOAD_NAMES } from '../../workloads/index.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = [
  ...['cli', 'report', 'engine', 'storages', 'servers', 'workloads', 'data', 'codecs', 'limits'],
  ...['protocols', 'load', 'stats', 'measure', 'lib'],
];
const COMMANDS = [
  ...['race', 'async', 'sync', 'limit', 'seed', 'servers', 'report', 'history', 'compare', 'list'],
  ...['doctor', 'run'],
  ...WORKLOAD_NAMES,
].join('|');

/** @returns {string[]} lines of the product that name a command, comments apart */
function linesWithCommands() {
  const form = new RegExp(`(?<!npx )(?<![\\w./-])dragstrip (?:${COMMANDS})\\b`);
  return FOLDERS.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js'))
      .flatMap((file) =>
        readFileSync(path.join(ROOT, folder, file), 'utf8')
          .split('\n')
          .filter((line) => form.test(line) && !/^\s*(?:\*|\/\/|\/\*\*)/.test(line))
          .map((line) => `${folder}/${file}: ${line.trim()}`),
      ),
  );
}

test('a command in a message begins with npx', () => {
  assert.deepEqual(linesWithCommands(), []);
});

test('npx dragstrip is that of the clone', () => {
  const words = ['--no-install', 'dragstrip', '--version'];
  assert.equal(execFileSync('npx', words, { cwd: ROOT, encoding: 'utf8' }).trim(), version);
});

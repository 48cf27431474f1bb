/** Lines that `npm test` prints before the summary of node:test. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withFindings } from '../../scripts/test-reporter.js';
import { withFolder } from '../helpers/folder.js';
import { notChecked } from '../helpers/not-checked.js';

const folder = withFolder();

/** @param {string} message */
const diagnostic = (message, nesting = 0, file = path.resolve('a.test.js')) => ({
  type: 'test:diagnostic',
  data: { nesting, message, file },
});

/**
 * @param {{ type: string, data: any }[]} events
 * @param {{ timesFile?: string }} [options]
 * @returns {Promise<string[]>} messages in their order
 */
async function messagesOf(events, options = {}) {
  /** @type {string[]} */
  const messages = [];
  const stream = (async function* all() {
    yield* events;
  })();
  for await (const { data } of withFindings(stream, options)) messages.push(data.message);
  return messages;
}

test('skipped checks are counted and listed before the summary, each once', async () => {
  /** @type {string[]} */
  const reported = [];
  notChecked({ diagnostic: (message) => reported.push(message) }, 'the machine is busy');
  const diagnostics = [...reported, ...reported].map((message) => diagnostic(message, 1));
  const summary = ['tests 3', 'pass 3'].map((message) => diagnostic(message));
  assert.deepEqual(await messagesOf([...diagnostics, diagnostic('tests 1', 1), ...summary]), [
    'not checked: the machine is busy',
    'not checked: the machine is busy',
    'tests 1',
    'not checked: 1',
    '  a.test.js: the machine is busy',
    'tests 3',
    'pass 3',
  ]);
});

test('the times of the files precede it, the longest first, with their sum', async () => {
  const timesFile = path.join(folder, 'times');
  const times = [
    { file: path.resolve('quick.test.js'), wallS: 1, cpuS: 0.5 },
    { file: path.resolve('slow.test.js'), wallS: 20.06, cpuS: 4 },
  ];
  writeFileSync(timesFile, times.map((one) => `${JSON.stringify(one)}\n`).join(''));
  assert.deepEqual(await messagesOf([diagnostic('tests 2')], { timesFile }), [
    '    20.1 s      4.0 s CPU  slow.test.js',
    '     1.0 s      0.5 s CPU  quick.test.js',
    '    21.1 s      4.5 s CPU  2 files',
    'not checked: 0',
    'tests 2',
  ]);
});

test('the files that npm test begins with exist', () => {
  const text = readFileSync(new URL('../../scripts/test.js', import.meta.url), 'utf8');
  const [, list] = /const LONGEST = \[(.+?)\]\.map/s.exec(text) ?? [];
  const names = [...String(list).matchAll(/'([^']+)'/g)].map(([, name]) => name);
  assert.ok(names.length > 10);
  const isThere = (/** @type {string} */ name) =>
    existsSync(new URL(`../${name}.test.js`, import.meta.url));
  assert.deepEqual(
    names.filter((name) => !isThere(name)),
    [],
  );
});

/**
 * There is one record, one merge and one process that measures: a second one appears as a call, or
 * as a name, in a file that is not listed here. See docs/architecture.md.
 */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../../helpers/command-line.js';

const FOLDERS = [
  ...['cli', 'codecs', 'data', 'engine', 'lib', 'limits', 'load', 'measure'],
  ...['packages', 'protocols', 'report', 'servers', 'stats', 'storages', 'workloads'],
];

const HISTOGRAM = 'measure/histogram.js';

/** Text of each file of the product, without comments. */
const FILES = FOLDERS.flatMap((folder) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js') && !/node_modules|^test\/|\/test\//.test(name))
    .map((name) => {
      const file = path.join(folder, name);
      const text = readFileSync(path.join(ROOT, file), 'utf8');
      return { file, text: text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '') };
    }),
);

/**
 * @param {RegExp} what
 * @param {readonly string[]} where files, or folders with a slash behind
 */
function requireOnlyIn(what, where) {
  const found = FILES.filter(({ text }) => what.test(text)).map(({ file }) => file);
  const others = found.filter((file) => !where.some((one) => file === one || inside(file, one)));
  assert.deepEqual(others, []);
  const unused = where.filter((one) => !found.some((file) => file === one || inside(file, one)));
  assert.deepEqual(unused, [], 'no longer there: take it off the list');
}

/** @param {string} file @param {string} folder */
function inside(file, folder) {
  return folder.endsWith('/') && file.startsWith(folder);
}

test('histograms of segments are merged in one file', () => {
  // Waits for a connection are taken from each connection of a pool before there is a segment.
  requireOnlyIn(/\.mergeSparse\(/, ['engine/segment.js', 'engine/pool-wait.js', HISTOGRAM]);
});

test('latencies are recorded by recorders, and by two other files', () => {
  requireOnlyIn(/(histogram|service|second|byKind\[[^;]*\])\.record\(/i, [
    'load/',
    'storages/pool-wait.js',
    'workloads/mutex/waits.js',
  ]);
});

test('schedules are chosen by the plan and played by one file', () => {
  requireOnlyIn(/'(whole|blocks|timed|search)'/, [
    'engine/schedule/choose.js',
    // The plural of a word.
    'report/unfinished.js',
  ]);
});

test('processes that measure are started in one place', () => {
  requireOnlyIn(/startChild\(/, [
    'lib/node-child.js',
    'engine/contender-process.js',
    // These measure nothing of a result: the check of a storage, the version of a driver, a server
    // that only replies.
    'engine/check/index.js',
    'engine/drivers/probe.js',
    'limits/fake/process.js',
  ]);
});

/** A benchmark whose driver blocks its event loop forever ends with its parent in any case. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { describeEnd } from '../../lib/node-child.js';
import { untilParentDies } from '../../lib/parent-death.js';
import { childrenOf, eventually, isRunning, startCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';

const folder = withFolder();

/** @param {string} body body of its get */
function storageWith(body) {
  return `export const storage = {
  name: 'own', summary: 'for a test', package: null, server: null, rows: ['get'],
  profiles: { default: { summary: 'for a test', options: {} } },
  open: { async rows({ dataset }) {
    return { get: async (id) => { ${body}; return dataset.valueOf(id); }, value: (x) => x,
      close: async () => {} };
  } },
};
`;
}

test('it is killed with its killed parent', async (t) => {
  if (untilParentDies('true', []) === null) return t.skip('requires setpriv --pdeathsig');
  const file = join(folder, 'blocked.mjs');
  writeFileSync(file, storageWith('for (;;) {}'));
  const words = ['async_test.js', '--storages', file, '--ops', '10'];
  const { child, ended } = startCommand(folder, words);
  /** @type {number[]} */
  let blocked = [];
  try {
    await eventually(() => {
      blocked = childrenOf(child.pid ?? 0);
      return blocked.length > 0 && blocked.some((pid) => busyTicks(pid) > 50);
    }, 'the child is blocked');
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
  await eventually(() => blocked.every((pid) => !isRunning(pid)), 'it has ended');
});

/** @param {number} pid @returns {number} processor time that it has used, hundredths of a second */
function busyTicks(pid) {
  try {
    const stat = readStat(pid);
    return Number(stat[11]) + Number(stat[12]);
  } catch {
    return 0;
  }
}

/** @param {number} pid */
function readStat(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

test('a process that ran out of heap memory is reported, with a hint', () => {
  const stderr = [
    '<--- Last few GCs --->',
    '[42:0x5]  812 ms: Mark-sweep 4093.1 (4133.2) -> 4093.0 (4133.2) MB',
    'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
    ' 1: 0xb9c1f0 node::Abort() [node]',
    ' 2: 0xaa27ee  [node]',
  ].join('\n');
  assert.match(describeEnd({ signal: 'SIGABRT', stderr }), /out of heap memory: use fewer --ops/);
  assert.match(describeEnd({ signal: 'SIGABRT', stderr: 'x' }), /was killed by SIGABRT/);
});

/** The example of a server that Dragstrip does not know: checked, raced, filled once per dataset. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure, ROOT } from '../helpers/command-line.js';

const STORAGE = path.join(ROOT, 'examples/line-storage.js');
const { call, callHere, resultIn } = withCommands();
/** @type {import('node:child_process').ChildProcess} */
let server;

before(async () => {
  const script = path.join(ROOT, 'examples/line-server.js');
  server = spawn(process.execPath, [script, '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [address] = await once(server.stdout?.setEncoding('utf8') ?? server, 'data');
  process.env['LINE_SERVER'] = address.trim();
});
after(() => {
  delete process.env['LINE_SERVER'];
  server.kill();
});

test('check reads and writes its rows, and names the checks that need an address', async () => {
  const { status, stdout, stderr } = await call('check', STORAGE, '--rows', '3000');
  assert.equal(status, 0, `${stdout}${stderr}`);
  assert.match(stdout, /\n5 ok, 0 failed, 5 skipped\n/);
  assert.equal(stdout.match(/: it has no server\n/g)?.length, 4);
});

test('a sweep of value sizes fills each dataset, and every reply is its row', async () => {
  const words = ['race', '--storages', `${STORAGE},memory`, '--value-size', '64,200'];
  const few = ['--rows', '3000', '--ops', '300', '--rounds', '2', '--no-html'];
  const { status, stdout, stderr } = await callHere(...words, ...few, '--json', 'own.json');
  assert.equal(status, 0, `${stdout}${stderr}`);
  const benchmarks = resultIn('own.json').benchmarks.filter(
    ({ storage }) => storage === 'line-storage',
  );
  assert.equal(benchmarks.length, 4); // two loads, two sizes
  for (const { rounds } of benchmarks) {
    assert.deepEqual(
      rounds.map(({ outcomes }) => outcomes.ok),
      [300, 300],
    );
  }
});

test('a server that does not answer is named as the reason, by check and by a race', async () => {
  const address = process.env['LINE_SERVER'];
  process.env['LINE_SERVER'] = '127.0.0.1:1';
  try {
    const checked = await call('check', STORAGE, '--rows', '20');
    assert.equal(checked.status, 5, checked.stderr);
    assert.match(checked.stdout, /FAILED {2}its rows are written: connect ECONNREFUSED/);
    const words = ['race', '--storages', STORAGE, '--rows', '20', '--ops', '30', '--no-html'];
    const raced = await callHere(...words);
    assertFailure(raced, 4, /could not be written: connect ECONNREFUSED.*; start the server/);
  } finally {
    process.env['LINE_SERVER'] = address;
  }
});

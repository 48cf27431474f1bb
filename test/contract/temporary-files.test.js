/** A run leaves nothing in the folder of temporary files but the locks of its user. */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { runCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { addressVariables, withServers } from '../helpers/servers.js';

const ROWS = ['--rows', '300', '--value-size', '64'];
const LOADS = ['--load', 'window', '--in-flight', '16', '--ops', '100', '--warmup', '10'];

describe('temporary files', () => {
  const servers = withServers(['redis', 'mariadb', 'tarantool']);
  const folder = withFolder();
  const temporary = path.join(folder, 't');
  before(async () => {
    mkdirSync(temporary);
    const ended = await call('seed', 'redis', 'mariadb', 'tarantool', ...ROWS);
    assert.equal(ended.status, 0, ended.stderr);
  });

  /** @param {string[]} words */
  function call(...words) {
    const env = { ...addressVariables(servers), TMPDIR: temporary };
    return runCommand(folder, ['bin/dragstrip.js', ...words], { env });
  }

  const left = () => readdirSync(temporary).filter((name) => !/^dragstrip-locks-\d+$/.test(name));

  test('every driver of three servers', async () => {
    const ended = await call('run', ...ROWS, ...LOADS, '--rounds', '1');
    assert.equal(ended.status, 0, ended.stderr);
    assert.match(ended.stdout, /valkey-glide/);
    assert.deepEqual(left(), []);
  });

  test('the socket of GLIDE, which is in /tmp whatever TMPDIR says', async () => {
    const { host, port } = servers.address('redis').main;
    const code = `
      import { connectGlide } from './storages/glide-client.js';
      const main = { host: '${host}', port: ${port} };
      const where = { address: { main }, credentials: {}, profile: { options: {} } };
      const refused = await connectGlide(where).catch((error) => error.message);
      const { readdirSync } = await import('node:fs');
      const names = () => readdirSync('/tmp').filter((name) => name.includes('-' + process.pid + '-'));
      console.log(JSON.stringify({ refused, names: names() }));`;
    const args = ['--input-type=module', '--eval', code];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { refused, names } = JSON.parse(stdout);
    assert.match(refused, /NOAUTH/);
    assert.equal(names.length, 1, 'it was there');
    assert.ok(!existsSync(path.join('/tmp', names[0])));
  });

  test('blocks and rounds', async () => {
    const few = ['--storages', 'valkey-glide,lmdb', '--rounds', '2', '--budget', '2s'];
    const ended = await call('race', ...ROWS, ...few, '--warmup', '10');
    assert.equal(ended.status, 0, ended.stderr);
    assert.deepEqual(left(), []);
  });
});

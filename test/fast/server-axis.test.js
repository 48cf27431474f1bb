/** --servers: its names, the storages that take part on each server, and refusals. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsHiredis, serversToStart } from '../../cli/setup.js';
import { planRun } from '../../engine/plan.js';
import { parseServers, withServerAxis } from '../../engine/server-axis.js';
import { loadStorage } from '../../storages/index.js';
import { loadWorkload } from '../../workloads/index.js';

const race = await loadWorkload('race');
/** @param {string} source @param {boolean} [named] */
const select = (source, named = false) => ({ source, profile: 'default', named });

test('a server is a name, an address, or a label with both', () => {
  assert.deepEqual(parseServers(['redis', 'valkey', 'a=redis@127.0.0.1:1', 'redis@[::1]:2']), [
    { label: 'redis', product: 'redis', kind: 'redis', address: null },
    { label: 'valkey', product: 'valkey', kind: 'redis', address: null },
    { label: 'a', product: 'redis', kind: 'redis', address: '127.0.0.1:1' },
    { label: 'redis@[::1]:2', product: 'redis', kind: 'redis', address: '[::1]:2' },
  ]);
});

test('servers without rows, without a name and duplicates are refused', () => {
  for (const [texts, says] of /** @type {[string[], RegExp][]} */ ([
    [['reddis'], /"reddis": not a server with rows, such as redis/],
    [['nutcracker'], /not a server with rows/],
    [['redis', 'redis'], /duplicate name redis/],
    [['redis@unix:/tmp/x.sock'], /this address needs a name/],
    [['='], /not a server/],
  ])) {
    assert.throws(() => parseServers(texts), { code: 'E_USAGE', message: says });
  }
});

test('each driver runs on each server of its protocol; others are left out', async () => {
  const listed = parseServers(['redis', 'b=redis@127.0.0.1:1']);
  const selections = [select('ioredis'), select('mysql2'), select('lmdb'), select('sqlite', true)];
  const expanded = await withServerAxis(selections, listed, loadStorage);
  assert.deepEqual(
    expanded.map(({ source, on }) => `${source} ${on?.label}`),
    ['ioredis redis', 'ioredis b', 'sqlite undefined'],
  );
  assert.deepEqual(await withServerAxis(selections, [], loadStorage), selections);
});

test('an unused named storage or server is refused', async () => {
  const axis = (/** @type {string[]} */ texts, /** @type {any[]} */ selections) =>
    withServerAxis(selections, parseServers(texts), loadStorage);
  await assert.rejects(axis(['redis'], [select('mysql2', true)]), {
    code: 'E_USAGE',
    message: /mysql2 connects to mariadb, which is not listed/,
  });
  await assert.rejects(axis(['redis', 'tarantool'], [select('ioredis')]), {
    code: 'E_USAGE',
    message: /no storage of this run connects to tarantool/,
  });
});

test('other axes of contenders are refused beside it', () => {
  const plan = (/** @type {Record<string, any>} */ given) =>
    planRun({ command: 'race', servers: ['redis'], ...given }, race);
  assert.equal(plan({}).servers?.length, 1);
  for (const [given, flag] of /** @type {[Record<string, any>, string][]} */ ([
    [{ against: ['ioredis@5'] }, '--against'],
    [{ runtimes: ['bun'] }, '--runtime'],
    [{ agents: 2, rounds: 1 }, '--agents'],
  ])) {
    const says = new RegExp(`--servers and ${flag} cannot be combined`);
    assert.throws(() => plan(given), { code: 'E_USAGE', message: says });
  }
});

test('--setup starts the servers of the axis that have no address, each with its rows', async () => {
  const listed = parseServers(['redis', 'valkey', 'b=redis@127.0.0.1:1']);
  assert.deepEqual(
    [...(await serversToStart(['ioredis'], listed))],
    [
      ['redis', 'redis'],
      ['valkey', 'redis'],
    ],
  );
  assert.deepEqual([...(await serversToStart(['ioredis', 'lmdb']))], [['redis', 'redis']]);
});

test('--setup builds hiredis only if it is raced', async () => {
  for (const [selections, needs] of /** @type {[string[], boolean][]} */ ([
    [['ioredis', 'lmdb'], false],
    [['ioredis', 'hiredis'], true],
    [['hiredis:reader'], true],
    [['all'], true],
  ])) {
    assert.equal(await needsHiredis(selections), needs, String(selections));
  }
});

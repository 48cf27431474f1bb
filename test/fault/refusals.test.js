/**
 * Servers that answer, but refuse: a replica, full memory, missing rights, an unknown password, too
 * many connections. Every command ends with status 4 and one line that says what and what helps.
 */
// Needs: redis, mariadb

import { after, before, describe, test } from 'node:test';
import { Redis } from 'ioredis';
import { openAdmin } from '../../bench/login.js';
import { assertFailure, callIn } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { withServers } from '../helpers/servers.js';

const servers = withServers(['redis', 'mariadb']);
const folder = withFolder();

/** Commands that write to Redis, without the script's name. */
const COMMANDS = [
  ['insert', '--storages', 'redis', '--rows', '50'],
  ['mutex', '--storages', 'ioredis', '--rounds', '1'],
  ['mutex', 'stress'],
  ['commands', '--requests', '100', '--storages', 'ioredis'],
  ['mget', 'concurrency', '--storages', 'ioredis', '--rows', '500'],
  ['seed', 'redis', '--rows', '100'],
];

describe('Redis refuses', () => {
  /** @type {Redis} */
  let admin;
  before(() => {
    admin = new Redis({ ...servers.address('redis').main, ...servers.login('redis') });
  });
  after(() => admin.disconnect());

  const CASES = /** @type {const} */ ([
    [
      'as a replica',
      (/** @type {Redis} */ redis) => redis.call('REPLICAOF', '127.0.0.1', '1'),
      (/** @type {Redis} */ redis) => redis.call('REPLICAOF', 'NO', 'ONE'),
      /READONLY .*; name the primary/,
    ],
    [
      'without memory',
      (/** @type {Redis} */ redis) => redis.config('SET', 'maxmemory', '1'),
      (/** @type {Redis} */ redis) => redis.config('SET', 'maxmemory', '0'),
      /OOM .*; raise its maxmemory/,
    ],
    [
      'a user without rights',
      (/** @type {Redis} */ redis) => redis.call('ACL', 'SETUSER', 'default', '-set', '-scan'),
      (/** @type {Redis} */ redis) => redis.call('ACL', 'SETUSER', 'default', '+@all'),
      /NOPERM .*; the user needs/,
    ],
  ]);
  for (const [what, begin, end, says] of CASES) {
    test(what, async () => {
      const { main } = servers.address('redis');
      const where = ['--redis', `${main.host}:${main.port}`];
      await begin(admin);
      try {
        for (const words of COMMANDS) {
          const all = ['bin/dragstrip.js', ...words, '--quiet', ...where];
          const ended = await callIn(folder, all);
          assertFailure(ended, 4, says);
        }
      } finally {
        await end(admin);
      }
    });
  }
});

test('MariaDB refuses more connections: status 4, with a hint', async () => {
  const { sql } = servers.address('mariadb');
  const admin = await openAdmin(servers.running('mariadb'));
  await admin.query('SET GLOBAL max_connections = 10');
  const { createConnection } = await import('mysql2/promise');
  /** @type {any[]} */
  const sockets = [];
  try {
    for (let i = 0; i < 40; i += 1) {
      const one = createConnection(/** @type {any} */ ({ ...sql, ...servers.login('mariadb') }));
      sockets.push(await one.catch(() => null));
    }
    const words = ['insert', '--storages', 'mysql2', '--rows', '50'];
    const where = ['--mysql', `${sql.host}:${sql.port}`];
    const ended = await callIn(folder, ['bin/dragstrip.js', ...words, '--quiet', ...where]);
    assertFailure(ended, 4, /Too many connections.*max_connections/);
  } finally {
    for (const one of sockets) one?.destroy();
    await admin.query('SET GLOBAL max_connections = 500');
    await admin.end();
  }
});

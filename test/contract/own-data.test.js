/**
 * `--read-only` on a real server with data that Dragstrip did not write: nothing is written,
 * replies are compared with reads of another connection, the result has neither keys nor values.
 */
// Needs: redis, mariadb

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sampleKeys } from '../../data/own/redis.js';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure } from '../helpers/command-line.js';
import { notChecked } from '../helpers/not-checked.js';
import { openSql, withRedis } from '../helpers/own-clients.js';
import { runHere } from '../helpers/run-here.js';
import { addressFlags, withServers } from '../helpers/servers.js';

const KEYS = 300;
/** Permitted commands: none of @write and @dangerous (FLUSHALL, KEYS …) that changes anything. */
const READING = ['scan', 'type', 'strlen', 'get', 'mget', 'info', 'config|get', 'role', 'select'];
const CONNECTING = ['auth', 'hello', 'ping', 'client|setinfo', 'client|setname', 'command'];

describe('own data', () => {
  const servers = withServers(['redis', 'mariadb']);
  const redis = withRedis(servers);
  const { callHere, file, resultIn, textOf } = withCommands(servers);
  before(async () => {
    const values = Object.fromEntries(
      Array.from({ length: KEYS }, (_, i) => [`user:${i}`, `secret-${i}-`.repeat(i)]).slice(1),
    );
    await redis().mset({ ...values, umlaut: 'größer ✓', empty: '' });
    await redis().hset('hash:1', { a: '1' });
    await redis().set(Buffer.from([0xff, 0x00, 0x41]), 'binary key');
    await redis().set('binary', Buffer.from([0xff, 0xfe, 0x00]));
    await redis().set('large', 'x'.repeat(300_000));
  });

  const context = () => ({
    address: servers.address('redis'),
    credentials: servers.credentials('redis'),
  });
  /** @returns {Promise<Record<string, number>>} calls by command */
  const commandCalls = async () => {
    const text = await redis().info('commandstats');
    const found = [...text.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
    return Object.fromEntries(found.map(([, name, calls]) => [name, Number(calls)]));
  };

  test('a sample has string keys that every driver can read, and counts all others', async () => {
    const sample = await sampleKeys(context(), { limit: 10_000, seed: 1 });
    assert.equal(sample.keys.length, KEYS - 1 + 2); // with `umlaut` and `empty`
    assert.ok(sample.keys.every((key) => /^(user:\d+|umlaut|empty)$/.test(key)));
    assert.deepEqual(sample.leftOut, { characters: 1, size: 1, binary: 1 });
    const few = await sampleKeys(context(), { limit: 50, seed: 1 });
    assert.deepEqual(await sampleKeys(context(), { limit: 50, seed: 1 }), few);
    assert.ok(few.keys.length <= 50 && few.keys.length >= 45, String(few.keys.length));
    const others = await sampleKeys(context(), { limit: 50, seed: 2 });
    assert.notDeepEqual(others.keys, few.keys);
    const listed = ['user:5', 'none', 'hash:1', 'user:5'];
    const sampled = await sampleKeys(context(), { limit: 10, seed: 1, listed });
    assert.deepEqual([sampled.keys, sampled.leftOut], [['user:5'], { gone: 1, type: 1 }]);
  });

  test('every driver reads them, whole and by slices; only reads reach the server', async (t) => {
    const before = await redis()
      .call('DEBUG', 'DIGEST')
      .catch(() => redis().dbsize());
    await redis().call('CONFIG', 'RESETSTAT');
    const wholeRun = await runHere({
      home: file('state'),
      addresses: addressFlags(servers),
      readOnly: true,
      loads: [
        { kind: 'sync', operations: 500 },
        { kind: 'window', inFlight: 16, operations: 500 },
      ],
      warmup: 100,
      rounds: 1,
    });
    const slices = ['--storages', 'redis,ioredis', '--rounds', '2', '--budget', '2s'];
    const zipf = ['--warmup', '100', '--keys', 'zipf:0.99', '--json', 'slices.json'];
    const sliced = await callHere('race', '--read-only', ...slices, ...zipf, '--no-html');
    assert.equal(sliced.status, 0, sliced.stderr + sliced.stdout);
    const data = /data +own data of redis, read only: 301 keys drawn from 30\d seen/;
    assert.match(sliced.stdout, data);
    const calls = await commandCalls();
    const unexpected = Object.keys(calls).filter(
      (name) => ![...READING, ...CONNECTING].includes(name),
    );
    assert.deepEqual(
      unexpected.filter((name) => !/^(config\|resetstat|dbsize|debug)$/.test(name)),
      [],
      JSON.stringify(calls),
    );
    assert.ok(calls['get'] > 5 * 500, JSON.stringify(calls));
    assert.deepEqual(
      await redis()
        .call('DEBUG', 'DIGEST')
        .catch(() => redis().dbsize()),
      before,
    );
    for (const { benchmarks, ownData, dataset, ...others } of [wholeRun, resultIn('slices.json')]) {
      assert.equal(ownData?.keys, 301);
      assert.equal(dataset.rows, 301);
      for (const { id, storage, state, rounds } of benchmarks) {
        if (storage === 'hiredis' && state === 'skipped') {
          notChecked(t, 'hiredis on own data: it is not built in this folder');
          continue;
        }
        assert.equal(state, 'measured', `${id}: ${rounds[0]?.failure?.message}`);
        const { outcomes, compared, metrics } = rounds[0];
        assert.equal(outcomes.ok, rounds[0].scheduled, id);
        if (storage === 'memory') continue;
        assert.ok((compared?.replies ?? 0) >= outcomes.ok, id);
        assert.deepEqual([metrics?.['keys'], metrics?.['changed']], [301, 0], id);
      }
      const text = JSON.stringify({ benchmarks, ownData, dataset, ...others });
      assert.doesNotMatch(text, /user:|secret-|größer/);
    }
  });

  test('--table: rows of a table through the drivers of SQL, by SELECTs alone', async () => {
    const sql = await openSql(servers);
    try {
      await sql.query('create database if not exists dragstrip_shop');
      await sql.query('create table dragstrip_shop.users (uid int primary key, label text, n int)');
      const label = (/** @type {number} */ i) => (i % 50 === 0 ? null : `secret-${i} ü`);
      const rows = Array.from({ length: 500 }, (_, i) => [3 * i, label(i), i]);
      await sql.query('insert into dragstrip_shop.users values ?', [rows]);
      const writes = async () => {
        const [found] = await sql.query(
          "show global status where variable_name regexp '^Com_(insert|update|delete|replace|load)' " +
            "or variable_name regexp '^Com_(create|alter|drop|truncate)_table'",
        );
        return found;
      };
      const before = await writes();
      const words = ['--storages', 'mysql2,mariadb,mysql', '--ops', '500', '--rounds', '1'];
      const how = ['--read-only', '--warmup', '100', '--no-html'];
      const table = [...how, '--table', 'dragstrip_shop.users(uid,label)'];
      const ended = await callHere('race', ...table, ...words, '--json', 't.json');
      assert.equal(ended.status, 0, ended.stderr + ended.stdout);
      assert.match(
        ended.stdout,
        /own data of mariadb, read only: 490 keys drawn from 500 seen in a/,
      );
      assert.deepEqual(await writes(), before);
      const { benchmarks, ownData } = resultIn('t.json');
      assert.deepEqual([ownData?.keys, ownData?.leftOut], [490, { type: 10 }]);
      const storages = new Set(benchmarks.map(({ storage }) => storage));
      assert.deepEqual([...storages].sort(), ['mariadb', 'mysql', 'mysql2']);
      for (const { id, rounds, state } of benchmarks) {
        assert.equal(state, 'measured', `${id}: ${rounds[0]?.failure?.message}`);
        assert.equal(rounds[0].outcomes.ok, rounds[0].scheduled, id);
        assert.equal(rounds[0].metrics?.['changed'], 0, id);
      }
      assert.doesNotMatch(textOf('t.json'), /secret-/);
      await sql.query('alter table dragstrip_shop.users add same varchar(9) default "k"');
      /** @type {[string, number, RegExp][]} */
      const wrong = [
        ['same,label', 2, /--table: its key is not unique.*; name a column with a primary key/],
        ['uid,n', 4, /no key with a text value in .*; name a text column.*CAST/],
      ];
      for (const [columns, status, says] of wrong) {
        const other = ['--table', `dragstrip_shop.users(${columns})`];
        assertFailure(await callHere('race', ...how, ...other, ...words), status, says);
      }
    } finally {
      await sql.query('drop database if exists dragstrip_shop');
      await sql.end();
    }
  });

  test('values changed by others are counted separately; a file names the keys', async () => {
    writeFileSync(file('keys.txt'), 'user:1\nuser:2\r\ncounter\n\n');
    await redis().set('counter', '0');
    let done = false;
    const writing = (async () => {
      for (; !done; await sleep(1)) await redis().incr('counter');
    })();
    const words = ['--keys-from', 'keys.txt', '--load', 'window', '--duration', '500ms'];
    const ended = await callHere(
      ...['run', '--read-only', '--storages', 'ioredis', ...words, '--warmup', '100'],
      ...['--json', 'changed.json'],
    ).finally(() => {
      done = true;
    });
    await writing;
    assert.equal(ended.status, 0, ended.stderr + ended.stdout);
    assert.match(ended.stdout, /changed/);
    const { benchmarks, ownData } = resultIn('changed.json');
    const { outcomes, metrics, scheduled } = benchmarks[0].rounds[0];
    assert.equal(outcomes.ok, scheduled);
    assert.equal(ownData?.source, 'file');
    assert.equal(metrics?.['changedKeys'], 1);
    const share = Number(metrics?.['changed']) / scheduled;
    assert.ok(share > 0.2 && share < 0.45, `a third of the reads: ${share}`);
  });

  test('a reply that equals neither read is wrong: the round fails', async () => {
    const driver = file('liar.js');
    writeFileSync(
      driver,
      `import { defineStorage } from '${path.resolve('index.js')}';
import { Redis } from '${path.resolve('node_modules/ioredis/built/index.js')}';
export default defineStorage({
  name: 'liar', summary: 'one reply of 100 is of another key', package: null, server: 'redis',
  profiles: { default: { summary: 'it lies', options: {} } },
  async open({ address, credentials }) {
    const redis = new Redis({ ...address.main, ...credentials });
    let calls = 0;
    return {
      get: (id) => redis.get((calls += 1) % 100 === 0 ? 'user:7' : id),
      value: (reply) => reply ?? undefined,
      close: async () => redis.disconnect(),
    };
  },
});`,
    );
    const ended = await callHere(
      ...['run', '--read-only', '--storages', driver, '--ops', '3000', '--warmup', '100'],
    );
    assert.equal(ended.status, 5, ended.stderr + ended.stdout);
    assert.match(ended.stdout.replace(/\s+/g, ' '), /differ from the reads before and after/);
  });

  test('inapplicable options are refused in one line', async () => {
    /** @type {[string[], number, RegExp][]} */
    const cases = [
      [['race', '--read-only', '--rows', '5'], 2, /--read-only and --rows/],
      [['race', '--read-only', '--mix', 'get:1,set:1'], 2, /--read-only and --mix/],
      [['race', '--read-only', '--setup'], 2, /--read-only and --setup/],
      [['race', '--read-only', '--limits'], 2, /--read-only and --limits/],
      [['race', '--read-only', '--processes', '2'], 2, /--read-only and --processes/],
      [['run', '--workload', 'mix', '--read-only'], 2, /the workload mix writes/],
      [['race', '--keys-from', 'keys.txt'], 2, /--keys-from requires --read-only/],
      [['race', '--sample', '5'], 2, /--sample requires --read-only/],
      [['race', '--read-only', '--keys-from', 'nowhere.txt'], 2, /nowhere.txt: cannot be read/],
      [['race', '--read-only', '--storages', 'memory'], 4, /memory has no server/],
      [['race', '--read-only', '--storages', 'mysql2'], 4, /mysql2 has mariadb/],
      [['race', '--table', 'a.b(c,d)'], 2, /--table requires --read-only/],
      [['race', '--read-only', '--table', 'users'], 2, /--table "users": not a table with two/],
      [['race', '--read-only', '--table', 'a.b(c,d`)'], 2, /not a table with two/],
      [['race', '--read-only', '--table', 'hs_test.none(id,name)'], 4, /none/],
    ];
    for (const [words, status, says] of cases) {
      assertFailure(await callHere(...words), status, says);
    }
    writeFileSync(file('none.txt'), 'hash:1\n');
    const none = await callHere('race', '--read-only', '--keys-from', 'none.txt');
    assertFailure(none, 4, /no key with a text value in none.txt/);
  });
});

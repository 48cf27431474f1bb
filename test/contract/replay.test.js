/**
 * `dragstrip record` from a real server under real traffic, and `dragstrip replay` of its trace
 * through real drivers: nothing secret is kept, every reply is verified, the data of others stays.
 */
// Needs: redis, mariadb

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { parseTrace } from '../../lib/trace.js';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure, eventually } from '../helpers/command-line.js';
import { withRedis } from '../helpers/own-clients.js';
import { runHere } from '../helpers/run-here.js';
import { addressFlags, withServers } from '../helpers/servers.js';

const SECRET = 'correct-horse';

describe('record and replay', () => {
  const servers = withServers(['redis', 'mariadb']);
  const redis = withRedis(servers);
  const { callHere, file, resultIn, start, textOf } = withCommands(servers);
  const traceIn = (/** @type {string} */ name) => parseTrace(textOf(name), name);

  /** Commands of an application while it is recorded. */
  async function traffic() {
    for (let i = 0; i < 200; i += 1) {
      await redis().set(`${SECRET}:${i % 20}`, `${SECRET}-`.repeat(1 + (i % 40)));
      await redis().get(`${SECRET}:${(i * 7) % 20}`);
      await redis().get(`${SECRET}:none`);
    }
    await redis().mget(`${SECRET}:1`, `${SECRET}:none`, 'größer');
    await redis().setex('größer', 100, 'ü');
    await redis().get('größer');
    await redis().hset('hash', SECRET, SECRET);
    await redis()
      .get('hash')
      .catch(() => {});
    await redis().eval("return redis.call('get', KEYS[1])", 1, `${SECRET}:1`);
    const other = redis().duplicate();
    other.on('error', () => {});
    await other.ping(); // with AUTH before it
    other.disconnect();
  }

  /** Neither Redis nor the socket holds anything for MONITOR. */
  async function isRead() {
    const clients = String(await redis().client('LIST')).split('\n');
    const client = clients.find((line) => line.includes('cmd=monitor'));
    const [, port] = / addr=\S+:(\d+)/.exec(client ?? '') ?? [];
    const place = `:${Number(port).toString(16).toUpperCase().padStart(4, '0')}`;
    const sockets = readFileSync('/proc/net/tcp', 'utf8').split('\n');
    const fields = sockets.map((line) => line.trim().split(/\s+/));
    const own = fields.find(([, local]) => local?.endsWith(place));
    return / omem=0 /.test(client ?? '') && own?.[4]?.endsWith(':00000000');
  }

  test('record: times, numbers and sizes; no key, value or password', async () => {
    const words = ['record', '--duration', '60s', 'trace.json'];
    const { ended, child } = start(...words);
    let printed = '';
    child.stderr?.on('data', (text) => {
      printed += text;
    });
    await eventually(() => /by MONITOR during the recording/.test(printed), 'the warning');
    const isMonitored = async () => /cmd=monitor/.test(String(await redis().client('LIST')));
    while (!(await isMonitored())) await new Promise((resolve) => setTimeout(resolve, 20));
    await traffic();
    await eventually(isRead, 'the recorder has read all');
    child.kill('SIGINT'); // as the end of its time
    const { stdout, status, stderr } = await ended;
    assert.equal(status, 130, stderr);
    assert.match(
      stdout,
      /^604 operations in .*: 402 GET, 201 SET, 1 MGET\n23 keys, stored as numb/,
    );
    assert.match(stdout, /omitted: .*1 PING/);
    const trace = traceIn('trace.json');
    const counts = [0, 0, 0];
    for (const [, kind] of trace.operations) counts[kind] += 1;
    assert.deepEqual(counts, [402, 201, 1]);
    assert.equal(trace.leftOut['HSET'], 1);
    assert.equal(trace.leftOut['commands in scripts'], 1);
    assert.equal(trace.leftOut['PING'], 1);
    assert.equal(trace.leftOut['AUTH'], undefined, 'the server does not even show it');
    assert.equal(trace.sizes.filter((size) => size === -1).length, 2); // none, hash
    assert.equal(trace.sizes.length, 20 + 3);
    const { password } = servers.login('redis');
    const text = textOf('trace.json') + stdout + stderr;
    for (const word of [SECRET, 'größer', 'hash"', password]) {
      assert.ok(!text.includes(word), word);
    }
  });

  test('replay: recorded times, keys and sizes through each driver, all verified', async () => {
    const before = await redis().dbsize();
    const kept = await redis().get(`${SECRET}:1`);
    const trace = traceIn('trace.json');
    const two = await callHere(
      ...['run', '--workload', 'replay', '--trace', 'trace.json', '--storages', 'ioredis'],
      ...['--speed', '10', '--warmup', '50', '--max-value', '100', '--json', 'r.json'],
    );
    assert.equal(two.status, 0, two.stderr + two.stdout);
    assert.match(two.stdout, /replay, open loop: trace arrivals, 604 operations/);
    assert.equal(resultIn('r.json').dataset.valueSize, 100);
    const { benchmarks, dataset } = await runHere({
      home: file('state'),
      addresses: addressFlags(servers),
      workload: 'replay',
      trace: file('trace.json'),
      storages: 'redis,ioredis,iovalkey,valkey-glide,mysql2,mariadb,lmdb,memory'.split(','),
      speed: 2,
      rounds: 2,
      warmup: 50,
    });
    assert.equal(benchmarks.length, 8);
    assert.deepEqual([dataset.rows, dataset.valueSize], [23, (SECRET.length + 1) * 40]);
    const lastUs = /** @type {any} */ (trace.operations.at(-1))[0];
    for (const { id, state, rounds, load } of benchmarks) {
      assert.equal(state, 'measured', `${id}: ${rounds[0]?.failure?.message}`);
      assert.equal(load.arrivals, 'trace');
      for (const { outcomes, durationNs, kinds, compared } of rounds) {
        assert.equal(outcomes.ok, 604, `${id}: ${JSON.stringify(rounds[0].samples)}`);
        assert.ok(durationNs >= (lastUs * 1000) / 2, `${id}: it keeps the times of the trace`);
        assert.deepEqual(
          kinds?.map(({ name, ok }) => [name, ok]),
          [
            ['get', 402],
            ['set', 201],
            ['mget', 1],
          ],
        );
        assert.ok((compared?.replies ?? 0) > 150, id);
      }
    }
    assert.equal(await redis().dbsize(), before, 'its keys are removed');
    assert.equal(await redis().get(`${SECRET}:1`), kept);
  });

  test('a driver that returns another value is detected', async () => {
    const driver = file('liar.js');
    writeFileSync(
      driver,
      `import { defineStorage } from '${path.resolve('index.js')}';
export default defineStorage({
  name: 'liar', summary: 'reads give what was written last', package: null, server: null,
  rows: ['get', 'mget', 'set'],
  profiles: { default: { summary: 'it lies', options: {} } },
  async open() {
    let last = 'x';
    return {
      get: async (id) => last, mget: async (ids) => ids.map(() => last),
      set: async (id, text) => { last = text; }, close: async () => {},
    };
  },
});`,
    );
    const ended = await callHere(
      ...['replay', 'trace.json', '--storages', driver, '--speed', '10', '--warmup', '50'],
    );
    assert.equal(ended.status, 5, ended.stderr + ended.stdout);
    assert.match(ended.stdout, /mismatch/);
  });

  test('impossible options are refused in one line', async () => {
    writeFileSync(file('taken.json'), '{}');
    /** @type {[string[], number, RegExp][]} */
    const cases = [
      [['record', 'x.json'], 2, /record needs a duration/],
      [['record', '--duration', '1s'], 2, /record needs a file/],
      [['record', '--duration', '1s', 'taken.json'], 2, /the file exists/],
      [['record', '--duration', '1s', 'x.json', '--redis', '127.0.0.1:1'], 4, /cannot connect/],
      [['record', '--duration', '1s', 'x.json', '--redis', '192.0.2.1:1'], 3, /--allow-target/],
      [['replay'], 2, /needs a trace/],
      [['replay', 'none.json'], 2, /none.json: cannot be read \(no such/],
      [['replay', 'taken.json'], 2, /taken.json: not a trace of Dragstrip/],
      [['replay', 'trace.json', '--speed', '0'], 2, /--speed "0": not a factor/],
      [['replay', 'trace.json', '--rate', '5'], 2, /replay has no option --rate;/],
    ];
    for (const [words, status, says] of cases) {
      assertFailure(await callHere(...words), status, says);
    }
    const empty = await callHere('record', '--duration', '200ms', 'empty.json');
    assert.equal(empty.status, 0, empty.stderr);
    assert.match(empty.stderr, /no commands received/);
    assertFailure(await callHere('replay', 'empty.json'), 2, /no operation to replay/);
  });
});

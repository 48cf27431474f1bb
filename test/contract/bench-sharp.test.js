/** Benches of defects and whole runs in smoke sizes, and forks that behave as documented. */
// Needs: redis

import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { FORKS, makeFork } from '../../bench/forks.js';
import { raceOf, tableOf } from '../../bench/injected.js';
import { againstWhole } from '../../bench/whole.js';
import { getLoader } from '../../data/loaders/index.js';
import { createDataset } from '../../lib/dataset.js';
import { withFolder } from '../helpers/folder.js';
import { withServers } from '../helpers/servers.js';

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const ROWS = { rows: 1000, warmup: 100 };

describe('benches of detected defects', () => {
  const servers = withServers(['redis']);
  const folder = withFolder();
  const shared = () => {
    const { host, port } = servers.address('redis').main;
    return { ...ROWS, home: servers.home(), addresses: { redis: `${host}:${port}` } };
  };

  before(async () => {
    const [address, credentials] = [servers.address('redis'), servers.credentials('redis')];
    const { seed } = await getLoader('redis');
    await seed({ address, credentials, dataset: createDataset({ rows: ROWS.rows }) });
  });

  test('injected.js has a line per load and contender with the deciding figure, and a table', async () => {
    const names = ['equal', 'twice-33', 'objects-40', 'pause-30'];
    const lines = await raceOf(1, names, { ...shared(), rounds: 2, precision: 0.1, budget: 5000 });
    assert.deepEqual(
      lines.map(({ load, name }) => `${load} ${name}`).sort(),
      ['sync', 'window'].flatMap((load) =>
        [...names, 'plain (A/A)'].map((name) => `${load} ${name}`).sort(),
      ),
    );
    for (const { figure, speed, cpu, long, isUneven, logs } of lines) {
      assert.match(figure, /^(typical|trimmed)$/);
      assert.ok(speed.n === 2 && speed.ratio > 0 && cpu.ratio > 0);
      assert.ok(long.own >= 0 && typeof isUneven === 'boolean' && logs.own.length === 2);
    }
    assert.match(tableOf(lines), /slower.*faster.*split.*contains 1.*uneven.*long.*busy/);
  });

  test('whole.js has the bias of slices against whole runs, with its interval', async () => {
    const contenders = ['ioredis', 'redis'];
    const size = { seconds: 0.05, repetitions: 2, races: 2, budget: 2, contenders };
    const options = { ...shared(), rounds: 2 };
    const lines = [];
    for await (const line of againstWhole({ ...size, options })) lines.push(line);
    for (const name of ['sync redis', 'window redis']) {
      const line = lines.find((one) => one.startsWith(`${name}: `));
      assert.match(
        String(line),
        /: whole [\d.]+, slices [\d.]+ \(typical [\d.]+\), bias -?[\d.]+ ± [\d.]+ %$/,
      );
    }
  });

  test('forks send as many commands, or write as often, as their names state', async () => {
    const { host, port } = servers.address('redis').main;
    const { username, password } = servers.login('redis');
    symlinkSync(PACKAGES, path.join(folder, 'node_modules'));
    const extra = { equal: 0, '20 %': 20, '10 %': 10, '5 %': 5, '3 %': 3, '2 %': 2 };
    for (const name of FORKS) {
      const fork = await makeFork(folder, name, PACKAGES);
      const script = name in extra ? GETS : WRITES;
      const options = JSON.stringify({ host, port, username, password });
      const { stdout } = await execa(process.execPath, ['-e', script, fork, options]);
      if (name in extra)
        assert.equal(Number(stdout) - 100, extra[/** @type {'equal'} */ (name)], name);
      else assert.ok(Number(stdout) >= 100, `${name}: ${stdout} writes for 100 commands`);
    }
    const redis = path.join(PACKAGES, 'redis');
    const options = JSON.stringify({ host, port, username, password });
    const { stdout } = await execa(process.execPath, ['-e', WRITES, redis, options]);
    assert.ok(Number(stdout) < 20, `redis itself: ${stdout} writes`);
  });
});

/** Prints how many GETs the server has executed for 100. */
const GETS = `
const [fork, options] = process.argv.slice(1);
const { default: Redis } = require(fork);
(async () => {
  const client = new Redis(JSON.parse(options));
  const calls = /cmdstat_get:calls=(\\d+)/;
  const count = async () => Number(calls.exec(await client.info('commandstats'))?.[1] ?? 0);
  const before = await count();
  await Promise.all(Array.from({ length: 100 }, () => client.get('none')));
  console.log(await count() - before);
  client.disconnect();
})();
`;

/** Prints how many writes the process makes for 100 commands at once. */
const WRITES = `
const [fork, text] = process.argv.slice(1);
const { readFileSync } = require('node:fs');
const { createClient } = require(fork);
(async () => {
  const { host, port, username, password } = JSON.parse(text);
  const client = createClient({ socket: { host, port }, username, password });
  await client.connect();
  const writes = () => Number(/syscw: (\\d+)/.exec(readFileSync('/proc/self/io', 'latin1'))[1]);
  const before = writes();
  await Promise.all(Array.from({ length: 100 }, () => client.get('none')));
  console.log(writes() - before);
  client.destroy();
})();
`;

/** --servers on two real Redis servers of different settings: same drivers, apart in every report. */
// Needs: redis

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import redisLoader from '../../data/loaders/redis.js';
import { formatPlace } from '../../lib/address.js';
import { createDataset } from '../../lib/dataset.js';
import { parseResult } from '../../lib/parse-result.js';
import { assertFailure, callIn } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { withServers } from '../helpers/servers.js';

const firstServers = withServers(['redis']);
const secondServers = withServers(['redis']);
const folder = withFolder();

const ROWS = ['--rows', '60', '--value-size', '64'];
const dataset = createDataset({ rows: 60, valueSize: 64, seed: 1 });

/** @param {typeof firstServers} servers */
const seed = (servers) =>
  redisLoader.seed({
    address: servers.address('redis'),
    credentials: servers.credentials('redis'),
    dataset,
  });

/** @param {string[]} words */
function call(...words) {
  const env = {
    DRAGSTRIP_HOME: firstServers.home(),
    DRAGSTRIP_REDIS: formatPlace(firstServers.address('redis').main),
    // The password of the second server: the first is known by the record of its start.
    DRAGSTRIP_REDIS_PASSWORD_FILE: String(secondServers.running('redis').credentials?.['password']),
  };
  const all = ['bin/dragstrip.js', 'race', ...ROWS, '--storages', 'ioredis,redis', ...words];
  return callIn(folder, [...all, '--quiet', '--no-html'], { env });
}

const second = () => formatPlace(secondServers.address('redis').main);

describe('--servers', () => {
  it('without its rows, the second server is named with the command that fills it', async () => {
    await seed(firstServers);
    const ended = await call('--servers', `redis,b=redis@${second()}`, '--rounds', '1');
    const says = /storage ioredis on b: b at .* does not contain the dataset/;
    assertFailure(ended, 4, says);
    assert.ok(ended.stderr.includes(`seed redis --redis ${second()}`), ended.stderr);
  });

  it('races both by slices, each with its settings, ceiling and share of reads', async (t) => {
    await seed(secondServers);
    const admin = new Redis({
      ...secondServers.address('redis').main,
      ...secondServers.login('redis'),
    });
    t.after(() => admin.disconnect());
    await admin.config('SET', 'hz', '50');
    const reads = async () =>
      Number(/cmdstat_get:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0);
    const before = await reads();
    const file = 'r.json';
    const load = ['--in-flight', '20', '--load', 'window', '--warmup', '100'];
    const words = [...load, '--rounds', '2', '--budget', '2s'];
    const ended = await call('--servers', `redis,b=redis@${second()}`, ...words, '--json', file);
    assert.equal(ended.status, 0, ended.stderr);
    const after = await reads();
    const result = parseResult(readFileSync(path.join(folder, file), 'utf8'), file);
    assert.deepEqual(
      result.servers.map(({ name, settings }) => [name, settings['hz']]),
      [
        ['redis', '10'],
        ['b', '50'],
      ],
    );
    assert.deepEqual(
      result.storages.map(({ name, server, base }) => [name, server, base]),
      [
        ['ioredis on redis', 'redis', undefined],
        ['ioredis on b', 'b', 'ioredis on redis'],
        ['redis on redis', 'redis', undefined],
        ['redis on b', 'b', 'redis on redis'],
      ],
    );
    const ok = new Map(
      result.benchmarks.map(({ storage, state, rounds }) => {
        assert.equal(state, 'measured', storage);
        return [storage, rounds.reduce((sum, { outcomes }) => sum + outcomes.ok, 0)];
      }),
    );
    const verified = (ok.get('ioredis on b') ?? 0) + (ok.get('redis on b') ?? 0);
    assert.ok(
      verified > 0 && after - before >= verified,
      `${after - before} reads at the second, ${verified} ok`,
    );
    const [{ contenders }] = result.comparison?.loads ?? [];
    const ceilings = contenders.filter(({ group }) => group === 'ceiling').map(({ name }) => name);
    assert.deepEqual(ceilings, ['redis ceiling of redis', 'redis ceiling of b']);
    const text = ended.stdout.replace(/\s+/g, ' ');
    assert.match(text, /A driver on several servers: ratios in the same rounds/);
    assert.match(text, /ioredis on b vs ioredis on redis, 20 in flight:/);
    assert.match(
      text,
      /Fastest networked driver, 20 in flight: (ioredis|redis) on (redis|b)|This run cannot rank the networked drivers, 20 in flight: /,
    );
  });

  it('a Valkey that is not running is an error for named storages, with the start command', async () => {
    const ended = await call('--servers', 'redis,valkey', '--rounds', '1');
    assertFailure(ended, 4, /ioredis on valkey: .*servers start valkey/);
  });
});

/**
 * Runs on real servers whose results were frozen, as those of frozen-alone.test.js: races,
 * inserts, locks, commands through a proxy, several load machines.
 */
// Needs: redis, nutcracker, coordinator

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { getLoader } from '../../data/loaders/index.js';
import { run } from '../../index.js';
import { formatEndpoint } from '../../lib/address.js';
import { createDataset } from '../../lib/dataset.js';
import { parseResult } from '../../lib/parse-result.js';
import { runCommand } from '../helpers/command-line.js';
import { inTime, NODE_OPTIONS, startAgent } from '../helpers/fleet.js';
import { withFolder } from '../helpers/folder.js';
import { assertFrozen } from '../helpers/frozen.js';
import { addressVariables, withServers } from '../helpers/servers.js';

const ROWS = { rows: 300, valueSize: 64, seed: 7 };

/** Options by name and title. @type {Record<string, Record<string, unknown>>} */
const RUNS = {
  'race: servers, embedded stores, A/A, ceiling and overhead in the same blocks': {
    ...ROWS,
    command: 'race',
    storages: ['ioredis', 'redis', 'lmdb', 'memory'],
    loads: [{ kind: 'sync' }, { kind: 'window', inFlight: 20 }],
    rounds: 2,
    precision: 0.03,
    budget: 4000,
  },
  'insert: strategies of a server and of an embedded store': {
    workload: 'insert',
    storages: ['ioredis', 'lmdb'],
    rows: 300,
    batch: [100],
    strategies: ['async', 'workers', 'multi_row', 'logged_batch'],
    rounds: 1,
    warmupOperations: 2,
  },
  'mutex: sections, a counted section, holders that are killed': {
    workload: 'mutex',
    storages: ['ioredis'],
    handlers: ['script'],
    keys: [2],
    ops: 60,
    duration: 200,
    kills: 1,
    warmupOperations: 10,
  },
  'stress: processes that check mutual exclusion': {
    workload: 'mutex',
    test: 'stress',
    storages: ['ioredis'],
    handlers: ['script'],
    processes: 3,
    keys: [4],
    repeat: 3,
    sleep: 1,
  },
  'commands: direct and through a proxy, whole': {
    workload: 'commands',
    storages: ['ioredis'],
    tests: ['PING_BULK', 'SET', 'MSET'],
    requests: 100,
    inFlight: 4,
    transport: ['tcp'],
    tool: 'none',
    warmupOperations: 20,
  },
};

describe('results of the engine', { timeout: 300_000 }, () => {
  const servers = withServers(['redis', 'nutcracker', 'coordinator']);
  const folder = withFolder();

  before(async () => {
    Object.assign(process.env, addressVariables(servers));
    const { seed } = await getLoader('redis');
    const address = servers.address('redis');
    const credentials = servers.credentials('redis');
    await seed({ address, credentials, dataset: createDataset(ROWS) });
  });

  for (const [title, options] of Object.entries(RUNS)) {
    test(title, async () => {
      const redis = formatEndpoint(servers.address('redis').main);
      const proxy = formatEndpoint(servers.address('nutcracker').main);
      const addresses = options.workload === 'commands' ? { redis, proxy } : { redis };
      const own = { home: servers.home(), addresses, ...options };
      const result = await run(/** @type {any} */ (own));
      await assertFrozen(title.slice(0, title.indexOf(':')), result);
    });
  }

  test('agents: two load machines share each load', async () => {
    const { address, credentials = {} } = servers.running('coordinator');
    const reach = { address: address['main'], token: credentials['password'] };
    const agents = await Promise.all(['left', 'right'].map((name) => startAgent(name, reach)));
    try {
      const words = [
        'bin/dragstrip.js',
        'race',
        '--redis',
        servers.running('redis').address['main'],
      ];
      const rows = ['--rows', '300', '--value-size', '64', '--seed', '7'];
      for (const [name, amount] of Object.entries({
        agents: [
          ...['--load', 'window', '--in-flight', '20', '--ops', '1000'],
          ...['--warmup', '9', '--rounds', '2'],
        ],
        'agents-slices': ['--in-flight', '20', '--budget', '15s', '--rounds', '2'],
      })) {
        const how = ['--agents', '2', '--no-html', '--force', '--json', `${name}.json`];
        const { status, stdout, stderr } = await inTime(() =>
          runCommand(
            folder,
            [...words, '--storages', 'ioredis,redis', ...rows, ...how, ...amount],
            { env: { NODE_OPTIONS, DRAGSTRIP_COORDINATOR: reach.address } },
          ),
        );
        assert.equal(status, 0, `${stdout}${stderr}`);
        const text = readFileSync(path.join(folder, `${name}.json`), 'utf8');
        await assertFrozen(name, parseResult(text, name));
      }
    } finally {
      await Promise.all(agents.map((agent) => agent.stop()));
    }
  });
});

/** Workloads by slices: a contender that does 20 % more is found, an equal one is none. */
// Needs: redis, nutcracker

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { run } from '../../index.js';
import { withCommandServers } from '../helpers/command-servers.js';
import { assertPlantsFound, plantStorages } from '../helpers/planted.js';
import { addressVariables } from '../helpers/servers.js';

/** @type {Record<string, { open: string, options: Record<string, unknown> }>} */
const WORKLOADS = {
  mget: {
    open: `async rows(context) {
      const { mget, ...handle } = await base.open.rows(context);
      return { ...handle, mget: again(mget, mget) };
    }`,
    options: {
      test: 'concurrency',
      counts: [10],
      inFlight: [1, 8],
      rows: 2000,
      budget: 40_000,
    },
  },
  commands: {
    open: `async command(context) {
      const { connect, ...handle } = await base.open.command(context);
      return {
        ...handle,
        async connect(name) {
          const { send, ...connection } = await connect(name);
          return { ...connection, send: again(() => send(['PING']), send) };
        },
      };
    }`,
    options: {
      tests: 'GET,LPUSH',
      inFlight: 8,
      route: 'direct',
      transport: 'tcp',
      keepAlive: 'on',
      budget: 60_000,
    },
  },
};

describe('contenders with a known difference', { timeout: 600_000 }, () => {
  const { servers, folder } = withCommandServers();
  before(() => Object.assign(process.env, addressVariables(servers)));

  for (const [workload, { open, options }] of Object.entries(WORKLOADS)) {
    test(`${workload}: one that does 20 % more work is detected, an equal one is a tie`, async (t) => {
      const place = path.join(folder(), workload);
      mkdirSync(place);
      const storages = plantStorages(place, open);
      const own = { workload, home: path.join(place, 'state'), storages, rounds: 8, ...options };
      assertPlantsFound(t, await run(/** @type {any} */ (own)), 2);
    });
  }
});

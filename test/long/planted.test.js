/** Fetches of many keys by slices: a contender that does 20 % more is found, an equal one is none. */

import path from 'node:path';
import { before, describe, test } from 'node:test';
import { run } from '../../index.js';
import { withFolder } from '../helpers/folder.js';
import { assertPlantsFound, plantStorages } from '../helpers/planted.js';
import { addressVariables, withServers } from '../helpers/servers.js';

describe('mget by slices', { timeout: 600_000 }, () => {
  const servers = withServers(['redis']);
  const folder = withFolder();
  before(async () => {
    Object.assign(process.env, addressVariables(servers));
  });

  test('a contender that does 20 % more is found, an equal one is not called different', async () => {
    const { storages } = plantStorages(
      folder,
      `async rows(context) {
        const { mget, ...handle } = await base.open.rows(context);
        return { ...handle, mget: again(mget, mget) };
      }`,
    );
    const result = await run(
      /** @type {any} */ ({
        home: path.join(folder, 'state'),
        workload: 'mget',
        test: 'concurrency',
        counts: [10],
        inFlight: [1, 8],
        rows: 2000,
        storages,
        rounds: 8,
        budget: 40_000,
      }),
    );
    assertPlantsFound(result, 2);
  });
});

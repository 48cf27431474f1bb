/** Closing the cluster clients of ioredis and its forks: it ends, and so does every request. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDataset } from '../../lib/dataset.js';
import { startFakeCluster } from '../helpers/fake-cluster.js';
import { casesOf, openRows, within } from '../helpers/storage-cases.js';

/** @typedef {import('../helpers/fake-cluster.js').FakeCluster} FakeCluster */

const LIMIT_MS = 4000;

for (const name of ['ioredis-cluster', 'iovalkey-cluster']) {
  describe(name, () => {
    /** @type {FakeCluster} */
    let node;
    /** @type {FakeCluster} */
    let other;

    before(async () => {
      [node, other] = await Promise.all([startFakeCluster(), startFakeCluster()]);
    });
    after(() => Promise.all([node.close(), other.close()]));

    async function open() {
      const [{ definition, profile }] = await casesOf(name);
      const address = { main: node.endpoint };
      return openRows(definition, { address, profile, dataset: createDataset({ rows: 1 }) });
    }

    test('closes although a late reply names an unknown node', async () => {
      node.fail(null);
      const handle = await open();
      assert.equal(await handle.get(1), 'a value');
      node.fail(`MOVED 0 ${placeOf(other)}`);
      const requests = Promise.allSettled([handle.get(1), handle.get(1)]);
      await within(handle.close(), LIMIT_MS, 'close');
      await within(requests, LIMIT_MS, 'requests');
      assert.equal(other.connections(), 0);
    });

    test('closes twice, and fails requests that wait for another attempt', async () => {
      node.announce(null, placeOf(other));
      node.fail('CLUSTERDOWN The cluster is down');
      const handle = await open();
      const request = Promise.allSettled([handle.get(1)]);
      await sleep(20); // its reply has come, and the next attempt is after 100 ms
      await within(handle.close(), LIMIT_MS, 'close');
      while (node.connections() > 0) await sleep(5);
      await within(handle.close(), LIMIT_MS, 'a second close');
      const [{ status }] = await within(request, LIMIT_MS, 'the request');
      assert.equal(status, 'rejected');
    });
  });
}

/** @param {FakeCluster} cluster */
function placeOf({ endpoint: { host, port } }) {
  return `${host}:${port}`;
}

/**
 * The target guard over clusters: a node may announce any address, also in the middle of a run.
 * Nothing connects to one that is not of loopback and was not allowed.
 */

import assert from 'node:assert/strict';
import net from 'node:net';
import { after, afterEach, before, describe, test } from 'node:test';
import { getLoader } from '../../data/loaders/index.js';
import { run } from '../../index.js';
import { createDataset, ROW_NAMES } from '../../lib/dataset.js';
import { checkAvailable, loadStorage } from '../../storages/index.js';
import { runCommand } from '../helpers/command-line.js';
import { startFakeCluster } from '../helpers/fake-cluster.js';
import { withFolder } from '../helpers/folder.js';

const NAMES = ['ioredis-cluster', 'redis-cluster', 'iovalkey-cluster', 'valkey-glide-cluster'];
/** RFC 5737: of no machine. */
const ELSEWHERE = '192.0.2.1:6379';
const REFUSED = {
  code: 'E_REFUSED',
  message: /announces a node at 192\.0\.2\.1:6379, which is not on this machine/,
  hint: /--allow-target 192\.0\.2\.1:6379/,
};

describe('a cluster that announces an address of another machine', () => {
  /** @type {import('../helpers/fake-cluster.js').FakeCluster} */
  let cluster;
  const folder = withFolder();
  /** @type {string[]} hosts that this process connected to */
  let dialled = [];
  const { connect } = net.Socket.prototype;

  before(async () => {
    cluster = await startFakeCluster();
    net.Socket.prototype.connect = /** @type {any} */ (
      /** @this {any} @param {...any} args */
      function (...args) {
        const [options] = Array.isArray(args[0]) ? args[0] : args;
        if (options?.host !== undefined) dialled.push(options.host);
        return connect.apply(this, /** @type {any} */ (args));
      }
    );
  });
  after(async () => {
    net.Socket.prototype.connect = connect;
    await cluster.close();
  });
  afterEach(() => {
    const otherHosts = dialled.filter((host) => host !== '127.0.0.1');
    dialled = [];
    assert.deepEqual(otherHosts, [], 'nothing else is dialled');
    cluster.announce(null);
    cluster.fail(null);
  });

  for (const name of NAMES) {
    test(`${name} is not opened: the run is refused`, async () => {
      cluster.announce(ELSEWHERE);
      const addresses = { 'redis-cluster': place(cluster) };
      await assert.rejects(run({ storages: [name], addresses, home: folder }), REFUSED);
      assert.ok(dialled.length > 0, 'the node itself is contacted');
    });
  }

  for (const name of NAMES.slice(0, 3)) {
    test(`${name} itself refuses such an address when it is opened`, async () => {
      cluster.announce(ELSEWHERE);
      await assert.rejects(open(name, cluster), REFUSED);
    });

    test(`${name} does not follow a redirection there in the middle of a run`, async () => {
      const handle = await open(name, cluster);
      try {
        assert.equal(await handle.get(1), 'a value');
        cluster.announce(ELSEWHERE);
        cluster.fail(`MOVED 0 ${ELSEWHERE}`);
        const reply = await settled(handle.get(1));
        assert.equal(reply.status, 'rejected', JSON.stringify(reply));
      } finally {
        await handle.close();
      }
    });
  }

  test('the command line reports it and exits with 3: race, seed', async () => {
    cluster.announce(ELSEWHERE);
    for (const words of [
      ['race', '--storages', 'ioredis-cluster'],
      ['seed', 'redis-cluster'],
    ]) {
      const args = ['bin/dragstrip.js', ...words, '--redis-cluster', place(cluster)];
      const { status, stderr } = await runCommand(folder, args);
      assert.equal(status, 3, stderr);
      assert.match(stderr, REFUSED.message);
      assert.match(stderr, REFUSED.hint);
    }
  });

  test('the loader refuses it, and --allow-target permits one address', async () => {
    cluster.announce(ELSEWHERE);
    const loader = await getLoader('redis-cluster');
    const about = {
      address: { main: cluster.endpoint },
      credentials: {},
      dataset: createDataset({ rows: 10 }),
    };
    await assert.rejects(loader.seed(about), REFUSED);
    await assert.rejects(loader.inspect(about), REFUSED);
    await assert.rejects(loader.seed({ ...about, allowTargets: ['192.0.2.2:6379'] }), REFUSED);
  });

  test('a name is not accepted, although it may resolve to loopback', async () => {
    cluster.announce('localhost.localdomain:6379');
    const addresses = { 'redis-cluster': place(cluster) };
    await assert.rejects(run({ storages: ['ioredis-cluster'], addresses, home: folder }), {
      code: 'E_REFUSED',
    });
  });
});

/** @param {import('../helpers/fake-cluster.js').FakeCluster} cluster */
function place({ endpoint: { host, port } }) {
  return `${host}:${port}`;
}

/**
 * @param {string} name
 * @param {import('../helpers/fake-cluster.js').FakeCluster} cluster
 * @returns {Promise<import('../../lib/types.js').RowsHandle>}
 */
async function open(name, cluster) {
  const definition = await loadStorage(name);
  assert.equal(await checkAvailable(definition), null);
  return /** @type {any} */ (definition.open).rows({
    address: { main: cluster.endpoint },
    credentials: {},
    profile: { name: 'default', ...definition.profiles['default'] },
    dataset: createDataset({ rows: 1 }),
    folder: '',
    names: ROW_NAMES,
  });
}

/** @param {Promise<any>} request */
async function settled(request) {
  const [reply] = await Promise.allSettled([request]);
  return reply;
}

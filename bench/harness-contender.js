/**
 * A contender of the harness bench in a separate process, see remote.js: the complete loop of the
 * harness, or a bare loop over the same driver with the same options, keys and window, which
 * neither records nor verifies.
 */

import { createDataset, ROW_NAMES, ROWS_NAMESPACE } from '../lib/dataset.js';
import { namesOf } from '../lib/namespace.js';
import { OK } from '../lib/outcome.js';
import { runLoad } from '../load/load.js';
import { systemClock } from '../measure/clock.js';
import { loadStorage } from '../storages/index.js';
import { drawKeys } from '../workloads/get/index.js';
import { loadWorkload } from '../workloads/index.js';
import { prepareFetches } from '../workloads/mget/fetches.js';
import { credentialsFor } from './login.js';
import { serve, timed } from './remote.js';

/**
 * @typedef {object} ContenderSpec
 * @property {'bare' | 'ours'} kind
 * @property {'ioredis' | 'manual-hs'} storage
 * @property {'get' | 'mget'} workload
 * @property {number} keys per fetch
 * @property {import('../lib/types.js').Address} address address of its server
 * @property {import('../lib/types.js').DatasetOptions} dataset
 *
 * @typedef {{ seed: number, operations: number, lead: number, inFlight: number }} Job lead:
 *   untimed operations after garbage collection
 */

const STALL_NS = 10e9;

serve((/** @type {ContenderSpec} */ spec) =>
  spec.kind === 'bare' ? openBare(spec) : openOurs(spec),
);

/** @param {ContenderSpec} spec @returns {Promise<import('./remote.js').Contender>} */
async function openOurs({ storage, workload, keys, address, dataset: options }) {
  const dataset = createDataset(options);
  const definition = await loadStorage(storage);
  const { prepare, namespace = ROWS_NAMESPACE } = await loadWorkload(workload);
  const profile = definition.profiles['default'];
  const credentials = definition.server === null ? {} : await credentialsFor(definition.server);
  const handle = await /** @type {any} */ (definition.open).rows({
    address,
    credentials,
    dataset,
    folder: '',
    names: namesOf(namespace),
    profile: { name: 'default', ...profile },
  });
  const calls = profile.calls ?? 'promise';
  const bind = (/** @type {number} */ seed, /** @type {number} */ ops) => {
    const mget = { counts: [keys], cycles: ops, lead: 0 };
    return prepare({ dataset, seed, ops, options: { mget }, clock: systemClock })(handle, calls);
  };
  /** @param {ReturnType<typeof bind>} bound @param {number} operations @param {number} inFlight */
  const load = async (bound, operations, inFlight) => {
    const { recorder } = await runLoad({
      ...bound,
      calls,
      kind: 'window',
      inFlight,
      operations,
      stallNs: STALL_NS,
      durationNs: Number.POSITIVE_INFINITY,
      clock: systemClock,
    });
    if (recorder.outcomes[OK] !== operations) throw new Error(`${storage}: wrong replies`);
  };
  return {
    async run({ seed, operations, lead, inFlight }) {
      const bound = bind(seed, operations);
      await load(bind(seed + 1, lead), lead, inFlight);
      return timed(() => load(bound, operations, inFlight), operations);
    },
    close: () => handle.close(),
  };
}

/** @param {ContenderSpec} spec @returns {Promise<import('./remote.js').Contender>} */
async function openBare(spec) {
  const dataset = createDataset(spec.dataset);
  const { call, close } = await DRIVERS[spec.storage](spec);
  const draw = spec.workload === 'get' ? drawSingles : drawFetches;
  return {
    async run({ seed, operations, lead, inFlight }) {
      const all = draw(dataset, seed, operations, spec.keys);
      await loop(draw(dataset, seed + 1, lead, spec.keys), inFlight);
      return timed(() => loop(all, inFlight), operations);
    },
    close,
  };

  /**
   * @param {ArrayLike<any>} all
   * @param {number} inFlight
   */
  async function loop(all, inFlight) {
    let next = 0;
    const worker = async () => {
      while (next < all.length) {
        const one = all[next];
        next += 1;
        await call(one);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
  }
}

/**
 * @param {import('../lib/types.js').Dataset} dataset
 * @param {number} seed
 * @param {number} operations
 * @returns {ArrayLike<any>}
 */
function drawSingles(dataset, seed, operations) {
  return drawKeys(dataset.rows, seed, operations);
}

/**
 * @param {import('../lib/types.js').Dataset} dataset
 * @param {number} seed
 * @param {number} ops
 * @param {number} keys
 * @returns {ArrayLike<any>}
 */
function drawFetches(dataset, seed, ops, keys) {
  const options = { mget: { counts: [keys], cycles: ops, lead: 0 } };
  return prepareFetches({ dataset, seed, ops, options }).fetches;
}

/**
 * @type {Record<string, (spec: ContenderSpec) => Promise<{ call: (keys: any) => any, close: any
 * }>>}
 */
const DRIVERS = {
  async ioredis({ workload, address }) {
    const { Redis } = await import('ioredis');
    const { storage } = await import('../storages/ioredis.js');
    const { host, port = 0 } = address['main'];
    const { password } = await credentialsFor('redis');
    const client = new Redis({ ...storage.profiles['default'].options, host, port, password });
    await client.ping();
    const { namespace = ROWS_NAMESPACE } = await loadWorkload(workload);
    const prefix = namesOf(namespace).redisPrefix;
    const get = (/** @type {number} */ id) => client.get(prefix + id);
    const mget = (/** @type {number[]} */ ids) => client.mget(ids.map((id) => prefix + id));
    return { call: workload === 'get' ? get : mget, close: () => client.disconnect() };
  },
  async 'manual-hs'({ address }) {
    const { connect } = await import('../packages/handlersocket/index.js');
    const { storage } = await import('../storages/manual-hs.js');
    const { host, port } = address['read'];
    const { secret } = await credentialsFor('mariadb');
    const client = await connect({ ...storage.profiles['default'].options, host, port, secret });
    const { database, table } = ROW_NAMES;
    const index = await client.openIndex({ database, table, columns: ['str'] });
    return { call: (id) => index.value(id), close: () => client.close() };
  },
};

/** A contender with one load of Redis on loopback, for measurements with several machines. */

/**
 * @param {number} port port of the fake server
 * @param {Partial<import('../lib/result.js').Load>} load
 * @param {Partial<import('../engine/contender.js').ContenderSpec['storage']>} [fields]
 * @param {Partial<import('../engine/contender.js').Task>} [more] further properties of its load
 * @returns {import('../engine/roles.js').Contender} ioredis, or the storage of `fields`
 */
export function fleetContender(port, load, fields = {}, more = {}) {
  const storage = {
    storage: 'ioredis',
    profile: 'default',
    address: { main: { host: '127.0.0.1', port } },
    credentialVariables: null,
    serverPids: [],
    dataset: { rows: 1000, valueSize: 64, seed: 1 },
    folder: '',
    seed: 7,
    ...fields,
  };
  const task = {
    id: 'a load',
    load: {
      kind: /** @type {const} */ ('rate'),
      inFlight: null,
      operations: null,
      durationNs: null,
      ...load,
    },
    workload: 'get',
    workloadOptions: {},
    warm: { kind: /** @type {const} */ ('none') },
    slot: 0,
    others: [],
    stallNs: 10e9,
    ...more,
  };
  const { storage: name } = storage;
  const spec = { opener: /** @type {const} */ ('storage'), storage, tasks: [task] };
  return { name, role: 'storage', every: 1, lasts: 1, server: 'redis', spec };
}

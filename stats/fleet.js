/** Figures of the load machines of a run: their processes, their network. Pure. */

/**
 * @typedef {Pick<import('../lib/result.js').Result, 'fleet' | 'storages' | 'servers'>} Fleet
 * @typedef {Pick<import('../lib/result.js').Benchmark, 'storage' | 'profile'>} Source
 */

/**
 * @param {Source} source
 * @param {Fleet} result
 * @param {string} [agent] absent: the agent with the longest network path
 * @returns {number | null} ns, the shortest time to open a connection; null: not measured
 */
export function roundTripTo({ storage, profile }, { fleet, storages, servers }, agent) {
  const name = storages.find((one) => one.name === storage && one.profile === profile)?.server;
  const address = servers.find((one) => one.name === name)?.address ?? {};
  const known = (fleet?.agents ?? [])
    .filter((one) => agent === undefined || one.name === agent)
    .flatMap(({ targets }) => Object.values(address).flatMap((place) => targets[place] ?? []));
  return known.length === 0 ? null : Math.max(...known);
}

/**
 * @param {Pick<import('../lib/result.js').Benchmark, 'load' | 'rounds'>} source
 * @returns {number} number of processes that shared its load, on all machines
 */
export function generatorsOf({ load, rounds }) {
  const all = rounds.map(({ agents = [] }) => agents.reduce((sum, one) => sum + one.processes, 0));
  return Math.max(load.processes ?? 1, ...all);
}

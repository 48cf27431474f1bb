/**
 * A contender for another machine: the same names and options, without those that are valid only on
 * the controller's machine.
 */

import path from 'node:path';

/** @typedef {import('../../engine/contender.js').ContenderSpec} ContenderSpec */
/** @typedef {import('../../engine/opening.js').BenchmarkSpec} BenchmarkSpec */
/** @typedef {Pick<BenchmarkSpec, 'address' | 'credentialVariables' | 'others'>} Target */

/**
 * @param {ContenderSpec} spec
 * @returns {Target} the servers under load
 */
export function targetOf({ storage, wire }) {
  return wire === undefined ? storage : { ...storage, address: { main: wire.endpoint } };
}

/**
 * @param {{ every: number, spec: ContenderSpec }} contender
 * @returns {{ every: number, isLocal: boolean, spec: ContenderSpec }}
 */
export function portable({ every, spec }) {
  const { driver: _driver, cpus: _cpus, runtime: _runtime, ...rest } = spec;
  const isLocal = spec.opener === 'storage' && Object.keys(spec.storage.address).length === 0;
  const { address } = spec.storage;
  const endpoints = Object.entries(address).map(([name, one]) => [name, withoutFiles(one)]);
  const storage = {
    ...spec.storage,
    address: Object.fromEntries(endpoints),
    // Set by each machine (admission.js).
    credentialVariables: null,
    folder: '',
  };
  const wire = spec.wire && { ...spec.wire, endpoint: withoutFiles(spec.wire.endpoint) };
  return { every, isLocal, spec: { ...rest, storage, ...(wire && { wire }) } };
}

/** @param {import('../../lib/types.js').Endpoint} endpoint */
function withoutFiles(endpoint) {
  if (endpoint.tls === undefined) return endpoint;
  const { serverName } = endpoint.tls;
  return { ...endpoint, tls: { ...(serverName && { serverName }) } };
}

/**
 * @param {ContenderSpec} spec
 * @param {{ home: string, sameMachine: boolean }} own
 * @returns {ContenderSpec} on this machine
 */
export function specForAgent(spec, { home, sameMachine }) {
  const { storage } = spec;
  return {
    ...spec,
    storage: {
      ...storage,
      folder: path.join(home, 'embedded'),
      // Process ids are meaningless on a different machine.
      serverPids: sameMachine ? storage.serverPids : [],
      others: storage.others?.map((one) => ({ ...one, pids: sameMachine ? one.pids : [] })),
    },
  };
}

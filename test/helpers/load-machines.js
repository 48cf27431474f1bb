/**
 * Load machines of a suite: agents as processes at its coordinator, servers under load, a
 * controller.
 */

import { after, before } from 'node:test';
import { openFleet } from '../../packages/fleet/controller.js';
import { listenAndKeep, NODE_OPTIONS, startAgent } from './fleet.js';

/**
 * Call it in a suite, after `withServers`. Processes of its tests have the preload of its agents
 * too.
 * @param {ReturnType<typeof import('./servers.js').withServers>} servers with a coordinator
 * @param {readonly string[]} names names of the initial agents
 * @param {Record<string, string>} [env] environment of every agent, because their configurations
 *   must be equal
 */
export function withFleet(servers, names, env = {}) {
  const outside = process.env['NODE_OPTIONS'];
  /** @type {import('./fleet.js').AgentProcess[]} */
  const agents = [];
  /** A fake server. */
  const server = /** @type {import('./fleet.js').Asked} */ ({});
  const coordinator = () => ({
    endpoint: servers.address('coordinator')['main'],
    credentials: servers.credentials('coordinator'),
  });
  const reach = () => {
    const { address, credentials = {} } = servers.running('coordinator');
    return { address: address['main'], token: credentials['password'] };
  };
  /** @param {string} name @param {Partial<Parameters<typeof startAgent>[1]>} [how] */
  const start = (name, how = {}) =>
    startAgent(name, { ...reach(), ...how, env: { ...env, ...how.env } });

  before(async () => {
    process.env['NODE_OPTIONS'] = NODE_OPTIONS;
    Object.assign(server, await listenAndKeep());
    agents.push(...(await Promise.all(names.map((name) => start(name)))));
  });
  after(async () => {
    if (outside === undefined) delete process.env['NODE_OPTIONS'];
    else process.env['NODE_OPTIONS'] = outside;
    await Promise.all(agents.map((agent) => agent.stop()));
    await server.close?.();
  });

  return {
    agents,
    server,
    coordinator,
    reach,
    start,
    /**
     * @param {number} count
     * @param {Partial<import('../../packages/fleet/controller.js').FleetOptions>} [options]
     */
    open(count, options = {}) {
      const fleet = { coordinator: coordinator(), agents: count, storages: ['ioredis'] };
      return openFleet({ ...fleet, waitMs: 20_000, ...options });
    },
  };
}

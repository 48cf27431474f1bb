/**
 * Servers for the set-up of a workload (SetUpServers): finds them, starts them for this run only,
 * returns their addresses and stops them afterwards.
 */

import { resolveAddress } from '../engine/addresses.js';
import { findHome } from '../lib/home.js';
import { requireLoopback } from '../lib/safety.js';
import { readProgramVersion } from '../servers/command.js';
import { loadServer, startServers } from '../servers/index.js';
import { findProgram } from '../servers/programs.js';
import { parseProxyCommand, startProxyCommand } from '../servers/proxy-command.js';
import { failureLine } from './failure.js';

/**
 * @param {import('../engine/plan.js').RunPlan} plan
 * @param {import('./run-command.js').Session} session
 * @returns {import('../lib/types.js').SetUpServers}
 */
export function setUpServers(plan, { signal, progress, stops }) {
  const { addresses, allowTargets, home = findHome() } = plan;
  const resolve = (/** @type {string} */ name) => resolveAddress(name, { flags: addresses, home });
  let hasGuest = false;
  return {
    resolve,
    async start(names, guest) {
      hasGuest = guest !== undefined;
      const { namedOf, requireDrivers } = await import('./setup.js');
      await requireDrivers(namedOf(plan));
      const { failures, stop } = await startServers([...names], {
        home,
        owned: true,
        guest,
        signal,
        onEvent: ({ server, step, text }) => progress.update(`${server} ${step}: ${text}`),
      });
      stops.push(stop);
      for (const { name, error } of failures) {
        progress.done(`${name} is left out: ${failureLine(error)}`);
      }
    },
    async requireAnswer(name, what) {
      const { probe } = await loadServer(name);
      const { address, credentials } = await resolve(name);
      for (const [which, endpoint] of Object.entries(address)) {
        address[which] = await requireLoopback(endpoint, allowTargets, what);
      }
      await probe(address, credentials);
    },
    async findProgram(server, name) {
      const found = await (await loadServer(server)).find(home);
      // A package of tools contains this program without the server.
      const program = found?.programs[name] ?? (await findProgram(name));
      if (program === null) return null;
      const { env = {} } = found ?? {};
      const version = (/** @type {readonly string[]} */ args, /** @type {RegExp} */ form) =>
        readProgramVersion(program, args, form, env);
      return { program, env, version };
    },
    checkProxy: (command) => void parseProxyCommand(command),
    async startProxy(command, server) {
      const { address: redis, credentials: owner } = await resolve(server);
      const credentials = hasGuest ? {} : owner;
      const context = { home, redis, credentials, signal };
      const { address, stop } = await startProxyCommand(command, context);
      stops.push(stop);
      return { ...addresses, proxy: address };
    },
  };
}

/**
 * A controller in a process of its own, for tests that kill it or start it in another network
 * namespace. Its argument is JSON; what came of each benchmark is printed, a line of JSON for each.
 */

import { parseEndpoint } from '../../lib/address.js';
import { readCredentials } from '../../lib/credentials.js';
import { openFleet } from '../../packages/fleet/controller.js';
import { contenderOf, measure } from './fleet.js';

/**
 * @typedef {{ coordinator: string, token: string, ca?: string, agents: number,
 *   onLoss?: 'invalid' | 'truncate', server: string,
 *   loads: Partial<import('../../lib/result.js').Load>[] }} Controlled token: its file; server: the
 *   address of what is measured
 */

/** @type {Controlled} */
const { coordinator, token, ca, agents, onLoss, server, loads } = JSON.parse(process.argv[2]);
const fleet = await openFleet({
  coordinator: {
    endpoint: parseEndpoint(coordinator),
    credentials: await readCredentials({ password: token }),
    ...(ca && { ca }),
  },
  agents,
  onLoss,
  storages: ['ioredis'],
});
for (const load of loads) {
  const address = { main: parseEndpoint(server) };
  const measured = await measure(fleet, contenderOf(0, load, { address }));
  const targets = Object.fromEntries(fleet.targets);
  console.log(JSON.stringify({ ...measured, lost: fleet.lost, targets }));
}
await fleet.close();

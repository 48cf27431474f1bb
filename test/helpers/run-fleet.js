/**
 * A controller in a separate process, for tests that kill it or start it in another network
 * namespace. Its argument is JSON; it prints the outcome of each benchmark as a line of JSON.
 */

import { parseEndpoint } from '../../lib/address.js';
import { readCredentials } from '../../lib/credentials.js';
import { openFleet } from '../../packages/fleet/controller.js';
import { contenderOf, measure } from './fleet.js';

/**
 * @typedef {{ coordinator: string, token: string, ca?: string, agents: number, onLoss?: 'invalid' |
 *   'truncate', server: string, loads: Partial<import('../../lib/result.js').Load>[] }} Controlled
 *   token: its file; server: address of the measured server
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

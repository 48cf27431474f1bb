/**
 * A controller in a process of its own, for tests that kill it or start it in another network
 * namespace. Its argument is JSON; what came of each benchmark is printed, a line of JSON for each.
 */

import { openFleet } from '../../fleet/controller.js';
import { parseEndpoint } from '../../lib/address.js';
import { readCredentials } from '../../lib/credentials.js';
import { specOf } from './fleet.js';

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
  ...{ agents, onLoss, storages: ['ioredis'] },
});
for (const load of loads) {
  const spec = specOf(0, load);
  spec.address = { main: parseEndpoint(server) };
  const startMs = Date.now();
  const { record, failure } = await fleet.execute(spec, {});
  const { lost } = fleet;
  const targets = Object.fromEntries(fleet.targets);
  const tookMs = Date.now() - startMs;
  console.log(JSON.stringify({ record, failure, lost, targets, tookMs }));
}
await fleet.close();

/** A controller in a process of its own, for tests that kill it: runs one benchmark for a minute. */

import { openFleet } from '../../fleet/controller.js';
import { parseEndpoint } from '../../lib/address.js';
import { readCredentials } from '../../lib/credentials.js';
import { specOf } from './fleet.js';

const [address, token, port] = process.argv.slice(2);
const fleet = await openFleet({
  coordinator: {
    endpoint: parseEndpoint(address),
    credentials: await readCredentials({ password: token }),
  },
  ...{ agents: 2, storages: ['ioredis'] },
});
await fleet.execute(specOf(Number(port), { rate: 600, durationNs: 60e9 }), {});

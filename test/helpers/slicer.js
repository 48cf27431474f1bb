/**
 * A proxy that splits every reply of a server into pieces of one to nine bytes, each in a separate
 * write.
 */

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createRandom, drawBelow } from '../../lib/random.js';

/**
 * @param {import('../../lib/types.js').Endpoint} target
 * @param {number} [seed] seed of the sizes
 */
export async function startSlicer(target, seed = 1) {
  const random = createRandom(seed);
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect(/** @type {any} */ (target));
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
    client.pipe(upstream);
    client.on('close', () => upstream.destroy());
    slice(upstream, client).catch(() => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  /** @param {import('node:net').Socket} from @param {import('node:net').Socket} to */
  async function slice(from, to) {
    for await (const chunk of from) {
      for (let at = 0; at < chunk.length; ) {
        const end = at + 1 + drawBelow(random, 9);
        to.write(chunk.subarray(at, end));
        at = end;
        await turn();
      }
    }
    to.end();
  }

  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    endpoint: { host: '127.0.0.1', port },
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
}

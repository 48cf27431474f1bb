/**
 * A program with the agents' token that is not a Dragstrip agent, in a separate process: it takes a
 * lease, reports that it is ready, and does nothing else; with `bomb` it replies to the first order
 * to play with an upload that inflates to 2 GB. Its argument is JSON; it prints a line per step.
 */

import { readFileSync } from 'node:fs';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { identityOf } from '../../packages/fleet/configuration.js';
import { LEASES, PREFIX, runKey, uploadsOf } from '../../packages/fleet/coordination-keys.js';
import { describeMachine } from '../../packages/fleet/presence.js';
import { createSeatKey } from '../../packages/fleet/seat-key.js';
import { bombOf } from './deflate-bomb.js';

const BOMB_MIB = 2048;

/** @type {{ endpoint: { host: string, port: number }, token: string, bomb: boolean }} */
const { endpoint, token, bomb } = JSON.parse(process.argv[2]);
const connection = {
  ...endpoint,
  password: readFileSync(token, 'utf8').trim().split(':', 2).join(':'),
  protocol: /** @type {const} */ (2),
  maxRetriesPerRequest: null,
};
const { key, signed } = createSeatKey();
const payload = bomb ? bombOf(BOMB_MIB).toString('base64') : '';

const worker = new Worker(
  LEASES,
  async (job) => {
    const { run, seat, storages } = job.data;
    const identity = await identityOf(storages);
    const clock = { offsetNs: 0, roundTripNs: 1e5, exchanges: 24 };
    const ready = { type: 'ready', seat, name: 'rogue', machine: describeMachine() };
    await job.updateProgress({ ...ready, identity, clock, key });
    console.log('ready');
    const step = await orderedStep(run);
    console.log('ordered');
    if (bomb) {
      const uploads = new Queue(uploadsOf(run), { connection, prefix: PREFIX });
      const signature = signed({ run, seat, step, payload });
      await uploads.add('upload', { seat, step, payload, signature });
      console.log('uploaded');
    }
    await new Promise(() => {});
  },
  { connection, prefix: PREFIX, lockDuration: 2200 },
);
worker.on('error', () => {});
console.log('waiting');

/** @param {string} run @returns {Promise<number>} number of the first order to play */
async function orderedStep(run) {
  const reader = new Redis(connection);
  for (let last = '0'; ; ) {
    const reply = await reader.xread('BLOCK', 0, 'STREAMS', runKey(run, 'orders'), last);
    for (const [id, [, text]] of reply?.[0]?.[1] ?? []) {
      last = id;
      const { type, step } = JSON.parse(text);
      if (type === 'play') return step;
    }
  }
}

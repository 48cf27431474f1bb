/**
 * Simulated agents, several in a process, for bench/fleet.js: real leases, orders and uploads; the
 * seat of each contender is a recorded one.
 */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { runAgent } from '../packages/fleet/agent.js';
import { monotonicNs } from '../packages/fleet/coordinator-clock.js';
import { isMain } from './main.js';

async function main() {
  const [task] = await once(process, 'message');
  const { coordinator, seat: file, first, count } = task;
  const recorded = JSON.parse(readFileSync(file, 'utf8'));
  const stop = new AbortController();
  process.on('disconnect', () => stop.abort());

  /**
   * Packing an upload blocks the event loop; separate machines do it concurrently. Here it is
   * sequential, with pauses to renew leases.
   */
  const TURN_MS = 150;

  /**
   * @param {number} i index among the agents of this process
   * @returns {NonNullable<Parameters<typeof runAgent>[0]['play']>}
   */
  const replayer =
    (i) =>
    async (_order, { atStart }) => {
      const startNs = await atStart();
      // It begins at that time and ends immediately, because only the coordination is measured.
      const waitMs = (startNs - monotonicNs()) / 1e6 + i * TURN_MS;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      const [segment] = recorded.segments[0];
      const wall = [[startNs, startNs + segment.wall[0][1] - segment.wall[0][0]]];
      return [{ ...recorded, segments: [[{ ...segment, wall }]] }];
    };

  await Promise.all(
    Array.from({ length: count }, (_, i) =>
      runAgent({
        coordinator,
        name: `agent-${first + i}`,
        allowTargets: [],
        home: '/nowhere',
        signal: stop.signal,
        play: replayer(i),
        onEvent: ({ type }) => type === 'waiting' && process.send?.('waiting'),
      }),
    ),
  );
}

if (isMain(import.meta.filename)) await main();

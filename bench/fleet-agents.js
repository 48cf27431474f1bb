/**
 * Simulated agents, several in a process, for bench/fleet.js: real leases, orders and uploads; the
 * record of each benchmark is one that was recorded before.
 */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { runAgent } from '../fleet/agent.js';
import { monotonicNs } from '../fleet/clock.js';

const [own] = await once(process, 'message');
const { coordinator, record: file, first, count } = own;
const recorded = JSON.parse(readFileSync(file, 'utf8'));
const stop = new AbortController();
process.on('disconnect', () => stop.abort());

/**
 * Packing an upload keeps the event loop busy; on machines of their own agents do that side by
 * side. Here one after another, with pauses, in which leases are renewed.
 */
const TURN_MS = 150;

/**
 * @param {number} i of the agents of this process
 * @returns {NonNullable<Parameters<typeof runAgent>[0]['execute']>}
 */
const replayer =
  (i) =>
  async (parts, { atStart }) => {
    const startedNs = Number(await atStart?.());
    // It begins at that time and ends at once: what is measured is all the rest.
    const waitMs = (startedNs - monotonicNs()) / 1e6 + i * TURN_MS;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    const record = { ...recorded, startedNs, endedNs: startedNs + recorded.durationNs };
    const executions = parts.map(() => ({ record, failure: null, processNs: null }));
    return { executions, failed: null };
  };

await Promise.all(
  Array.from({ length: count }, (_, i) =>
    runAgent({
      ...{ coordinator, name: `agent-${first + i}`, allowTargets: [], home: '/nowhere' },
      ...{ signal: stop.signal, execute: replayer(i) },
      onEvent: ({ type }) => type === 'waiting' && process.send?.('waiting'),
    }),
  ),
);

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

/** @type {NonNullable<Parameters<typeof runAgent>[0]['execute']>} */
async function replay(parts, { atStart }) {
  const startedNs = Number(await atStart?.());
  // It begins at that time and ends at once: what is measured is all the rest.
  await new Promise((resolve) => setTimeout(resolve, (startedNs - monotonicNs()) / 1e6));
  const record = { ...recorded, startedNs, endedNs: startedNs + recorded.durationNs };
  const executions = parts.map(() => ({ record, failure: null, processNs: null }));
  return { executions, failed: null };
}

await Promise.all(
  Array.from({ length: count }, (_, i) =>
    runAgent({
      ...{ coordinator, name: `agent-${first + i}`, allowTargets: [], home: '/nowhere' },
      ...{ signal: stop.signal, execute: replay },
      onEvent: ({ type }) => type === 'waiting' && process.send?.('waiting'),
    }),
  ),
);

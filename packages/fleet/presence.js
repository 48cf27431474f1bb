/**
 * Presence of agents: each writes its record into one hash of the coordinator twice per second.
 * Leases are handled by BullMQ.
 */

import { cpus, hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { usageError } from '../../lib/errors.js';
import { version } from '../../lib/version.js';
import { AGENTS_KEY, FORGOTTEN_MS, PRESENCE_MS, SILENT_MS } from './coordination-keys.js';
import { monotonicNs, timeOffsetMs, toNs } from './coordinator-clock.js';
import { label, MACHINE } from './strict.js';

/** Maximum characters of an entry; that of an agent has 300. */
const ENTRY_LENGTH_MAX = 8192;

const entrySchema = z.object({
  id: label,
  state: z.enum(['idle', 'busy']),
  ...MACHINE,
  timeOffsetMs: z.number().describe('the coordinator’s time of day minus its own'),
  roundTripNs: z.number(),
  seenNs: z.number().describe('when it last wrote, on the coordinator’s clock'),
});

/** @typedef {z.infer<typeof entrySchema>} AgentEntry */
/** @typedef {AgentEntry & { name: string, silentMs: number }} Agent */

/** @returns constant properties of a machine */
export function describeMachine() {
  const all = cpus();
  return {
    dragstrip: version,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    host: hostname(),
    cpu: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
  };
}

/**
 * @param {import('ioredis').Redis} client
 * @param {string} name name of this agent
 * @param {{ id: string, clock: () => import('./coordinator-clock.js').ClockReading,
 *   state: () => AgentEntry['state'] }} self
 * @returns {{ stop: () => Promise<void> }}
 */
export function announce(client, name, { id, clock, state }) {
  const machine = describeMachine();
  const write = () => {
    const { offsetNs, roundTripNs } = clock();
    /** @type {AgentEntry} */
    const entry = {
      id,
      state: state(),
      ...machine,
      timeOffsetMs: timeOffsetMs(offsetNs),
      roundTripNs,
      seenNs: monotonicNs() + offsetNs,
    };
    client.hset(AGENTS_KEY, name, JSON.stringify(entry)).catch(() => {});
  };
  write();
  const timer = setInterval(write, PRESENCE_MS);
  return {
    async stop() {
      clearInterval(timer);
      await client.hdel(AGENTS_KEY, name).catch(() => {});
    },
  };
}

/**
 * @param {import('ioredis').Redis} client
 * @returns {Promise<Agent[]>} by name; agents inactive for a minute are removed
 */
export async function listAgents(client) {
  const [all, time] = await Promise.all([client.hgetall(AGENTS_KEY), client.time()]);
  /** @type {Agent[]} */
  const agents = [];
  for (const [name, text] of Object.entries(all)) {
    const entry = label.safeParse(name).success ? parseEntry(text) : null;
    const silentMs = entry === null ? FORGOTTEN_MS : (toNs(time) - entry.seenNs) / 1e6;
    if (entry !== null && silentMs < FORGOTTEN_MS) agents.push({ name, ...entry, silentMs });
    else await client.hdel(AGENTS_KEY, name);
  }
  return agents.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** @param {string} text @returns {AgentEntry | null} null: not an agent of this version */
function parseEntry(text) {
  if (text.length > ENTRY_LENGTH_MAX) return null;
  try {
    return entrySchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/**
 * @param {import('ioredis').Redis} client
 * @param {string} name
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: the name is in use
 */
export async function requireFreeName(client, name) {
  const find = async () => (await listAgents(client)).find((agent) => agent.name === name);
  const other = await find();
  if (other === undefined || other.silentMs > SILENT_MS) return;
  // A restarted agent finds its previous entry, which is no longer updated.
  await sleep(3 * PRESENCE_MS);
  if ((await find())?.seenNs === other.seenNs) return;
  throw usageError(
    `agent ${name}: another agent on ${other.host} already has this name`,
    'give each agent a unique --name',
  );
}

/**
 * @param {import('ioredis').Redis} client
 * @param {string} name
 * @returns {Promise<number | null>} time of its last record, on the coordinator's clock
 */
export async function lastSeenNs(client, name) {
  const text = await client.hget(AGENTS_KEY, name);
  return text === null ? null : (parseEntry(text)?.seenNs ?? null);
}

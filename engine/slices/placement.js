/**
 * Where client and servers run while slices are measured. The scheduler's choice decides a figure
 * more than a driver does: with one in flight a round trip takes 17 µs on one processor and 75 to
 * 100 µs on two, and a process keeps its luck for a while. So both are held in place: with one in
 * flight, where they never run at the same time, on one processor; in a window on processors of
 * their own, so that their work overlaps as it does for a user.
 *
 * The client's main thread stays; servers are moved between loads, once per block.
 */

import { allowedCpus, coreOfThisMachine, missingFor, planPinning, setCpus } from '../pinning.js';

/** @typedef {import('../../lib/comparison.js').StoredLoad['placement']} StoredPlacement */

/**
 * @typedef {object} Placement
 * @property {number[] | undefined} client processors of the contenders; undefined: all
 * @property {StoredPlacement[]} stored by load
 * @property {boolean} moves servers have another place in another load
 * @property {(load: number) => Promise<void>} apply before slices of that load
 * @property {() => Promise<void>} restore servers may run where they could before
 */

/**
 * @param {'auto' | 'one-cpu' | 'two-cpus' | 'free'} asked
 * @param {readonly { kind: string }[]} loads
 * @param {readonly { name: string, source: string, pids: number[] }[]} servers
 * @param {{ pinned?: number[], taskset?: string, allowed?: number[] }} [options] pinned: processors
 *   of the client, where --pin has placed both
 * @returns {Promise<Placement>}
 */
export async function placeFor(asked, loads, servers, options = {}) {
  const { pinned, taskset = 'taskset', allowed = allowedCpus() } = options;
  if (pinned !== undefined && pinned.length > 0) {
    return unmoved(loads, { kind: 'pinned', client: pinned, server: [], reason: null }, pinned);
  }
  const reason = asked === 'free' ? null : await whyFree(servers, allowed, taskset);
  const plan = planPinning({ allowed, coreOf: coreOfThisMachine, processes: 1 });
  if (asked === 'free' || reason !== null || plan === null) return placeNothing(loads, reason);
  const client = plan.client.slice(-1);
  const stored = loads.map(({ kind }) => {
    const wanted = asked === 'auto' ? (kind === 'sync' ? 'one-cpu' : 'two-cpus') : asked;
    const server = wanted === 'one-cpu' ? client : plan.server;
    return /** @type {StoredPlacement} */ ({ kind: wanted, client, server, reason: null });
  });
  const pids = [...new Set(servers.flatMap((server) => server.pids))];
  const before = pids.map((pid) => allowedCpus(pid));
  let now = '';
  return {
    ...{ client, stored },
    moves: new Set(stored.map(({ kind }) => kind)).size > 1,
    async apply(load) {
      const { server } = stored[load];
      if (server.join() === now) return;
      now = server.join();
      await Promise.all(pids.map((pid) => setCpus(taskset, pid, server)));
    },
    async restore() {
      await Promise.all(
        pids.map((pid, i) => (before[i].length > 0 ? setCpus(taskset, pid, before[i]) : null)),
      );
    },
  };
}

/**
 * @param {readonly unknown[]} loads
 * @param {string | null} reason why; null: it was asked for
 * @returns {Placement} client and servers run where the scheduler puts them
 */
export function placeNothing(loads, reason) {
  return unmoved(loads, { kind: 'free', client: [], server: [], reason }, undefined);
}

/**
 * @param {readonly unknown[]} loads
 * @param {StoredPlacement} stored
 * @param {number[] | undefined} client
 * @returns {Placement}
 */
function unmoved(loads, stored, client) {
  const nothing = async () => {};
  const all = loads.map(() => stored);
  return { client, stored: all, moves: false, apply: nothing, restore: nothing };
}

/**
 * @param {readonly { name: string, source: string, pids: number[] }[]} servers
 * @param {readonly number[]} allowed
 * @param {string} taskset
 * @returns {Promise<string | null>} why nothing is placed
 */
async function whyFree(servers, allowed, taskset) {
  if (allowed.length < 2) return 'there is only one processor, or it is not known';
  const other = servers.find(({ source, pids }) => source !== 'dragstrip' || pids.length === 0);
  if (other !== undefined) return `Dragstrip did not start ${other.name}`;
  return missingFor(taskset);
}

/**
 * Slot map of a Redis Cluster: the node that serves each slot. Pure. packages/mutex/slot.js
 * computes a key's slot. https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
 */

import { targetError } from '../../lib/errors.js';
import { SLOTS } from '../../packages/mutex/slot.js';

/**
 * @typedef {object} SlotRange format of CLUSTER SLOTS
 * @property {number} first
 * @property {number} last inclusive
 * @property {{ host: string, port: number }[]} nodes the primary, then its replicas
 */

/**
 * @param {any} reply reply to CLUSTER SLOTS
 * @param {string} asked host of the replying node: a node that does not know its own address sends
 *   an empty one, which refers to itself
 * @returns {SlotRange[]}
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET if it is something else
 */
export function parseSlots(reply, asked) {
  if (!Array.isArray(reply)) throw unreadable();
  return reply.map((range) => {
    const [first, last, ...nodes] = Array.isArray(range) ? range : [];
    if (!isSlot(first) || !isSlot(last) || nodes.length === 0) throw unreadable();
    return { first, last, nodes: nodes.map((node) => parseNode(node, asked)) };
  });
}

/** @param {any} value */
function isSlot(value) {
  return Number.isInteger(value) && value >= 0 && value < SLOTS;
}

/** @param {any} node @param {string} asked */
function parseNode(node, asked) {
  const [host, port] = Array.isArray(node) ? node : [];
  // null: the endpoint is unknown, cluster-preferred-endpoint-type unknown-endpoint.
  const name = host === null || host === '' ? asked : host;
  if (typeof name !== 'string' || !Number.isInteger(port) || port < 1 || port > 65_535) {
    throw unreadable();
  }
  return { host: name, port };
}

/**
 * @param {readonly SlotRange[]} ranges
 * @returns {{ host: string, port: number }[]} unique nodes, primaries first
 */
export function nodesOf(ranges) {
  const primaries = ranges.map(({ nodes }) => nodes[0]);
  const replicas = ranges.flatMap(({ nodes }) => nodes.slice(1));
  const seen = new Set();
  return [...primaries, ...replicas].filter(({ host, port }) => {
    const name = `${host}:${port}`;
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}

function unreadable() {
  return targetError(
    'the reply to CLUSTER SLOTS is not a list of slots',
    'check whether the address belongs to a different server',
  );
}

/**
 * Slots of a Redis Cluster: the slot of a key, and which node has which slots. Pure.
 * https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
 */

import { targetError } from '../../lib/errors.js';

/** A cluster has as many, always. */
export const SLOTS = 16_384;

/** CRC16 as XMODEM has it: polynomial 0x1021, begun with 0 (cluster specification, appendix A). */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/**
 * @param {string} key a binary string: one character per byte
 * @returns {number} 0 to 16383. A part in braces that is not empty is the whole of what is hashed:
 *   `{user1}.name` and `{user1}.mail` are in one slot
 */
export function slotOf(key) {
  const open = key.indexOf('{');
  const close = open === -1 ? -1 : key.indexOf('}', open + 1);
  const [from, to] = close > open + 1 ? [open + 1, close] : [0, key.length];
  let crc = 0;
  for (let at = from; at < to; at += 1) {
    crc = ((crc << 8) & 0xffff) ^ TABLE[(crc >>> 8) ^ (key.charCodeAt(at) & 0xff)];
  }
  return crc & (SLOTS - 1);
}

/**
 * @typedef {object} SlotRange as CLUSTER SLOTS has it
 * @property {number} first
 * @property {number} last inclusive
 * @property {{ host: string, port: number }[]} nodes the primary, then its replicas
 */

/**
 * @param {any} reply of CLUSTER SLOTS
 * @param {string} asked host of the node that gave it: a node that does not know its own address
 *   leaves it empty, and means this one
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
 * @returns {{ host: string, port: number }[]} each node once, primaries first
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
    'the answer to CLUSTER SLOTS is no list of slots',
    'see whether the address is that of another server',
  );
}

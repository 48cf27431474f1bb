/**
 * Connections to the primaries of a Redis Cluster, for loaders and namespaces: each key goes to the
 * node of its slot. Not a driver: no redirection is followed; a slot that moved is an error.
 */

import { firstAnswer, formatPlace } from '../../lib/address.js';
import { targetError } from '../../lib/errors.js';
import { requireAnnounced } from '../../lib/safety.js';
import { SLOTS, slotOf } from '../../packages/mutex/slot.js';
import { nodesOf, parseSlots } from '../../protocols/resp/slots.js';
import { HINTS, RespConnection } from './redis.js';

/** @typedef {import('../../lib/types.js').Endpoint} Endpoint */
/** @typedef {import('../../protocols/resp/slots.js').SlotRange} SlotRange */

const WHAT = 'Redis Cluster';
const MOVING = 'a slot moved to another node during the command: run it again';
const CLUSTER_HINTS = Object.freeze({
  ...HINTS,
  NOAUTH:
    'set DRAGSTRIP_REDIS_CLUSTER_PASSWORD, or name a file in DRAGSTRIP_REDIS_CLUSTER_PASSWORD_FILE',
  MOVED: MOVING,
  ASK: MOVING,
  CLUSTERDOWN: 'wait until every slot is served again, then run it again',
  ERR: 'name a non-cluster server with --redis',
});

/** The same interface as RespConnection: one of several nodes. */
export class RespCluster {
  /** Keys of several slots are refused in one command. */
  keysPerCommand = 1;

  /**
   * @param {readonly RespConnection[]} nodes primaries
   * @param {Uint16Array} owners index of the node of each slot
   * @param {readonly RespConnection[]} replicas
   */
  constructor(nodes, owners, replicas) {
    this.nodes = nodes;
    this.owners = owners;
    this.replicas = replicas;
    this.where = `${WHAT} at ${formatPlace(nodes[0].endpoint)}`;
  }

  /**
   * @param {import('../../lib/types.js').ConnectionContext & { allowed?: readonly Endpoint[],
   *   withReplicas?: boolean }} context replying nodes may be others than those named: each is on
   *   loopback, or in the address or in `allowed`
   * @returns {Promise<RespCluster>}
   * @throws {import('../../lib/errors.js').DragstripError} E_TARGET, E_ABORTED; E_REFUSED
   */
  static async connect(context) {
    const { allowed = [], withReplicas = false, ...rest } = context;
    const named = Object.values(context.address);
    const ranges = await readRanges(rest);
    const { tls } = context.address.main;
    const primaries = [
      ...new Map(ranges.map(({ nodes: [node] }) => [formatPlace(node), node])).values(),
    ];
    for (const { nodes } of ranges) {
      for (const node of nodes) requireAnnounced(node, [...named, ...allowed], WHAT);
    }
    const count = primaries.length;
    /** @type {RespConnection[]} */
    const opened = [];
    try {
      for (const node of withReplicas ? nodesOf(ranges) : primaries) {
        const main = { ...node, ...(tls && { tls }) };
        opened.push(await RespConnection.connect({ ...rest, address: { main } }, CLUSTER_HINTS));
      }
      const owners = ownersOf(ranges, primaries);
      return new RespCluster(opened.slice(0, count), owners, opened.slice(count));
    } catch (error) {
      for (const node of opened) node.close();
      throw error;
    }
  }

  /**
   * @param {string} key
   * @returns {RespConnection}
   */
  ownerOf(key) {
    return this.nodes[this.owners[slotOf(key)]];
  }

  /**
   * A command with one key, its second word.
   * @param {string} name
   * @param {string} key
   * @param {...(string | number)} rest
   * @returns {Promise<any>}
   */
  command(name, key, ...rest) {
    return this.ownerOf(key).command(name, key, ...rest);
  }

  close() {
    for (const node of [...this.nodes, ...this.replicas]) node.close();
  }
}

/**
 * @param {import('../../lib/types.js').ConnectionContext} context
 * @returns {Promise<SlotRange[]>}
 */
function readRanges(context) {
  return firstAnswer(context.address, async (main) => {
    const connection = await RespConnection.connect(
      { ...context, address: { main } },
      CLUSTER_HINTS,
    );
    try {
      return parseSlots(await connection.command('CLUSTER', 'SLOTS'), main.host ?? '');
    } finally {
      connection.close();
    }
  });
}

/**
 * @param {readonly SlotRange[]} ranges
 * @param {readonly { host: string, port: number }[]} primaries
 * @returns {Uint16Array}
 */
function ownersOf(ranges, primaries) {
  const none = primaries.length;
  const owners = new Uint16Array(SLOTS).fill(none);
  for (const { first, last, nodes } of ranges) {
    const owner = primaries.findIndex((node) => formatPlace(node) === formatPlace(nodes[0]));
    owners.fill(owner, first, last + 1);
  }
  const missing = owners.indexOf(none);
  if (missing === -1) return owners;
  throw targetError(`${WHAT}: no node serves slot ${missing}`, CLUSTER_HINTS.CLUSTERDOWN);
}

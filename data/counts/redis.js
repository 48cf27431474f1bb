/**
 * Commands executed by a Redis, a Valkey or the nodes of a cluster: `calls` of INFO commandstats.
 * Commands of a script or of a transaction count individually, a script as one more. Rejected
 * commands (redirected, unknown, not permitted, out of memory) are not calls.
 */

import { encodeCommand } from '../../protocols/resp/command.js';
import { RespConnection } from '../connections/redis.js';
import { RespCluster } from '../connections/redis-cluster.js';

/**
 * Short sections: `everything` costs the server five times as much, and servers before Redis 7
 * accept only one per command.
 */
const SECTIONS = ['server', 'commandstats', 'stats', 'errorstats'];
const REQUEST = Buffer.concat(SECTIONS.map((section) => encodeCommand(['INFO', section])));

/**
 * Commands that no workload measures and that drivers, pools, monitors, replicas or the harness may
 * send at any time and in any number. MULTI and EXEC frame a transaction.
 */
const HOUSEKEEPING = words(
  'auth hello select client quit reset echo command module multi exec discard watch unwatch',
  'info config acl latency slowlog memory debug monitor lastsave script function pubsub role',
  'subscribe psubscribe ssubscribe unsubscribe punsubscribe sunsubscribe save bgsave',
  'cluster asking readonly readwrite migrate restore restore-asking',
  'replconf psync sync replicaof slaveof failover',
);

/** Commands that a client may send to a replica, for rows and traces. */
const READS = words(
  'get mget strlen getrange exists type ttl pttl scan hget hmget hgetall hlen hexists',
  'lrange lindex llen smembers sismember scard zrange zrangebyscore zscore zrank zcard',
  'xrange xlen eval_ro evalsha_ro fcall_ro',
);

/** @type {IsOperation} */
const onSingle = () => true;
/** @type {IsOperation} clients of a cluster send PING to each node; `commands` measures it */
const onPrimary = (name) => name !== 'ping';
/** @type {IsOperation} a replica executes the writes of its primary as its own calls */
const onReplica = (name) => READS.has(name);

/** A failing command also fails its script: one error reply, not two. */
const SCRIPTS = words('eval evalsha eval_ro evalsha_ro fcall fcall_ro');

/** Error codes that clients of a cluster follow. */
const REDIRECTIONS = /^errorstat_(?:MOVED|ASK|TRYAGAIN):count=(\d+)/gm;
const COMMAND =
  /^cmdstat_([^:|]+)[^:]*:calls=(\d+)(?:.*,rejected_calls=(\d+),failed_calls=(\d+))?/gm;

const LIST = ['CLIENT', 'LIST'];
const NO_RIGHT = 'allow it with `ACL SETUSER name +info`';

/** @typedef {import('../../lib/types.js').ConnectionContext} ConnectionContext */
/** @typedef {(name: string) => boolean} IsOperation */

/**
 * @param {ConnectionContext} context
 * @returns {Promise<import('./index.js').Counter>}
 */
export async function openCounter(context) {
  const connection = await RespConnection.connect(context);
  return counterOf(connection, [{ node: connection, isOperation: onSingle }]);
}

/**
 * @param {ConnectionContext} context
 * @returns {Promise<import('./index.js').Counter>}
 */
export async function openClusterCounter(context) {
  const connection = await RespCluster.connect({ ...context, withReplicas: true });
  return counterOf(connection, [
    ...connection.nodes.map((node) => ({ node, isOperation: onPrimary })),
    ...connection.replicas.map((node) => ({ node, isOperation: onReplica })),
  ]);
}

/**
 * @param {{ close(): void }} connection
 * @param {{ node: RespConnection, isOperation: IsOperation }[]} processes
 * @returns {import('./index.js').Counter}
 */
function counterOf(connection, processes) {
  for (const { node } of processes) node.hints = { ...node.hints, NOPERM: NO_RIGHT };
  return {
    async read() {
      const counts = await Promise.all(
        processes.map(async ({ node, isOperation }) => {
          const sections = await node.batch(REQUEST, SECTIONS.length, true);
          return parseCount(sections, isOperation);
        }),
      );
      return {
        identity: counts.map(({ identity }) => identity).join(' '),
        operations: sum(counts.map(({ operations }) => operations)),
        lookups: sum(counts.map(({ lookups = null }) => lookups)),
        errors: sum(counts.map(({ errors }) => errors)),
      };
    },
    async others(ms) {
      const used = await Promise.all(
        processes.map(async ({ node }) => {
          const [id, list] = [await node.command('CLIENT', 'ID'), await node.command(...LIST)];
          return hasOlder(String(list), Number(id), Math.ceil(ms / 1000));
        }),
      );
      return used.includes(true);
    },
    close: () => connection.close(),
  };
}

/**
 * @param {string} list CLIENT LIST: a line per connection
 * @param {number} id number of the own connection; connections are numbered in the order of
 *   connecting
 * @param {number} idleMax seconds since the last command, by a clock of whole seconds: a command of
 *   just now can be one second old
 */
export function hasOlder(list, id, idleMax) {
  const used = list.matchAll(/^id=(\d+) .*? idle=(\d+) flags=(\w+) /gm);
  return [...used].some(
    ([, other, idle, flags]) =>
      Number(other) < id && Number(idle) <= idleMax && !/[MS]/.test(flags),
  );
}

/**
 * @param {readonly string[]} sections sections of INFO: server, commandstats, stats, errorstats
 *   (which is empty before Redis 6.2)
 * @param {IsOperation} [isOperation]
 * @returns {import('./index.js').ServerCount}
 */
export function parseCount([server, commands, stats, errors], isOperation = onSingle) {
  const [, identity = ''] = /^run_id:(\w+)/m.exec(server) ?? [];
  // A product without this section.
  if (!/^# commandstats/im.test(commands)) return { identity, operations: null, errors: null };
  let operations = 0;
  let failures = 0;
  for (const [, name, calls, rejected, failed] of commands.matchAll(COMMAND)) {
    if (HOUSEKEEPING.has(name)) continue;
    failures += Number(rejected);
    if (!isOperation(name)) continue;
    operations += Number(calls) - Number(failed ?? 0);
    if (!SCRIPTS.has(name)) failures += Number(failed);
  }
  for (const [, count] of errors.matchAll(REDIRECTIONS)) failures -= Number(count);
  // Redis before 6.2 does not count them.
  const lookups = keyspace(stats, 'hits') + keyspace(stats, 'misses');
  return { identity, operations, lookups, errors: Number.isNaN(failures) ? null : failures };
}

/**
 * @param {string} stats section of INFO
 * @param {'hits' | 'misses'} of `hits` or `misses` of key lookups
 */
function keyspace(stats, of) {
  return Number(new RegExp(`^keyspace_${of}:(\\d+)`, 'm').exec(stats)?.[1] ?? 0);
}

/** @param {...string} lines @returns {Set<string>} */
function words(...lines) {
  return new Set(lines.join(' ').split(' '));
}

/** @param {readonly (number | null)[]} values values of the nodes */
function sum(values) {
  let total = 0;
  for (const value of values) {
    if (value === null) return null;
    total += value;
  }
  return total;
}

/**
 * Starts a Redis Cluster: three primaries and three replicas, each a process with a separate folder
 * inside that of the cluster, on loopback only. It is empty at every start, since the nodes get new
 * ports. Probing is in redis-cluster.js.
 */

import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { targetError } from '../lib/errors.js';
import { SLOTS } from '../packages/mutex/slot.js';
import { certificatesIn } from './certificates.js';
import { callRedis, fieldsOf } from './cluster-call.js';
import { readProgramVersion } from './command.js';
import { becomesReady, freePorts, HOST, recordWhenReady, startInFolder } from './daemon.js';
import { lastLines, launch } from './process.js';
import { writeRecord } from './record.js';
import { CONFIGURATION, tlsArguments } from './redis-family.js';
import { randomSecret, writePrivate, writeSecrets } from './secrets.js';
import { handOver } from './unprivileged.js';

/** @typedef {import('../lib/types.js').RunningServer} RunningServer */
/** @typedef {import('../lib/types.js').StartContext} StartContext */

const PRIMARIES = 3;
const NODES = 6;
/** Needed for cluster-port, so that the bus has a free port, and ADDSLOTSRANGE. */
const VERSION_MIN = 7;
const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
/** Inactivity of a node before a failover; Redis' default of 15 s is for networks. */
const NODE_TIMEOUT_MS = 2000;
/**
 * A replica is announced to clients after the first bytes of replication, such as a ping: short
 * while the cluster starts, then Redis' default.
 */
const FIRST_PING_S = 1;
const LATER_PING_S = 10;

/**
 * @typedef {object} Node
 * @property {string} name `node-1`
 * @property {string} folder
 * @property {{ host: string, port: number }} endpoint
 * @property {number} bus port
 * @property {number | undefined} tlsPort
 */

/**
 * @param {string} name name of the server
 * @param {StartContext} context
 * @returns {Promise<RunningServer>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET with the last lines of a log
 */
export async function startCluster(name, context) {
  const program = context.binaries.programs['redis-server'];
  const { env } = context.binaries;
  const version = await readProgramVersion(program, ['--version'], /\bv=(\S+)/, env);
  if (Number.parseInt(version, 10) < VERSION_MIN) {
    throw targetError(
      `${name}: requires Redis ${VERSION_MIN} or later, but ${program} is version ${version}`,
      'give the address of a cluster with --redis-cluster',
    );
  }
  return startInFolder(name, context, {
    tryStart: (folder) => tryStart({ name, program, version, folder }, context),
    taken: 'one of its ports',
  });
}

/**
 * @param {{ name: string, program: string, version: string, folder: string }} what
 * @param {StartContext} context
 * @returns {Promise<RunningServer | null>} null if a port was taken in between
 */
async function tryStart({ name, program, version, folder }, context) {
  const { home, owned, signal } = context;
  const secrets = { password: randomSecret() };
  const credentials = writeSecrets(folder, secrets);
  const nodes = await planNodes(folder, context.tls === true);
  for (const node of nodes) prepareNode(node, secrets.password);
  handOver(folder, context.user);
  /** @type {RunningServer} */
  const running = {
    name,
    pid: 0,
    startTicks: 0,
    nodes: [],
    version: '', // until it replies
    folder,
    address: addressOf(nodes),
    credentials,
    ...(context.tls && { tls: { ca: certificatesIn(folder).ca } }),
  };
  return recordWhenReady(running, version, context, async () => {
    /** @type {import('./process.js').Launched[]} */
    const launched = [];
    for (const node of nodes) {
      signal?.throwIfAborted();
      launched.push(await launchNode(node, program, folder, context));
      const identities = launched.map(({ identity }) => identity);
      // Recorded immediately, so that the next command ends them even if this process dies.
      Object.assign(running, identities[0], { nodes: identities });
      writeRecord(home, owned, running);
    }
    if (!(await allAnswer(nodes, launched, secrets, signal))) return false;
    await form(nodes, secrets, signal);
    return true;
  });
}

/**
 * @param {string} folder
 * @param {boolean} encrypted
 * @returns {Promise<Node[]>} primaries first
 */
async function planNodes(folder, encrypted) {
  const names = Array.from({ length: NODES }, (_, i) => `node-${i + 1}`);
  const ports = await freePorts(names);
  const buses = await freePorts(names);
  const tlsPorts = encrypted ? await freePorts(names) : {};
  return names.map((name) => ({
    name,
    folder: join(folder, name),
    endpoint: { host: HOST, port: ports[name] },
    bus: buses[name],
    tlsPort: tlsPorts[name],
  }));
}

/**
 * An empty folder with a private configuration, because files of an earlier start have old ports.
 * @param {Node} node
 * @param {string} password
 */
function prepareNode({ name, folder, endpoint, bus }, password) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  const hash = createHash('sha256').update(password).digest('hex');
  const lines = [
    readFileSync(CONFIGURATION, 'utf8'),
    'cluster-enabled yes',
    'cluster-config-file nodes.conf',
    `cluster-node-timeout ${NODE_TIMEOUT_MS}`,
    `cluster-port ${bus}`,
    `cluster-announce-ip ${HOST}`,
    `port ${endpoint.port}`,
    // Replicas log in at their primaries.
    `masterauth ${password}`,
    // The default waits 5 s for further replicas of the same snapshot.
    'repl-diskless-sync-delay 0',
    `repl-ping-replica-period ${FIRST_PING_S}`,
    // A primary waits 10 s for its replicas at shutdown, but here all are stopped.
    'shutdown-timeout 0',
    `user default on #${hash} ~* &* +@all`,
  ];
  writePrivate(join(folder, 'redis.conf'), `${lines.join('\n')}\n`);
  closeSync(openSync(join(folder, `${name}.log`), 'wx', 0o600));
}

/**
 * @param {readonly Node[]} nodes
 * @returns {Record<string, string>} `main`, then `node2` to `node6`; `tls` of the first
 */
function addressOf(nodes) {
  const entries = nodes.map(({ endpoint }, i) => [
    i === 0 ? 'main' : `node${i + 1}`,
    `${HOST}:${endpoint.port}`,
  ]);
  const { tlsPort } = nodes[0];
  if (tlsPort !== undefined) entries.push(['tls', `tls://${HOST}:${tlsPort}`]);
  return Object.fromEntries(entries);
}

/**
 * @param {Node} node
 * @param {string} program
 * @param {string} cluster folder with the certificates
 * @param {StartContext} context
 */
function launchNode({ name, folder, tlsPort }, program, cluster, { binaries, owned, user }) {
  const encrypted = tlsPort === undefined ? [] : encryptedArguments(cluster, tlsPort);
  return launch({
    program,
    args: [join(folder, 'redis.conf'), '--dir', folder, ...encrypted],
    cwd: folder,
    env: binaries.env,
    logPath: join(folder, `${name}.log`),
    owned,
    user,
  });
}

/**
 * Nodes announce their encrypted ports to clients only if they also use them among themselves.
 * @param {string} folder
 * @param {number} port
 */
function encryptedArguments(folder, port) {
  const { client } = certificatesIn(folder);
  return [
    ...tlsArguments(folder, port),
    ...['--tls-client-cert-file', client.cert, '--tls-client-key-file', client.key],
    ...['--tls-cluster', 'yes', '--tls-replication', 'yes'],
  ];
}

/**
 * @param {readonly Node[]} nodes
 * @param {readonly import('./process.js').Launched[]} launched
 * @param {{ password: string }} secrets
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<boolean>} false if a port was taken in between
 */
async function allAnswer(nodes, launched, secrets, signal) {
  const ready = await Promise.all(
    nodes.map((node, i) => {
      const spec = {
        name: `redis-cluster ${node.name}`,
        answers: () =>
          command(node, secrets, 'PING').then(
            (reply) => reply === 'PONG',
            () => false,
          ),
      };
      const ports = { main: node.endpoint.port, bus: node.bus };
      const logPath = join(node.folder, `${node.name}.log`);
      return becomesReady(spec, launched[i].identity, launched[i], ports, logPath, signal);
    }),
  );
  return ready.every(Boolean);
}

/**
 * Joins the nodes to one cluster and waits until each of them reports it as complete.
 * @param {readonly Node[]} nodes
 * @param {{ password: string }} secrets
 * @param {AbortSignal | undefined} signal
 */
async function form(nodes, secrets, signal) {
  const primaries = nodes.slice(0, PRIMARIES);
  for (const [i, node] of nodes.entries()) {
    // Distinct epochs from the start; otherwise the nodes must negotiate them first.
    await command(node, secrets, 'CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    if (i < PRIMARIES) {
      const [first, last] = [slotAt(i), slotAt(i + 1) - 1];
      await command(node, secrets, 'CLUSTER', 'ADDSLOTSRANGE', first, last);
    }
    if (i > 0) {
      await command(nodes[0], secrets, 'CLUSTER', 'MEET', HOST, node.endpoint.port, node.bus);
    }
  }
  const until = createWait(nodes, signal);
  await until('all nodes know each other', async (node) => {
    const { cluster_known_nodes: known } = await readInfo(node, secrets);
    return Number(known) === NODES;
  });
  const ids = await Promise.all(primaries.map((node) => command(node, secrets, 'CLUSTER', 'MYID')));
  for (const [i, node] of nodes.slice(PRIMARIES).entries()) {
    await command(node, secrets, 'CLUSTER', 'REPLICATE', ids[i]);
  }
  await until('the cluster state is ok and all replicas follow', async (node) => {
    const { cluster_state: state } = await readInfo(node, secrets);
    if (state !== 'ok') return false;
    const slots = await command(node, secrets, 'CLUSTER', 'SLOTS');
    if (!slots.every((/** @type {any[]} */ range) => range.length === 4)) return false;
    if (primaries.includes(node)) return true;
    const replication = fieldsOf(await command(node, secrets, 'INFO', 'replication'));
    return replication['master_link_status'] === 'up';
  });
  for (const node of nodes) {
    await command(node, secrets, 'CONFIG', 'SET', 'repl-ping-replica-period', LATER_PING_S);
  }
}

/** @param {number} i index of a primary @returns {number} its first slot */
function slotAt(i) {
  return Math.floor((i * SLOTS) / PRIMARIES);
}

/**
 * @param {readonly Node[]} nodes
 * @param {AbortSignal | undefined} signal
 * @returns {(what: string, holds: (node: Node) => Promise<boolean>) => Promise<void>} waits until
 *   it holds for each node
 */
function createWait(nodes, signal) {
  const overdue = AbortSignal.timeout(READY_TIMEOUT_MS);
  return async (what, holds) => {
    for (const node of nodes) {
      while (!(await holds(node))) {
        signal?.throwIfAborted();
        if (overdue.aborted) {
          const log = lastLines(join(node.folder, `${node.name}.log`));
          throw targetError(
            `redis-cluster: not within ${READY_TIMEOUT_MS / 1000} s: ${what}; end of the log of ` +
              `${node.name}:\n${log}`,
            `see ${node.folder}`,
          );
        }
        await sleep(POLL_MS);
      }
    }
  };
}

/** @param {Node} node @param {{ password: string }} secrets */
async function readInfo(node, secrets) {
  return fieldsOf(await command(node, secrets, 'CLUSTER', 'INFO'));
}

/**
 * @param {Node} node
 * @param {{ password: string }} secrets
 * @param {...(string | number)} words
 * @returns {Promise<any>}
 */
function command({ name, endpoint }, secrets, ...words) {
  const hint = 'see its log';
  const messages = { title: `redis-cluster ${name}`, hint, password: 'its password' };
  return callRedis(endpoint, secrets, words, messages);
}

/**
 * Starts a server process on free loopback ports and waits until it is ready: the common part of
 * all servers.
 */

import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import getPort from 'get-port';
import { targetError } from '../lib/errors.js';
import { listensAt } from '../measure/listener.js';
import { certificatesIn, makeCertificates } from './certificates.js';
import { endServer, lastLines, launch } from './process.js';
import { makeServerFolder, removeFolder, writeRecord } from './record.js';
import { writeSecrets } from './secrets.js';
import { makeSocketFolder } from './socket-folder.js';
import { handOver } from './unprivileged.js';

/** @typedef {import('../lib/types.js').RunningServer} RunningServer */
/** @typedef {import('../lib/types.js').StartContext} StartContext */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

export const HOST = '127.0.0.1';
const POLL_MS = 20;
/** A free port may be taken before the server binds it; twice is unlikely. */
const ATTEMPTS = 5;
const PORT_TAKEN =
  /address already in use|EADDRINUSE|Could not create server TCP|in use by another process|Failed to bind port/i;

/**
 * @typedef {object} DaemonPlan
 * @property {string} program path
 * @property {string[]} args
 * @property {Record<string, string>} [env]
 * @property {number} [tlsPort] port for encrypted connections
 */

/**
 * @typedef {object} DaemonSpec
 * @property {string} name
 * @property {string} version
 * @property {readonly string[]} endpoints names of its TCP endpoints
 * @property {readonly string[]} [inner] names of ports that are not endpoints
 * @property {number} [pollMs] interval of readiness checks, 20 ms by default; each
 *   check takes CPU time from the start
 * @property {number} [readyTimeoutMs] maximum time until it is ready, 30 s by default
 * @property {import('../lib/types.js').Credentials} [secrets] credentials of clients; written to
 *   private files, whose paths are recorded
 * @property {(folder: string) => Promise<void>} [prepare] initialises data before the first
 *   start
 * @property {string} [socket] name of its unix socket, in a separate short folder
 * @property {(folder: string, ports: Record<string, number>, socket: string) => DaemonPlan} plan
 *   socket: path; empty: no socket
 * @property {(address: Record<string, Endpoint>) => Promise<boolean>} answers whether it replies in
 *   its protocol at every endpoint
 */

/**
 * @param {DaemonSpec} spec
 * @param {StartContext} context
 * @returns {Promise<RunningServer>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET with the last lines of its log
 */
export async function startDaemon(spec, context) {
  const sockets = spec.socket === undefined ? null : makeSocketFolder(context.owned);
  const socket = sockets === null ? '' : join(sockets, String(spec.socket));
  try {
    return await startInFolder(spec.name, context, {
      async prepare(folder) {
        handOver(folder, context.user);
        if (sockets !== null) handOver(sockets, context.user);
        await spec.prepare?.(folder);
      },
      tryStart: (folder) => tryStart(spec, context, folder, socket),
      taken: 'its port',
    });
  } catch (error) {
    if (sockets !== null) await removeFolder(sockets);
    throw error;
  }
}

/**
 * @param {string} name
 * @param {StartContext} context
 * @param {object} steps
 * @param {(folder: string) => Promise<void>} [steps.prepare]
 * @param {(folder: string) => Promise<RunningServer | null>} steps.tryStart null if a port was
 *   taken in between
 * @param {string} steps.taken resource taken by another process, for messages
 * @returns {Promise<RunningServer>}
 */
export async function startInFolder(name, context, { prepare, tryStart: start, taken: resource }) {
  const folder = makeServerFolder(context.home, name, context.owned);
  try {
    await prepare?.(folder);
    if (context.tls) await makeCertificates(folder, context.signal);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const running = await start(folder);
      if (running !== null) return running;
    }
    throw targetError(`${name}: another process took ${resource} ${ATTEMPTS} times`);
  } catch (error) {
    if (context.owned) await removeFolder(folder);
    throw error;
  }
}

/**
 * @param {RunningServer} running without a version until it is ready
 * @param {string} version
 * @param {StartContext} context
 * @param {() => Promise<boolean>} becomesReady false if a port was taken in between
 * @returns {Promise<RunningServer | null>} null: it was taken, and the server is stopped
 */
export async function recordWhenReady(running, version, { home, owned }, becomesReady) {
  try {
    if (await becomesReady()) {
      const ready = { ...running, version };
      writeRecord(home, owned, ready);
      return ready;
    }
  } catch (error) {
    await endServer(running, { graceMs: 1000 });
    throw error;
  }
  await endServer(running, { graceMs: 1000 });
  return null;
}

/**
 * @param {DaemonSpec} spec
 * @param {StartContext} context
 * @param {string} folder
 * @param {string} socket path; empty: no socket
 * @returns {Promise<RunningServer | null>} null if a port was taken in between
 */
async function tryStart(spec, context, folder, socket) {
  const { signal, owned, home } = context;
  signal?.throwIfAborted();
  const ports = await freePorts(spec.endpoints);
  const inner = await freePorts(spec.inner ?? []);
  const credentials = writeSecrets(folder, spec.secrets ?? {});
  const plan = spec.plan(folder, { ...ports, ...inner }, socket);
  const logPath = join(folder, `${spec.name}.log`);
  // Keep only the last start, which explains a failure; symlinks by the server's user are not
  // followed.
  rmSync(logPath, { force: true });
  closeSync(openSync(logPath, 'wx', 0o600));
  handOver(folder, context.user);
  const launched = await launch({
    program: plan.program,
    args: plan.args,
    cwd: folder,
    env: { ...context.binaries.env, ...plan.env },
    logPath,
    owned,
    user: context.user,
  });
  /** @type {RunningServer} */
  const running = {
    name: spec.name,
    ...launched.identity,
    version: '', // until it replies
    folder,
    address: recordAddress(ports, socket, plan.tlsPort),
    credentials,
    ...(plan.tlsPort !== undefined && { tls: { ca: certificatesIn(folder).ca } }),
  };
  writeRecord(home, owned, running);
  return recordWhenReady(running, spec.version, context, () =>
    becomesReady(spec, running, launched, ports, logPath, signal),
  );
}

/**
 * @param {readonly string[]} names
 * @returns {Promise<Record<string, number>>}
 */
export async function freePorts(names) {
  /** @type {Record<string, number>} */
  const ports = {};
  for (const name of names) ports[name] = await getPort({ host: HOST });
  return ports;
}

/**
 * @param {Record<string, number>} ports
 * @param {string} socket
 * @param {number} [tlsPort]
 */
function recordAddress(ports, socket, tlsPort) {
  /** @type {Record<string, string>} */
  const address = {};
  for (const [endpoint, port] of Object.entries(ports)) address[endpoint] = `${HOST}:${port}`;
  if (socket !== '') address['unix'] = `unix:${socket}`;
  if (tlsPort !== undefined) address['tls'] = `tls://${HOST}:${tlsPort}`;
  return address;
}

/**
 * @param {Pick<DaemonSpec, 'name' | 'answers' | 'pollMs' | 'readyTimeoutMs'>} spec
 * @param {{ pid: number }} running
 * @param {import('./process.js').Launched} launched
 * @param {Record<string, number>} ports
 * @param {string} logPath
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<boolean>} false if a port turned out to be taken
 */
export async function becomesReady(spec, running, launched, ports, logPath, signal) {
  const { readyTimeoutMs = 30_000 } = spec;
  const endpoints = Object.entries(ports).map(([name, port]) => [name, { host: HOST, port }]);
  /** @type {Record<string, Endpoint>} */
  const address = Object.fromEntries(endpoints);
  const overdue = AbortSignal.timeout(readyTimeoutMs);
  while (!overdue.aborted) {
    signal?.throwIfAborted();
    const ended = launched.ended();
    if (ended !== null || PORT_TAKEN.test(lastLines(logPath, 200))) {
      if (PORT_TAKEN.test(lastLines(logPath, 200))) return false;
      throw failure(`${spec.name}: the server exited during start-up (${ended})`, logPath);
    }
    // Another process may have taken the port meanwhile.
    if ((await holdsAll(running.pid, address)) && (await spec.answers(address))) return true;
    await sleep(spec.pollMs ?? POLL_MS);
  }
  throw failure(
    `${spec.name}: no reply within ${readyTimeoutMs / 1000} s after the start`,
    logPath,
  );
}

/**
 * @param {number} pid
 * @param {Record<string, Endpoint>} address
 */
async function holdsAll(pid, address) {
  for (const endpoint of Object.values(address)) {
    if (!(await listensAt(pid, endpoint))) return false;
  }
  return true;
}

/**
 * @param {string} message
 * @param {string} logPath
 */
function failure(message, logPath) {
  return targetError(`${message}; end of its log:\n${lastLines(logPath)}`, `see ${logPath}`);
}

/**
 * Starts, stops and lists the servers of a state folder.
 */

import { parseAddress } from '../lib/address.js';
import { readCredentials } from '../lib/credentials.js';
import { DragstripError, targetError } from '../lib/errors.js';
import { makeHome } from '../lib/home.js';
import { fetchServers } from './fetch.js';
import { requireFetched } from './fetched.js';
import { withLock } from './lock.js';
import { endServer, isRunning, processesOf } from './process.js';
import {
  readRecord,
  readRunning,
  removeOwned,
  removeRecord,
  serversFolder,
  sweepOwned,
} from './record.js';
import { redisBehind } from './redis-behind.js';
import { loadServer, SERVER_NAMES } from './registry.js';
import { serverUser } from './unprivileged.js';

/** @typedef {import('../lib/types.js').Address} Address */
/** @typedef {import('../lib/types.js').RunningServer} RunningServer */
/** @typedef {import('../lib/server-types.js').Guest} Guest */
/** @typedef {import('./index.js').ServerEvent} ServerEvent */
/** @typedef {(event: ServerEvent) => void} OnEvent */

/**
 * @typedef {object} Failure
 * @property {string} name name of the server
 * @property {DragstripError} error
 */

/**
 * @typedef {object} Started
 * @property {RunningServer[]} servers running servers that reply
 * @property {string[]} reused names of those already running
 * @property {Failure[]} failures servers that are not available; the others keep running
 * @property {() => Promise<void>} stop stops servers started and owned by this call; idempotent
 */

/**
 * Reasons why this process could not start servers, for the skipped storages.
 * @type {Map<string, DragstripError>}
 */
const failedStarts = new Map();

/**
 * @param {string} name
 * @returns {DragstripError | null} null: it was started, or not requested
 */
export function failureOfStart(name) {
  return failedStarts.get(name) ?? null;
}

/**
 * Starts servers concurrently. A running server of this state folder that replies is reused;
 * records of processes that ended are removed.
 * @param {readonly string[]} names
 * @param {{ home: string, packagesHome?: string, owned?: boolean, fetch?: boolean, tls?: boolean,
 *   guest?: Guest, signal?: AbortSignal, onEvent?: OnEvent }} options owned: servers and their data
 *   end with this process in any way; fetch: fetch missing ones (default true); tls: enable
 *   encrypted connections if supported; guest: permissions of unauthenticated clients of Redis,
 *   which is then not reused; packagesHome: state folder of the fetched packages, if different
 * @returns {Promise<Started>}
 * @throws {DragstripError} E_USAGE for an unknown name; the abort reason of `signal`
 */
export async function startServers(names, options) {
  const { home, packagesHome = home, owned = false, fetch = true, onEvent } = options;
  const { tls, guest, signal } = options;
  for (const name of names) await loadServer(name);
  makeHome(home);
  await sweepOwned(home);
  for (const name of names) failedStarts.delete(name);
  const missing = fetch
    ? await fetchServers(names, { home: packagesHome, signal, onEvent })
    : { failures: [] };
  const failures = [...missing.failures];
  const wanted = names.filter((name) => !failures.some((failure) => failure.name === name));
  const context = { home, packagesHome, owned, tls, guest, signal, onEvent };
  /** @type {{ running: RunningServer, reused: boolean }[]} */
  const started = [];
  for (const wave of await inWaves(wanted)) {
    const outcomes = await Promise.allSettled(wave.map((name) => startOne(name, context)));
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') started.push(outcome.value);
      else failures.push({ name: wave[index], error: asTargetError(wave[index], outcome.reason) });
    }
  }
  for (const { name, error } of failures) failedStarts.set(name, error);
  const ownedServers = owned ? started.filter(({ reused }) => !reused) : [];
  const stop = once(async () => {
    await Promise.all(ownedServers.map(({ running }) => stopOwned(running, onEvent)));
  });
  if (signal?.aborted) {
    await stop();
    throw signal.reason;
  }
  return {
    servers: started.map(({ running }) => running),
    reused: started.filter(({ reused }) => reused).map(({ running }) => running.name),
    failures,
    stop,
  };
}

/**
 * @param {readonly string[]} names
 * @returns {Promise<string[][]>} servers first, then proxies, which need the address of their
 *   server
 */
async function inWaves(names) {
  const definitions = await Promise.all(names.map((name) => loadServer(name)));
  const isLater = (/** @type {number} */ i) =>
    (definitions[i].behind ?? []).some((name) => names.includes(name));
  return [names.filter((_, i) => !isLater(i)), names.filter((_, i) => isLater(i))];
}

/**
 * @param {() => Promise<void>} work
 * @returns {() => Promise<void>} function that runs it at the first call; every call waits for it
 */
function once(work) {
  /** @type {Promise<void> | undefined} */
  let done;
  return () => (done ??= work());
}

/**
 * @param {string} name
 * @param {any} error
 */
function asTargetError(name, error) {
  if (error instanceof DragstripError) return error;
  return targetError(`${name}: ${error?.message ?? error}`, undefined, error);
}

/**
 * @param {string} name
 * @param {{ home: string, packagesHome: string, owned: boolean, tls?: boolean, guest?: Guest,
 *   signal?: AbortSignal, onEvent?: OnEvent }} context
 */
async function startOne(name, { home, packagesHome, owned, tls, guest, signal, onEvent }) {
  const lock = `${serversFolder(home)}/${name}`;
  const onWait = () =>
    emit(onEvent, name, 'waiting', 'another Dragstrip process is starting or stopping it');
  return withLock(lock, { signal, timeoutMs: 120_000, onWait }, async () => {
    const running = guest === undefined ? await findRunning(home, name) : null;
    if (running !== null) {
      if (tls && running.tls === undefined && (await loadServer(name)).tls === true) {
        throw targetError(
          `${name}: already running (${listPids(running)}), without TLS`,
          `run \`npx dragstrip servers stop ${name}\`, then start it again`,
        );
      }
      emit(
        onEvent,
        name,
        'reused',
        `already running, ${listPids(running)}, ${listAddress(running)}`,
      );
      return { running, reused: true };
    }
    return { running: await startNew(), reused: false };
  });

  async function startNew() {
    const definition = await loadServer(name);
    const binaries = await definition.find(packagesHome);
    if (binaries === null) {
      throw targetError(`${name}: not installed`, `run \`npx dragstrip servers fetch ${name}\``);
    }
    emit(onEvent, name, 'starting', `${Object.values(binaries.programs)[0]}`);
    if (binaries.root !== undefined) await requireFetched(binaries.root, name);
    const paths = Object.values(binaries.programs);
    const behind = definition.behind?.includes('redis') ? await redisBehind({ home }, name) : null;
    const socket = behind?.address['unix']?.path;
    const user = serverUser(SERVER_NAMES.indexOf(name), { home, packagesHome, paths, socket });
    const encrypts = tls === true && definition.tls === true;
    const how = { owned, user, guest, signal, tls: encrypts };
    const running = await definition.start({ home, binaries, ...how });
    emit(
      onEvent,
      name,
      'ready',
      `${running.version}, ${listPids(running)}, ${listAddress(running)}`,
    );
    return running;
  }
}

/**
 * @param {string} home
 * @param {string} name
 * @returns {Promise<RunningServer | null>} a running server of this folder that replies; remains of
 *   an ended server or interrupted start are removed
 */
async function findRunning(home, name) {
  const running = readRunning(home, name);
  if (running !== null) {
    await probeRunning(running).catch((error) => {
      throw targetError(
        `${name}: running (${listPids(running)}) but not responding: ${error.message}`,
        `run \`npx dragstrip servers stop ${name}\`, then start it again`,
        error,
      );
    });
    return running;
  }
  const record = readRecord(home, name);
  if (record !== null) {
    await endServer(record);
    removeRecord(home, name);
  }
  return null;
}

/**
 * Stops servers of a state folder: SIGTERM, wait, SIGKILL. If the pid of a record now belongs to
 * another process, the record is removed and the process left alone.
 * @param {readonly string[]} names
 * @param {{ home: string, onEvent?: OnEvent }} options
 * @returns {Promise<{ name: string, state: 'ended' | 'killed' | 'gone' | 'none' }[]>} gone: it had
 *   already ended; none: there was none
 * @throws {DragstripError} E_USAGE for an unknown name, E_TARGET if one cannot be stopped
 */
export async function stopServers(names, { home, onEvent }) {
  for (const name of names) await loadServer(name);
  await sweepOwned(home);
  return Promise.all(names.map((name) => stopOne(name, home, onEvent)));
}

/**
 * @param {string} name
 * @param {string} home
 * @param {OnEvent | undefined} onEvent
 */
async function stopOne(name, home, onEvent) {
  const stop = async () => {
    const record = readRecord(home, name);
    if (record === null) return { name, state: /** @type {const} */ ('none') };
    emit(onEvent, name, 'stopping', listPids(record));
    const state = await endServer(record);
    removeRecord(home, name);
    emit(onEvent, name, 'stopped', state);
    return { name, state };
  };
  try {
    return await withLock(`${serversFolder(home)}/${name}`, { timeoutMs: 120_000 }, stop);
  } catch (error) {
    // On a full disk the lock cannot be created, but its server must be stoppable.
    if (error.cause?.code !== 'ENOSPC' && error.cause?.code !== 'EDQUOT') throw error;
    return stop();
  }
}

/**
 * @param {RunningServer} running
 * @param {OnEvent | undefined} onEvent
 */
async function stopOwned(running, onEvent) {
  emit(onEvent, running.name, 'stopping', listPids(running));
  const state = await endServer(running);
  await removeOwned(running);
  emit(onEvent, running.name, 'stopped', state);
}

/**
 * @typedef {object} ServerStatus
 * @property {string} name
 * @property {'running' | 'silent' | 'stopped'} state silent: alive without a reply
 * @property {RunningServer | null} running
 * @property {string | null} reason reason of a missing reply
 * @property {import('../lib/types.js').Binaries | null} binaries null: must be fetched
 */

/**
 * @param {{ home: string }} options
 * @returns {Promise<ServerStatus[]>} status of every server, in the order of the registry
 */
export async function statusServers({ home }) {
  return Promise.all(SERVER_NAMES.map((name) => statusOne(name, home)));
}

/**
 * @param {string} name
 * @param {string} home
 * @returns {Promise<ServerStatus>}
 */
async function statusOne(name, home) {
  const { find } = await loadServer(name);
  const binaries = await find(home);
  const record = readRecord(home, name);
  if (record === null || !isRunning(record)) {
    return { name, state: 'stopped', running: null, reason: null, binaries };
  }
  try {
    await probeRunning(record);
    return { name, state: 'running', running: record, reason: null, binaries };
  } catch (error) {
    return { name, state: 'silent', running: record, reason: error.message, binaries };
  }
}

/**
 * @param {RunningServer} running
 * @throws {DragstripError} E_TARGET: no reply
 */
async function probeRunning({ name, address, credentials = {} }) {
  const { probe } = await loadServer(name);
  await probe(parseAddress(address), await readCredentials(credentials));
}

/**
 * @param {RunningServer} running
 * @returns {string} `pid 7`; for a cluster `pids 7, 8, 9`
 */
export function listPids(running) {
  const pids = processesOf(running).map(({ pid }) => pid);
  return `${pids.length === 1 ? 'pid' : 'pids'} ${pids.join(', ')}`;
}

/** @param {RunningServer} running */
function listAddress({ address }) {
  return Object.entries(address)
    .filter(([, text]) => !text.startsWith('unix:'))
    .map(([name, text]) => (name === 'main' ? text : `${name} ${text}`))
    .join(', ');
}

/**
 * @param {OnEvent | undefined} onEvent
 * @param {string} server
 * @param {ServerEvent['step']} step
 * @param {string} text
 */
function emit(onEvent, server, step, text) {
  onEvent?.({ server, step, text });
}

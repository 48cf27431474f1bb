/**
 * Records of the servers in a state folder: `servers/NAME.json` for servers that keep running, and
 * folders named after their owner for servers that end with it.
 */

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { listFolder } from '../lib/folder.js';
import { ownerMayLive, ownerName } from '../lib/process-identity.js';
import { endServer, isRunning, processesOf } from './process.js';
import { removeSocketFolder, sweepSocketFolders } from './socket-folder.js';

/** @typedef {import('../lib/types.js').RunningServer} RunningServer */

/** Name of the record inside the folder of an owned server. */
const OWNED_RECORD = 'server.json';

/** @param {string} home */
export function serversFolder(home) {
  return join(home, 'servers');
}

/**
 * @param {string} home
 * @param {string} name
 * @returns {RunningServer | null} the record, running or not; null if missing or unreadable
 */
export function readRecord(home, name) {
  return readRecordFile(join(serversFolder(home), `${name}.json`));
}

/**
 * @param {string} home
 * @param {string} name
 * @returns {RunningServer | null} a running server that was ready: owned by this process, otherwise
 *   the persistent one of the folder. Servers owned by other processes are not used
 */
export function readRunning(home, name) {
  const own = `${name}.${ownerName()}.`;
  const mine = listFolder(serversFolder(home)).filter((leaf) => leaf.startsWith(own));
  const records = mine.map((leaf) => readRecordFile(join(serversFolder(home), leaf, OWNED_RECORD)));
  for (const record of [...records, readRecord(home, name)]) {
    if (record !== null && record.version !== '' && isRunning(record)) return record;
  }
  return null;
}

/**
 * @param {string} home
 * @param {readonly string[]} texts addresses as recorded
 * @returns {RunningServer | null} a running server of the folder, of any owner, that has one of
 *   these addresses
 */
export function findRunningAt(home, texts) {
  for (const leaf of listFolder(serversFolder(home))) {
    const path = join(serversFolder(home), leaf);
    const record = readRecordFile(leaf.endsWith('.json') ? path : join(path, OWNED_RECORD));
    if (record === null || !Object.values(record.address).some((text) => texts.includes(text))) {
      continue;
    }
    if (record.version !== '' && isRunning(record)) return record;
  }
  return null;
}

/**
 * @param {string} path
 * @returns {RunningServer | null}
 */
function readRecordFile(path) {
  try {
    const record = JSON.parse(readFileSync(path, 'utf8'));
    const { address } = record;
    const whole =
      processesOf(record).every(({ pid, startTicks }) => pid > 0 && startTicks > 0) &&
      typeof address === 'object' &&
      address !== null;
    return whole ? record : null;
  } catch {
    return null;
  }
}

/**
 * Written synchronously after the start of the process, so that later commands find the server even
 * if this process dies.
 * @param {string} home
 * @param {boolean} owned
 * @param {RunningServer} record
 */
export function writeRecord(home, owned, record) {
  const path = owned
    ? join(record.folder, OWNED_RECORD)
    : join(serversFolder(home), `${record.name}.json`);
  const partial = `${path}.${process.pid}.partial`;
  rmSync(partial, { force: true });
  writeFileSync(partial, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(partial, path);
}

/**
 * @param {string} home
 * @param {string} name name of a server that has ended
 */
export function removeRecord(home, name) {
  const record = readRecord(home, name);
  if (record !== null) removeSocketFolder(record);
  rmSync(join(serversFolder(home), `${name}.json`), { force: true });
}

/**
 * @param {string} home
 * @param {string} name
 * @param {boolean} owned
 * @returns {string} a private folder, created: the persistent one of the server, or a new one named
 *   after its owner
 */
export function makeServerFolder(home, name, owned) {
  // The state folder is private: it contains data and secrets.
  mkdirSync(serversFolder(home), { recursive: true, mode: 0o700 });
  const leaf = owned ? `${name}.${ownerName()}.${randomBytes(2).toString('hex')}` : name;
  const folder = join(serversFolder(home), leaf);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/**
 * Removes the folders of owned servers whose owner was killed, and stops servers that are still
 * running.
 * @param {string} home
 * @returns {Promise<string[]>} the removed folders
 */
export async function sweepOwned(home) {
  sweepSocketFolders();
  const removed = [];
  for (const leaf of listFolder(serversFolder(home))) {
    const match = /^[a-z][a-z0-9-]*\.(\d+\.\d+\.[0-9a-f]{8})\.[0-9a-f]{4}$/.exec(leaf);
    if (match === null || ownerMayLive(match[1])) continue;
    const folder = join(serversFolder(home), leaf);
    const record = readRecordFile(join(folder, OWNED_RECORD));
    if (record !== null) await endServer(record, { graceMs: 1000 });
    await removeFolder(folder);
    removed.push(folder);
  }
  return removed;
}

/** @param {RunningServer} server ended server, with its owner or before */
export async function removeOwned(server) {
  removeSocketFolder(server);
  await removeFolder(server.folder);
}

/**
 * Removes a server's folder; an ending server may still write to it briefly.
 * @param {string} folder
 */
export async function removeFolder(folder) {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

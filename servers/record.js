/**
 * What is known of the servers of a state folder: `servers/NAME.json` for one that stays, and
 * folders whose names say who owns them for those that end with their owner.
 */

import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, ownIdentity } from '../lib/process-identity.js';
import { endProcess } from './process.js';

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
 * @returns {RunningServer | null} as recorded, whether it lives or not; null where there is none or
 *   it cannot be read
 */
export function readRecord(home, name) {
  return readRecordFile(join(serversFolder(home), `${name}.json`));
}

/**
 * @param {string} home
 * @param {string} name
 * @returns {RunningServer | null} one that has been ready and lives: of this very process, or else
 *   the lasting one of the folder. Other processes' own servers end with them and are not for us
 */
export function readRunning(home, name) {
  const { pid, startTicks } = ownIdentity();
  const mine = listFolders(home).filter((leaf) => leaf.startsWith(`${name}.${pid}.${startTicks}.`));
  const records = mine.map((leaf) => readRecordFile(join(serversFolder(home), leaf, OWNED_RECORD)));
  for (const record of [...records, readRecord(home, name)]) {
    if (record !== null && record.version !== '' && isAlive(record)) return record;
  }
  return null;
}

/** @param {string} home */
function listFolders(home) {
  try {
    return readdirSync(serversFolder(home));
  } catch {
    return [];
  }
}

/**
 * @param {string} path
 * @returns {RunningServer | null}
 */
function readRecordFile(path) {
  try {
    const record = JSON.parse(readFileSync(path, 'utf8'));
    const { pid, startTicks, address } = record;
    const whole = pid > 0 && startTicks > 0 && typeof address === 'object' && address !== null;
    return whole ? record : null;
  } catch {
    return null;
  }
}

/**
 * Written at once, without a turn of the event loop between the start of a process and its record:
 * if this process dies then, the next command still finds the server.
 * @param {string} home
 * @param {boolean} owned
 * @param {RunningServer} record
 */
export function writeRecord(home, owned, record) {
  const path = owned
    ? join(record.folder, OWNED_RECORD)
    : join(serversFolder(home), `${record.name}.json`);
  const partial = `${path}.${process.pid}.partial`;
  writeFileSync(partial, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(partial, path);
}

/**
 * @param {string} home
 * @param {string} name
 */
export function removeRecord(home, name) {
  rmSync(join(serversFolder(home), `${name}.json`), { force: true });
}

/**
 * @param {string} home
 * @param {string} name
 * @param {boolean} owned
 * @returns {string} a private folder, made: the lasting one of that server, or a new one whose name
 *   has the owner's pid and start time
 */
export function makeServerFolder(home, name, owned) {
  // The state folder is private as a whole: sockets without passwords and data lie in it.
  mkdirSync(serversFolder(home), { recursive: true, mode: 0o700 });
  const { pid, startTicks } = ownIdentity();
  const leaf = owned ? `${name}.${pid}.${startTicks}.${randomBytes(3).toString('hex')}` : name;
  const folder = join(serversFolder(home), leaf);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/**
 * Removes the folders of owned servers whose owner is gone (killed before it could), and ends the
 * server itself should it still live.
 * @param {string} home
 * @returns {Promise<string[]>} the folders removed
 */
export async function sweepOwned(home) {
  const removed = [];
  for (const leaf of listFolders(home)) {
    const match = /^[a-z][a-z0-9-]*\.(\d+)\.(\d+)\.[0-9a-f]{6}$/.exec(leaf);
    if (match === null) continue;
    if (isAlive({ pid: Number(match[1]), startTicks: Number(match[2]) })) continue;
    const folder = join(serversFolder(home), leaf);
    const record = readRecordFile(join(folder, OWNED_RECORD));
    if (record !== null) await endProcess(record, { graceMs: 1000 });
    await removeFolder(folder);
    removed.push(folder);
  }
  return removed;
}

/**
 * Removes a server's folder; a dying server may still write there for an instant.
 * @param {string} folder
 */
export async function removeFolder(folder) {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

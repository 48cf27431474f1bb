/**
 * Finds the programs of a server: on PATH, otherwise in the packages fetched into the state folder.
 */

import { constants, existsSync } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** @typedef {import('../lib/types.js').Binaries} Binaries */

/** Debian installs servers in folders that are not on an ordinary user's PATH. */
const EXTRA_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/bin'];
/** Private library folders of packages, found by absolute path only. */
const PRIVATE = ['pulseaudio'];

/**
 * @param {string} program plain name
 * @param {string[]} [folders] default: PATH and the system's sbin folders
 * @returns {Promise<string | null>} its path
 */
export async function findProgram(program, folders = pathFolders()) {
  for (const folder of folders) {
    const path = join(folder, program);
    const isFile = await stat(path).then(
      (entry) => entry.isFile(),
      () => false,
    );
    if (!isFile) continue;
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return path;
  }
  return null;
}

/** @returns {string[]} the folders of PATH only */
export function namedFolders() {
  return (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
}

function pathFolders() {
  return [...new Set([...namedFolders(), ...EXTRA_FOLDERS])];
}

/**
 * @param {string} home
 * @param {string} server
 * @returns {string} folder of a server's unpacked packages; exists only if complete
 */
export function packagesFolder(home, server) {
  return join(home, 'packages', server);
}

/**
 * @param {string} program path
 * @returns {string | null} its folder of unpacked packages, with its libraries; null: a program of
 *   the system
 */
export function packagesRootOf(program) {
  return /^(.*\/packages\/[a-z]+)\/usr\/s?bin\/[^/]+$/.exec(program)?.[1] ?? null;
}

/**
 * @param {string} root a folder of unpacked packages
 * @returns {Promise<string>} LD_LIBRARY_PATH for its programs
 */
export async function libraryPath(root) {
  /** @type {string[]} */
  const folders = [];
  for (const base of [join(root, 'usr/lib'), join(root, 'lib')]) {
    for (const entry of await readdir(base, { withFileTypes: true }).catch(() => [])) {
      if (!entry.isDirectory() || !/-linux-gnu/.test(entry.name)) continue;
      const folder = join(base, entry.name);
      folders.push(folder, ...PRIVATE.map((name) => join(folder, name)).filter(existsSync));
    }
    folders.push(base);
  }
  return folders.join(delimiter);
}

/**
 * @param {{ required: readonly string[], optional?: readonly string[], home: string, servers:
 *   readonly string[], accept?: (binaries: Binaries) => Promise<boolean> }} wanted servers: servers
 *   whose fetched packages contain them; accept: rejects unsuitable programs on PATH (a MariaDB
 *   without HandlerSocket)
 * @returns {Promise<Binaries | null>}
 */
export async function findBinaries({ required, optional = [], home, servers, accept }) {
  const system = await collect(required, optional, pathFolders());
  if (system !== null) {
    /** @type {Binaries} */
    const binaries = { programs: system, env: {}, source: 'path' };
    if (accept === undefined || (await accept(binaries))) return binaries;
  }
  for (const server of servers) {
    const root = packagesFolder(home, server);
    const folders = ['usr/bin', 'usr/sbin'].map((folder) => join(root, folder));
    const fetched = await collect(required, optional, folders);
    if (fetched === null) continue;
    const env = { LD_LIBRARY_PATH: await libraryPath(root) };
    return { programs: fetched, env, source: 'fetched', root };
  }
  return null;
}

/**
 * @param {readonly string[]} required
 * @param {readonly string[]} optional
 * @param {string[]} folders
 */
async function collect(required, optional, folders) {
  /** @type {Record<string, string>} */
  const programs = {};
  for (const program of [...required, ...optional]) {
    const path = await findProgram(program, folders);
    if (path !== null) programs[program] = path;
    else if (required.includes(program)) return null;
  }
  return programs;
}

/**
 * Identity of a driver's code. The version is insufficient, since a checkout has the version of the
 * last release. The benchmark's process locates the package, not this module.
 */

import { createHash } from 'node:crypto';
import { readdir, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { readManifest } from '../../lib/packages.js';

/** @typedef {NonNullable<import('../../lib/result.js').Result['storages'][number]['driver']>}
 *   DriverIdentity */

/** A package with more files is not hashed: it is not a driver, or contains a build folder. */
const FILES_MAX = 20_000;

/**
 * @param {string} folder folder of the package
 * @param {{ from?: string, shownFrom: readonly string[] }} how from: folder that was packed;
 *   shownFrom: the path is relative to the first of these that contains it, since results are
 *   shared
 * @returns {Promise<DriverIdentity>}
 */
export async function identify(folder, { from, shownFrom }) {
  const real = await realpath(folder);
  const manifest = readManifest(real);
  return {
    version: manifest?.['version'] === undefined ? null : String(manifest['version']),
    path: shownPath(real, shownFrom),
    ...(await commitOf(from ?? real)),
    integrity: await integrityOf(real),
    hash: await hashOf(real),
  };
}

/**
 * @param {string} folder
 * @param {readonly string[]} bases
 */
function shownPath(folder, bases) {
  for (const base of bases) {
    const inside = path.relative(base, folder);
    if (inside === '') return '.';
    if (!inside.startsWith('..') && !path.isAbsolute(inside)) return inside;
  }
  const at = folder.lastIndexOf(`${path.sep}node_modules${path.sep}`);
  return at < 0 ? path.basename(folder) : folder.slice(at + 1);
}

/**
 * @param {string} folder
 * @returns {Promise<{ commit: string | null, changed: boolean | null }>} state of its checkout;
 *   nulls outside a checkout, for example in node_modules
 */
async function commitOf(folder) {
  const { execa } = await import('execa'); // see servers/command.js
  const none = { commit: null, changed: null };
  if (folder.split(path.sep).includes('node_modules')) return none;
  const git = (/** @type {string[]} */ ...args) =>
    execa('git', ['-C', folder, ...args], { reject: false, stdin: 'ignore', timeout: 10_000 });
  const head = await git('rev-parse', 'HEAD');
  if (head.failed) return none;
  const status = await git('status', '--porcelain', '--', '.');
  return { commit: head.stdout.trim(), changed: status.failed ? null : status.stdout !== '' };
}

/**
 * @param {string} folder
 * @returns {Promise<string | null>} packages that npm installed there, from npm's own record
 */
async function integrityOf(folder) {
  const at = folder.lastIndexOf(`${path.sep}node_modules${path.sep}`);
  if (at < 0) return null;
  const modules = folder.slice(0, at + '/node_modules'.length);
  try {
    const lock = JSON.parse(await readFile(path.join(modules, '.package-lock.json'), 'utf8'));
    const name = path.relative(path.dirname(modules), folder).split(path.sep).join('/');
    return lock.packages[name]?.integrity ?? null;
  } catch {
    return null;
  }
}

/**
 * @param {string} folder
 * @returns {Promise<string | null>} SHA-256 over names and contents of its files, without
 *   dependencies
 */
export async function hashOf(folder) {
  const files = await filesIn(folder, '');
  if (files === null) return null;
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const content = await readFile(path.join(folder, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/**
 * @param {string} root
 * @param {string} inside
 * @returns {Promise<string[] | null>} null: too many
 */
async function filesIn(root, inside) {
  /** @type {string[]} */
  const files = [];
  for (const entry of await readdir(path.join(root, inside), { withFileTypes: true })) {
    const name = inside === '' ? entry.name : `${inside}/${entry.name}`;
    if (entry.name === 'node_modules' || entry.name === '.git') continue;
    if (entry.isFile()) files.push(name);
    if (!entry.isDirectory()) continue;
    const more = await filesIn(root, name);
    if (more === null || files.length + more.length > FILES_MAX) return null;
    files.push(...more);
  }
  return files;
}

/**
 * Other versions of a driver beside the installed one (`--against ioredis@5`): installed from npm
 * into the state folder, without their scripts, and raced in the same rounds. Which package a
 * benchmark's process loads is decided in driver-hooks.js.
 */

import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { targetError, usageError } from '../lib/errors.js';
import { makeHome } from '../lib/home.js';
import { contendersOf } from './contenders.js';

/** @typedef {import('./targets.js').StorageTarget} StorageTarget */

/**
 * @typedef {object} Driver another version of a package
 * @property {string} name of the package
 * @property {string} version exact
 * @property {string} folder that has it in node_modules
 */

const INSTALL_LIMIT_MS = 180_000;

/**
 * @param {string} text `ioredis@5`, `@scope/name@^1.2`
 * @returns {{ name: string, range: string }}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function parsePackage(text) {
  const match = /^((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*)@(\S+)$/i.exec(text);
  // npm would read a version that begins with a dash as an option.
  if (match !== null && !match[2].startsWith('-')) return { name: match[1], range: match[2] };
  throw usageError(
    `--against ${JSON.stringify(text)}: not a package with a version`,
    'write for example --against ioredis@5',
  );
}

/**
 * @param {readonly string[]} against
 * @param {import('./contenders.js').Choice} workload
 * @returns {Promise<string[] | null>} names of our storages whose drivers are meant; null: none is
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where none has such a driver
 */
export async function storagesOfPackages(against, workload) {
  if (against.length === 0) return null;
  const { names, load } = contendersOf(workload);
  /** @type {string[]} */
  const found = [];
  for (const text of against) {
    const { name } = parsePackage(text);
    const before = found.length;
    for (const storage of await names()) {
      if ((await load(storage)).package === name) found.push(storage);
    }
    if (found.length === before) throw noDriver(name);
  }
  return [...new Set(found)];
}

/** @param {string} name */
function noDriver(name) {
  return usageError(
    `--against ${name}: no storage of this run uses that driver`,
    'npx dragstrip doctor shows the drivers; name the storage by --storages',
  );
}

/**
 * @param {StorageTarget[]} storages of the run
 * @param {{ against: readonly string[] }} plan
 * @param {string} home the state folder
 * @returns {Promise<StorageTarget[]>} the same, each with its contenders behind it
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: no storage has that driver;
 *   E_TARGET: it
 *   cannot be installed
 */
export async function withDriverVersions(storages, { against }, home) {
  const all = [...storages];
  for (const text of against) {
    const { name } = parsePackage(text);
    // A file of rows that one version of an embedded store wrote is not for another to read.
    const meant = storages.filter(
      ({ definition }) => definition.package === name && definition.fill === undefined,
    );
    if (meant.length === 0) throw noDriver(name);
    const driver = await installDriver(text, home);
    for (const base of meant) {
      const { definition } = base;
      const label = `${definition.name}@${driver.version}`;
      if (all.some((one) => one.definition.name === label && one.profile === base.profile)) {
        throw usageError(`--against ${text}: ${driver.version} is in this run already`);
      }
      const contender = Object.freeze({ ...definition, name: label });
      const target = { ...base, definition: contender, version: driver.version, driver };
      all.splice(all.indexOf(base) + 1, 0, { ...target, base: definition.name });
    }
  }
  return all;
}

/**
 * @param {string} text `ioredis@5`
 * @param {string} home
 * @returns {Promise<Driver>} the one that was installed for that text before, if there is one
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET with what npm said
 */
export async function installDriver(text, home) {
  const { name } = parsePackage(text);
  const parent = path.join(home, 'drivers');
  const folder = path.join(parent, text.replace(/[^A-Za-z0-9._@-]/g, '+'));
  const version = versionIn(folder, name);
  if (version !== null) return { name, version, folder };
  makeHome(home);
  await mkdir(parent, { recursive: true });
  const building = await mkdtemp(path.join(parent, '.installing-'));
  try {
    // Without a package.json here npm would install into a parent folder.
    await writeFile(path.join(building, 'package.json'), '{ "private": true }\n');
    await runNpm(text, building);
    if (versionIn(building, name) === null) {
      throw targetError(`--against ${text}: npm could not install it: there is no such package`);
    }
    await rm(folder, { recursive: true, force: true }); // an incomplete installation
    await rename(building, folder);
  } finally {
    await rm(building, { recursive: true, force: true });
  }
  return { name, version: versionIn(folder, name) ?? '', folder };
}

/**
 * @param {string} text
 * @param {string} cwd
 */
async function runNpm(text, cwd) {
  const script = process.env['npm_execpath'];
  const [program, ...first] =
    script !== undefined && /\.[cm]?js$/.test(script) ? [process.execPath, script] : ['npm'];
  const args = [...first, 'install', '--ignore-scripts', '--no-audit', '--no-fund', text];
  const { failed, stderr, shortMessage } = await execa(program, args, {
    cwd,
    reject: false,
    stdin: 'ignore',
    timeout: INSTALL_LIMIT_MS,
  });
  if (!failed) return;
  const lines = String(stderr ?? '').split('\n');
  const said = lines.find((line) => /^npm (ERR!|error) (?!code)\S/.test(line)) ?? shortMessage;
  throw targetError(
    `--against ${text}: npm could not install it: ${String(said).slice(0, 200)}`,
    `npm view ${text} version shows whether there is one`,
  );
}

/**
 * @param {string} folder
 * @param {string} name
 * @returns {string | null}
 */
function versionIn(folder, name) {
  const manifest = path.join(folder, 'node_modules', name, 'package.json');
  if (!existsSync(manifest)) return null;
  try {
    return String(JSON.parse(readFileSync(manifest, 'utf8')).version);
  } catch {
    return null; // half an installation is none
  }
}

/**
 * Fetches servers that are not installed: packages of Debian or Ubuntu unpacked into the state
 * folder, or downloads defined by a server. Without root; nothing is installed, and nothing outside
 * the folder is modified.
 *
 * Packages are unpacked into a temporary folder and renamed when complete and working, so an
 * existing folder is complete.
 */

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DragstripError, targetError } from '../lib/errors.js';
import { makeHome } from '../lib/home.js';
import { openApt } from './apt.js';
import { recordFetched } from './fetched.js';
import { chooseLibraryPackages, findMissingLibraries } from './libraries.js';
import { withLock } from './lock.js';
import { loadServer } from './registry.js';

/** @typedef {import('../lib/types.js').ServerDefinition} ServerDefinition */
/** @typedef {import('./lifecycle.js').OnEvent} OnEvent */

/** Prefix of temporary folders; the next fetch removes those of an interrupted one. */
const PARTIAL = '.partial-';
/** Maximum depth of library dependencies; curl's is four on Debian 12. */
const LIBRARY_ROUNDS = 8;

/**
 * @typedef {object} Fetched
 * @property {{ name: string, source: 'path' | 'fetched', fetched: boolean }[]} servers fetched: by
 *   this call; otherwise already available
 * @property {import('./lifecycle.js').Failure[]} failures servers that are not available
 */

/**
 * @param {readonly string[]} names
 * @param {{ home: string, signal?: AbortSignal, onEvent?: OnEvent }} options
 * @returns {Promise<Fetched>}
 * @throws {DragstripError} E_USAGE: unknown name; the abort reason of `signal`
 */
export async function fetchServers(names, { home, signal, onEvent }) {
  /** @type {Fetched} */
  const result = { servers: [], failures: [] };
  const definitions = await Promise.all(names.map((name) => loadServer(name)));
  const missing = await listMissing(definitions, home, result);
  if (missing.length === 0) return result;
  const packages = join(home, 'packages');
  makeHome(home);
  await mkdir(packages, { recursive: true, mode: 0o700 });
  const server = missing.map(({ name }) => name).join(', ');
  const onWait = () =>
    onEvent?.({ server, step: 'waiting', text: 'another Dragstrip process is fetching' });
  await withLock(packages, { signal, onWait }, async () => {
    // The previous holder of the lock may have fetched them.
    const wanted = await listMissing(missing, home, result);
    if (wanted.length > 0) await fetchAll(wanted, packages, result, { signal, onEvent });
  });
  return result;
}

/**
 * @param {ServerDefinition[]} definitions
 * @param {string} home
 * @param {Fetched} result available ones are added
 */
async function listMissing(definitions, home, result) {
  const missing = [];
  for (const definition of definitions) {
    const binaries = await definition.find(home);
    if (binaries === null) missing.push(definition);
    else result.servers.push({ name: definition.name, source: binaries.source, fetched: false });
  }
  return missing;
}

/**
 * @param {ServerDefinition[]} wanted
 * @param {string} packages folder
 * @param {Fetched} result
 * @param {{ signal?: AbortSignal, onEvent?: OnEvent }} options
 */
async function fetchAll(wanted, packages, result, { signal, onEvent }) {
  for (const leaf of await readdir(packages)) {
    if (leaf.startsWith(PARTIAL)) await rm(join(packages, leaf), { recursive: true, force: true });
  }
  const folder = await mkdtemp(join(packages, PARTIAL));
  try {
    const apt = shareApt(wanted, folder, { signal, onEvent });
    for (const definition of wanted) {
      const { name } = definition;
      try {
        const text = await fetchOne(definition, apt, join(folder, name), { signal, onEvent });
        await rename(join(folder, name), join(packages, name));
        onEvent?.({ server: name, step: 'fetched', text });
        result.servers.push({ name, source: 'fetched', fetched: true });
      } catch (error) {
        if (!(error instanceof DragstripError)) throw error;
        result.failures.push({ name, error });
      }
    }
  } catch (error) {
    if (!(error instanceof DragstripError)) throw error;
    for (const { name } of wanted) result.failures.push({ name, error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Reads the package lists once for all packaged servers, and not at all without any.
 * @param {ServerDefinition[]} wanted
 * @param {string} folder
 * @param {{ signal?: AbortSignal, onEvent?: OnEvent }} options
 * @returns {() => Promise<import('./apt.js').Apt>}
 */
function shareApt(wanted, folder, { signal, onEvent }) {
  const packaged = wanted.filter((definition) => definition.fetch === undefined);
  const server = packaged.map(({ name }) => name).join(', ');
  /** @type {Promise<import('./apt.js').Apt> | undefined} */
  let apt;
  return () => {
    if (apt === undefined) {
      onEvent?.({ server, step: 'fetching', text: 'reading package lists' });
      apt = openApt(join(folder, 'apt'), { signal });
    }
    return apt;
  };
}

/**
 * @param {ServerDefinition} definition
 * @param {() => Promise<import('./apt.js').Apt>} apt
 * @param {string} root destination
 * @param {{ signal?: AbortSignal, onEvent?: OnEvent }} options
 * @returns {Promise<string>} description of the result
 */
async function fetchOne(definition, apt, root, { signal, onEvent }) {
  const { name } = definition;
  if (definition.fetch === undefined) {
    const unpacked = await unpackServer(definition, await apt(), root, { signal, onEvent });
    return `${unpacked.length} ${unpacked.length === 1 ? 'package' : 'packages'} unpacked`;
  }
  await mkdir(root, { recursive: true });
  const emit = (/** @type {string} */ text) => onEvent?.({ server: name, step: 'fetching', text });
  const fetched = await definition.fetch({ root, signal, onEvent: emit });
  await recordFetched(root, [fetched]);
  return fetched;
}

/**
 * @param {Pick<ServerDefinition, 'name' | 'packages' | 'programs'>} definition
 * @param {import('./apt.js').Apt} apt
 * @param {string} root destination
 * @param {{ signal?: AbortSignal, onEvent?: OnEvent }} [options]
 * @returns {Promise<string[]>} names of the packages
 */
export async function unpackServer(
  { name, packages, programs = [] },
  apt,
  root,
  { signal, onEvent } = {},
) {
  const wanted = await ownPackages(packages, apt);
  onEvent?.({ server: name, step: 'fetching', text: wanted.join(', ') });
  const unpacked = await apt.unpack(wanted, root);
  const unpackedNames = [...wanted];
  for (let round = 0; round < LIBRARY_ROUNDS; round += 1) {
    const missing = await findMissingLibraries(root, signal);
    if (missing.length === 0) break;
    const { depends } = await apt.look(unpackedNames);
    const chosen = chooseLibraryPackages(missing, depends, unpackedNames);
    if (chosen.length === 0) break;
    onEvent?.({ server: name, step: 'fetching', text: chosen.join(', ') });
    unpacked.push(...(await apt.unpack(chosen, root)));
    unpackedNames.push(...chosen);
  }
  const bins = ['usr/bin', 'usr/sbin'].map((bin) => join(root, bin));
  const absent = programs.filter((program) => !bins.some((bin) => existsSync(join(bin, program))));
  const lacking = await findMissingLibraries(root, signal, programs);
  if (absent.length > 0 || lacking.length > 0) {
    throw targetError(
      `${name}: missing from the packages ${unpackedNames.join(' ')}: ${[...absent, ...lacking].join(', ')}`,
      `install it yourself (${packages.join(' ')}), or give the address of a running one`,
    );
  }
  await recordFetched(root, unpacked);
  return unpackedNames;
}

/**
 * The named packages, and for metapackages their versioned package: on Ubuntu 22.04
 * `mariadb-server` only depends on `mariadb-server-10.6`.
 * @param {readonly string[]} packages
 * @param {import('./apt.js').Apt} apt
 */
async function ownPackages(packages, apt) {
  const { known, depends } = await apt.look(packages);
  const own = new Set(known);
  for (const candidate of depends) {
    const behind = packages.find((name) => candidate.startsWith(`${name}-`));
    if (behind === undefined) continue;
    if (/^\d+(\.\d+)*$/.test(candidate.slice(behind.length + 1))) own.add(candidate);
  }
  return [...own];
}

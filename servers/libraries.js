/**
 * Finds shared libraries missing for unpacked programs, and the packages that contain them.
 */

import { open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runCommand } from './command.js';
import { libraryPath } from './programs.js';

/** Never unpacked: the C library and its loader must be the system's. */
const SYSTEM_ONLY = /^(libc6|libc-bin|libpam-modules)|-perl$|-dev$|-data$|-common$/;
/** Libraries whose package is named after a different library. */
const ALIASES = /** @type {Record<string, string>} */ ({ libcrypto: 'libssl', liblber: 'libldap' });

/**
 * @param {string} root folder of unpacked packages
 * @param {AbortSignal} [signal]
 * @param {readonly string[]} [programs] programs to check; default: all programs and
 *   modules
 * @returns {Promise<string[]>} sonames missing from the system and `root`, `libaio.so.1`
 */
export async function findMissingLibraries(root, signal, programs) {
  const all = await listElfFiles(root);
  const files = all.filter((file) => programs === undefined || programs.includes(basename(file)));
  if (files.length === 0) return [];
  const env = { LD_LIBRARY_PATH: await libraryPath(root) };
  // ldd fails if one of the files is not dynamic; only its output matters.
  const { output } = await runCommand('ldd', files, { env, signal });
  const missing = new Set();
  for (const match of output.matchAll(/^\s*(\S+) => not found/gm)) missing.add(match[1]);
  return [...missing];
}

/** @param {string} root */
async function listElfFiles(root) {
  const files = [];
  for (const folder of ['usr/bin', 'usr/sbin', 'usr/lib']) {
    const entries = await readdir(join(root, folder), {
      withFileTypes: true,
      recursive: true,
    }).catch(() => []);
    for (const entry of entries) {
      if (!entry.isFile()) continue;
      // Contains programs too: usr/lib/chromium/chromium.
      if (folder === 'usr/lib' && !/^[^.]+$|\.so(\.|$)/.test(entry.name)) continue;
      const path = join(entry.parentPath, entry.name);
      if (await isElf(path)) files.push(path);
    }
  }
  return files;
}

/** @param {string} path */
async function isElf(path) {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.toString('latin1') === '\x7fELF';
  } finally {
    await file.close();
  }
}

/**
 * Debian names a library's package for its soname (policy 8.1): libaio.so.1 is in libaio1, or
 * libaio1t64 since the change of time_t. If the name does not match (libpam_misc.so.0 is in
 * libpam0g), all libraries among the dependencies are used.
 * @param {readonly string[]} sonames
 * @param {readonly string[]} depends packages that the unpacked ones depend on
 * @param {readonly string[]} taken already unpacked
 * @returns {string[]} packages to unpack; empty if none matches
 */
export function chooseLibraryPackages(sonames, depends, taken) {
  const candidates = depends.filter(
    (name) => /^lib|^zlib1g/.test(name) && !SYSTEM_ONLY.test(name) && !taken.includes(name),
  );
  const chosen = new Set();
  for (const soname of sonames) {
    const fitting = candidates.filter((name) => fits(soname, name));
    for (const name of fitting.length > 0 ? fitting : candidates) chosen.add(name);
  }
  return [...chosen];
}

/**
 * @param {string} soname
 * @param {string} packageName
 */
function fits(soname, packageName) {
  const match = /^(.+?)\.so(?:\.([0-9.]+))?$/.exec(soname);
  if (match === null) return false;
  const written = match[1]
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/^libz$/, 'zlib');
  const base = written.replace(/^(libcrypto|liblber)/, (name) => ALIASES[name]);
  const version = match[2] ?? '';
  const expected = /\d$/.test(base) && version !== '' ? `${base}-${version}` : base + version;
  if (packageName.startsWith(expected))
    return /^(t64|v\d+|ldbl|g)*$/.test(packageName.slice(expected.length));
  // libicuuc.so.72 and libicui18n.so.72 are both in libicu72.
  const stem = packageName.replace(/[-.]?\d[\d.]*(t64|v\d+)?$/, '');
  return stem.length > 4 && base.startsWith(stem) && packageName.includes(version);
}

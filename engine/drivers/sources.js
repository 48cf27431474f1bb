/**
 * Sources named by `--against`: versions of a package in npm's registry, or the user's code (a
 * folder, a checkout or a tarball). Parsed here; install.js fetches and installs them.
 */

import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { usageError } from '../../lib/errors.js';
import { readManifest } from '../../lib/packages.js';

/**
 * @typedef {object} DriverSource
 * @property {string} text text of the option
 * @property {string} name package that adapters import
 * @property {string} package its own name, which differs in a fork
 * @property {'registry' | 'folder' | 'tarball'} kind
 * @property {string} [option] option that named it; absent: --against
 * @property {string} spec argument of `npm pack`: `ioredis@5`, or an absolute path
 */

const NAME = String.raw`(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*`;
const NAMED = new RegExp(`^(${NAME})@(.+)$`, 'i');
const TAR_BLOCK = 512;
/** A packed file may claim any size; the largest driver has about ten megabytes. */
const TARBALL_MAX = 256 * 2 ** 20;

/**
 * @param {string} text `ioredis@5`, `ioredis@4,5,6`, `@scope/name@^1.2`, `.`, `./fork`, `fork.tgz`,
 *   `ioredis@./fork` for a fork of another name
 * @param {string} [cwd] base of relative paths
 * @returns {DriverSource[]}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function sourcesOf(text, cwd = process.cwd()) {
  const [, name = '', rest = ''] = NAMED.exec(text) ?? [];
  const place = rest.replace(/^file:/, '');
  // `NAME@fork.tgz` names a package, unless a file has this name.
  if (isPath(text) && !(isPath(place) && !existsSync(path.resolve(cwd, text)))) {
    return [pathSource(text, text, undefined, cwd)];
  }
  if (name === '') throw notUnderstood(text);
  if (isPath(place)) return [pathSource(text, place, name, cwd)];
  return rest.split(',').map((part) => {
    const range = part.trim();
    // npm would parse a version that begins with a dash as an option.
    if (range === '' || range.startsWith('-')) throw notUnderstood(text);
    const spec = `${name}@${range}`;
    return { text: spec, name, package: name, kind: 'registry', spec };
  });
}

/** @param {string} text */
function notUnderstood(text) {
  return usageError(
    `--against ${JSON.stringify(text)}: neither a package with a version nor a path`,
    'write for example --against ioredis@5, --against ./my-fork or --against fork.tgz',
  );
}

/** @param {string} text */
function isPath(text) {
  return /^\.{1,2}$|^\.{0,2}[/\\]|\.tgz$|\.tar\.gz$/.test(text) || path.isAbsolute(text);
}

/**
 * @param {string} text
 * @param {string} place
 * @param {string | undefined} name
 * @param {string} cwd
 * @returns {DriverSource}
 */
function pathSource(text, place, name, cwd) {
  const spec = path.resolve(cwd, place);
  const label = `--against ${text}`;
  if (!existsSync(spec)) throw usageError(`${label}: no such folder or tarball`);
  const kind = statSync(spec).isDirectory() ? 'folder' : 'tarball';
  const manifest = kind === 'folder' ? readManifest(spec) : readTarballManifest(spec);
  const packageName = manifest?.['name'];
  if (typeof packageName !== 'string' || typeof manifest?.['version'] !== 'string') {
    throw usageError(
      `${label}: ${kind === 'folder' ? 'its package.json' : 'the tarball'} has no name and version`,
      'name the folder of an npm package, or a tarball created by npm pack',
    );
  }
  return { text, name: name ?? packageName, package: packageName, kind, spec };
}

/**
 * The first package.json of a tarball; npm writes it before all others.
 * @param {string} file
 * @returns {Record<string, any> | null} null: none
 */
function readTarballManifest(file) {
  try {
    const bytes = gunzipSync(readFileSync(file), { maxOutputLength: TARBALL_MAX });
    for (let at = 0; at + TAR_BLOCK <= bytes.length; ) {
      const name = bytes.toString('utf8', at, at + 100).replace(/\0.*$/s, '');
      const size = Number.parseInt(bytes.toString('latin1', at + 124, at + 136), 8);
      // A negative size would move back to the same position, forever.
      if (name === '' || !(size >= 0)) return null;
      const start = at + TAR_BLOCK;
      if (/^[^/]+\/package\.json$/.test(name)) {
        return JSON.parse(bytes.toString('utf8', start, start + size));
      }
      at = start + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
    }
  } catch {
    return null; // not a tarball
  }
  return null;
}

/**
 * Packages of their own for what is of use without the harness: the HandlerSocket client and the
 * mutex, with the files that they import and their types, without dependencies.
 *
 *     node scripts/build-packages.js FOLDER
 */

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { importsOf } from './imports.js';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');

/** @type {Readonly<Record<string, { entry: string, docs: string, about: string }>>} */
const PACKAGES = Object.freeze({
  'dragstrip-handlersocket': {
    entry: 'storages/handlersocket/index',
    docs: 'docs/handlersocket.md',
    about: 'A client of HandlerSocket: batches, pipelining, bounded queues',
  },
  'dragstrip-mutex': {
    entry: 'storages/mutex/index',
    docs: 'docs/mutex.md',
    about: 'A distributed lock on Redis, over one name or several',
  },
});

const out = path.resolve(process.argv[2] ?? 'packages');
execFileSync(process.execPath, [path.join(ROOT, 'scripts/build-types.js')], { stdio: 'inherit' });
for (const name of Object.keys(PACKAGES)) build(name);

/** @param {string} name */
function build(name) {
  const { entry, docs, about } = PACKAGES[name];
  const folder = path.join(out, name);
  rmSync(folder, { recursive: true, force: true });
  for (const file of reached(`${entry}.js`)) copy(file, folder);
  for (const file of typesOf(`types/${entry}.d.ts`)) copy(file, folder);
  copy(`types/${entry}.d.cts`, folder);
  copy('LICENSE', folder);
  copyFileSync(path.join(ROOT, docs), path.join(folder, 'README.md'));
  const side = (/** @type {string} */ end) => ({
    types: `./types/${entry}.${end}`,
    default: `./${entry}.js`,
  });
  const { version, license, engines } = JSON.parse(
    readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
  );
  const manifest = {
    ...{ name, version, description: about, license, type: 'module', engines },
    exports: { '.': { import: side('d.ts'), require: side('d.cts') } },
  };
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const args = ['pack', '--silent', '--pack-destination', out];
  execFileSync('npm', args, { cwd: folder, stdio: 'inherit' });
}

/**
 * @param {string} file
 * @param {string} folder
 */
function copy(file, folder) {
  const target = path.join(folder, file);
  mkdirSync(path.dirname(target), { recursive: true });
  copyFileSync(path.join(ROOT, file), target);
}

/**
 * @param {string} entry
 * @returns {Set<string>} the files that it imports, and itself
 */
function reached(entry) {
  const files = new Set([entry]);
  for (const file of files) {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    for (const to of importsOf(file, text)) files.add(to);
  }
  return files;
}

/**
 * @param {string} entry
 * @returns {Set<string>} declarations, those of types that are imported included
 */
function typesOf(entry) {
  const files = new Set([entry]);
  for (const file of files) {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    for (const [, to] of text.matchAll(/["'](\.{1,2}\/[^"']+)\.js["']/g)) {
      const found = `${path.posix.join(path.posix.dirname(file), to)}.d.ts`;
      if (existsSync(path.join(ROOT, found))) files.add(found);
    }
  }
  return files;
}

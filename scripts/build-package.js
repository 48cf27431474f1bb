/**
 * Builds one of the packages in packages/, in whose folder it is run: what is of use without the
 * harness, with the files that it imports, their types and its pages, without dependencies. The
 * code has one copy, where the harness has it; this makes dist/ of it. `npm pack` runs it:
 *
 *     npm pack --ignore-scripts=false --workspace dragstrip-handlersocket
 */

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { importsOf } from './imports.js';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');
const HERE = process.cwd();
const DIST = path.join(HERE, 'dist');

const { name, exports: entries, files } = JSON.parse(read(path.join(HERE, 'package.json')));
const entry = entries['.'].import.default.replace(/^\.\/dist\/|\.js$/g, '');
const docs = path.basename(HERE);

execFileSync(process.execPath, [path.join(ROOT, 'scripts/build-types.js')], { stdio: 'inherit' });
rmSync(DIST, { recursive: true, force: true });
for (const file of reached(`${entry}.js`)) copy(file, file);
for (const file of typesOf(`types/${entry}.d.ts`)) copy(file, file.replace(/^types\//, ''));
copy(`types/${entry}.d.cts`, `${entry}.d.cts`);
copyFileSync(path.join(ROOT, 'LICENSE'), path.join(HERE, 'LICENSE'));
page(`docs/${docs}.md`, 'README.md');
for (const file of files) if (file.endsWith('.md')) page(`docs/${file}`, file);

/** @param {string} file */
function read(file) {
  return readFileSync(file, 'utf8');
}

/**
 * @param {string} from a page of the harness
 * @param {string} to
 */
function page(from, to) {
  const text = read(path.join(ROOT, from)).replaceAll(`'dragstrip/${docs}'`, `'${name}'`);
  writeFileSync(path.join(HERE, to), text);
}

/**
 * @param {string} file
 * @param {string} to in dist/
 */
function copy(file, to) {
  const target = path.join(DIST, to);
  mkdirSync(path.dirname(target), { recursive: true });
  copyFileSync(path.join(ROOT, file), target);
}

/**
 * @param {string} first
 * @returns {Set<string>} the files that it imports, and itself
 */
function reached(first) {
  const found = new Set([first]);
  for (const file of found) {
    for (const to of importsOf(file, read(path.join(ROOT, file)))) found.add(to);
  }
  return found;
}

/**
 * @param {string} first
 * @returns {Set<string>} declarations, those of types that are imported included
 */
function typesOf(first) {
  const found = new Set([first]);
  for (const file of found) {
    for (const [, to] of read(path.join(ROOT, file)).matchAll(/["'](\.{1,2}\/[^"']+)\.js["']/g)) {
      const one = `${path.posix.join(path.posix.dirname(file), to)}.d.ts`;
      if (existsSync(path.join(ROOT, one))) found.add(one);
    }
  }
  return found;
}

/**
 * Writes the declarations that are published: those that tsc makes of the JSDoc, and the
 * hand-written ones, which tsc leaves where they are. They are in types/, and those of each package
 * in packages/ also in its own folder. `npm run package` and the packing of a package run it.
 */

import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');
const OUT = path.join(ROOT, 'types');
const PACKAGES = ['packages/handlersocket', 'packages/mutex'];

rmSync(OUT, { recursive: true, force: true });
const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
run(process.execPath, [tsc, '-p', 'tsconfig.build.json']);
for (const name of readdirSync(path.join(ROOT, 'lib'))) {
  if (!name.endsWith('.d.ts')) continue;
  copyFileSync(path.join(ROOT, 'lib', name), path.join(OUT, 'lib', name));
}
for (const folder of ['.', ...PACKAGES]) await writeForRequire(path.join(folder, 'index'));
for (const folder of PACKAGES) {
  const types = path.join(ROOT, folder, 'types');
  rmSync(types, { recursive: true, force: true });
  cpSync(path.join(OUT, folder), types, { recursive: true });
}

/**
 * Declarations for `require` in TypeScript's node16, where those of an ES module are refused.
 * @param {string} entry
 */
async function writeForRequire(entry) {
  const values = Object.entries(await import(path.join(ROOT, `${entry}.js`)));
  const from = `'./${path.basename(entry)}.js' with { 'resolution-mode': 'import' }`;
  const lines = [
    `import type * as api from ${from};`,
    `export type * from ${from};`,
    ...values.map(([name]) => `export declare const ${name}: typeof api.${name};`),
    // A constant hides the type of its name.
    ...values
      .filter(([, value]) => /^class\b/.test(String(value)))
      .map(([name]) => `export type ${name} = api.${name};`),
  ];
  writeFileSync(path.join(OUT, `${entry}.d.cts`), `${lines.join('\n')}\n`);
}

/**
 * @param {string} program
 * @param {string[]} args
 */
function run(program, args) {
  execFileSync(program, args, { cwd: ROOT, stdio: 'inherit' });
}

/**
 * Writes the declarations that the package ships into types/: those that tsc makes of the JSDoc,
 * and the hand-written ones, which tsc leaves where they are. `npm run package` runs it.
 */

import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');
const OUT = path.join(ROOT, 'types');

rmSync(OUT, { recursive: true, force: true });
const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
run(process.execPath, [tsc, '-p', 'tsconfig.build.json']);
for (const name of readdirSync(path.join(ROOT, 'lib'))) {
  if (!name.endsWith('.d.ts')) continue;
  copyFileSync(path.join(ROOT, 'lib', name), path.join(OUT, 'lib', name));
}
for (const entry of ['index', 'storages/handlersocket/index', 'storages/mutex/index']) {
  await writeForRequire(entry);
}
/**
 * Declarations for `require` in TypeScript's node16, where those of an ES module are refused.
 * @param {string} entry
 */
async function writeForRequire(entry) {
  const names = Object.keys(await import(path.join(ROOT, `${entry}.js`)));
  const from = `'./${path.basename(entry)}.js' with { 'resolution-mode': 'import' }`;
  const lines = [
    `import type * as api from ${from};`,
    `export type * from ${from};`,
    ...names.map((name) => `export declare const ${name}: typeof api.${name};`),
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

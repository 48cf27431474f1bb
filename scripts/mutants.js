/**
 * Mutation testing (`npm run mutants`): applies each change of test/mutants.json to a copy of the
 * working tree and runs the tests that should detect it. A change is a text that occurs once in its
 * file, its replacement, and the reason if no test can detect it. Exit status 1 if one without a
 * reason survives. Run manually, not in CI, because it takes some minutes.
 *
 *     npm run mutants -- [--only stats/gate.js] [--workers 1]
 */

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { findHome, HOME_NAME } from '../lib/home.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/**
 * @typedef {object} Group
 * @property {string} file
 * @property {string[]} tests
 * @property {[from: string, to: string, reason?: string][]} changes
 */

/** Mutants that never end count as killed. */
const LIMIT_MS = 120_000;

/**
 * @returns {Promise<string>} folder with a copy of all files that git would track, and the fetched
 *   servers
 */
async function copyTree() {
  const copy = mkdtempSync(path.join(tmpdir(), 'mutants-'));
  chmodSync(copy, 0o755); // servers of root run as a different user
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await execa('git', words, { cwd: ROOT });
  for (const file of stdout.split('\0').filter(Boolean)) {
    // Removed files that are not staged yet are still listed.
    if (existsSync(path.join(ROOT, file))) cpSync(path.join(ROOT, file), path.join(copy, file));
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  const packages = path.join(findHome({ env: {}, cwd: ROOT }), 'packages');
  mkdirSync(path.join(copy, HOME_NAME));
  symlinkSync(packages, path.join(copy, HOME_NAME, 'packages'));
  return copy;
}

/**
 * @param {string} copy @param {readonly string[]} tests @returns {Promise<boolean>} whether all
 *   pass
 */
async function passes(copy, tests) {
  const options = { cwd: copy, reject: false, timeout: LIMIT_MS };
  return !(await execa(process.execPath, ['--test', ...tests], options)).failed;
}

/** @param {string} file @param {string} text @returns {boolean} */
function hasOnce(file, text) {
  return readFileSync(path.join(ROOT, file), 'utf8').split(text).length === 2;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    workers: { type: 'string', default: `${availableParallelism()}` },
  },
});
/** @type {Group[]} */
const table = JSON.parse(readFileSync(path.join(ROOT, 'test/mutants.json'), 'utf8'));
const groups = table.filter(({ file }) => file.includes(values.only));
const all = groups.flatMap(({ changes, ...of }) =>
  changes.map(([from, to, reason]) => ({ ...of, from, to, reason })),
);
const gone = all.filter(({ file, from }) => !hasOnce(file, from));
for (const { file, from } of gone) console.error(`${file} has this not exactly once: ${from}`);
if (gone.length > 0) process.exit(2);
const copies = await Promise.all(Array.from({ length: Number(values.workers) }, copyTree));
try {
  const tests = [...new Set(groups.flatMap((group) => group.tests))];
  if (!(await passes(copies[0], tests))) throw new Error('the tests fail without a change');
  const left = [...all];
  /** @type {Record<string, { killed: number, of: number }>} */
  const folders = {};
  await Promise.all(
    copies.map(async (copy) => {
      for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
        const { file, from, to, reason } = mutant;
        const place = path.join(copy, file);
        const text = readFileSync(place, 'utf8');
        writeFileSync(
          place,
          text.replace(from, () => to),
        );
        const survives = await passes(copy, mutant.tests);
        writeFileSync(place, text);
        const folder = path.dirname(file);
        folders[folder] ??= { killed: 0, of: 0 };
        folders[folder].of += 1;
        if (!survives) folders[folder].killed += 1;
        else if (reason === undefined) process.exitCode = 1;
        const shown = `${from.replace(/\s+/g, ' ')} -> ${to.replace(/\s+/g, ' ')}`;
        const state = survives ? 'survived' : 'killed';
        console.log(`${state.padEnd(8)} ${file}: ${shown}${reason ? ` (${reason})` : ''}`);
      }
    }),
  );
  for (const folder of Object.keys(folders).sort()) {
    const { killed, of } = folders[folder];
    console.log(`${folder}: ${killed} of ${of} killed`);
  }
  const killed = Object.values(folders).reduce((sum, one) => sum + one.killed, 0);
  console.log(`${killed} of ${all.length} killed`);
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
}

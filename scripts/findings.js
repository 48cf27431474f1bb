/**
 * The claims of the original programs, each with the command that tests it here (`npm run
 * findings`): runs the commands on the servers that are there, and writes docs/findings.md from
 * their results. `npm run findings -- mutex queue` runs these and keeps the other rows, `--from`
 * runs none and takes stored results (`--results FOLDER`). `--rmux PROGRAM --plain-redis ADDRESS`
 * are for the claim about rmux, which cannot log in. A command that cannot run is named, its rows
 * stay, and the exit status is 0.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseResult } from '../lib/parse-result.js';
import { systemClock } from '../measure/clock.js';
import { CLAIMS } from './findings/claims.js';
import { documentOf, isMeasured } from './findings/document.js';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');
/** Then a command is interrupted, and its complete rounds count. Eight take 12 minutes. */
const SECONDS_MAX = 85;

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'boolean', default: false },
    results: { type: 'string', default: path.join(ROOT, '.dragstrip', 'findings') },
    out: { type: 'string', default: path.join(ROOT, 'docs', 'findings.md') },
    rmux: { type: 'string' },
    'plain-redis': { type: 'string' },
  },
});
const folder = path.resolve(given.results);
const programs = { rmux: given.rmux, plainRedis: given['plain-redis'] };
const names = [...new Set(CLAIMS.map(({ run }) => run.name))];

/** @param {string} name of a run */
const fileOf = (name) => path.join(folder, `${name}.json`);

/** @param {string} name @param {string} file @returns {boolean} it answers a claim of the run */
function answers(name, file) {
  const result = read(file);
  return result !== null && CLAIMS.some((one) => one.run.name === name && isMeasured(one, result));
}

/** @param {string} file @returns {import('../lib/result.js').Result | null} */
function read(file) {
  if (!existsSync(file)) return null;
  try {
    return parseResult(readFileSync(file, 'utf8'), file);
  } catch (error) {
    console.error(`${path.basename(file)}: ${error.message}`);
    return null;
  }
}

/** @param {import('./findings/claims.js').Run} run @returns {string} what came of its command */
function measure({ name, words: wordsFor, needs }) {
  const words = wordsFor(programs);
  if (words === null) return `not run, it needs ${needs}`;
  console.error(`${name}: npx dragstrip ${words.join(' ')}`);
  const made = path.join(folder, `${name}.new.json`);
  const startNs = systemClock.now();
  const { status, signal } = spawnSync(
    process.execPath,
    [path.join(ROOT, 'bin', 'dragstrip.js'), ...words, '--json', made, '--force'],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: SECONDS_MAX * 1000,
      killSignal: /** @type {const} */ ('SIGINT'),
    },
  );
  const seconds = `${((systemClock.now() - startNs) / 1e9).toFixed(0)} s`;
  const isOver = status === 130 ? ', ended at its bound' : '';
  if (answers(name, made)) {
    renameSync(made, fileOf(name));
    return `${seconds}${isOver}`;
  }
  rmSync(made, { force: true });
  return `${seconds}, no figures: exit status ${status ?? signal}; its rows stay as they are`;
}

const unknown = positionals.find((one) => !names.includes(one));
if (unknown !== undefined) {
  console.error(`no findings are named ${unknown}; there are ${names.join(', ')}`);
  process.exitCode = 2;
} else {
  mkdirSync(folder, { recursive: true });
  const wanted = given.from
    ? []
    : names.filter((one) => !positionals.length || positionals.includes(one));
  const said = wanted.map((name) => {
    const { run } = /** @type {import('./findings/claims.js').Claim} */ (
      CLAIMS.find((one) => one.run.name === name)
    );
    return `${name}: ${measure(run)}`;
  });
  const found = CLAIMS.map((claim) => ({ claim, result: read(fileOf(claim.run.name)) }));
  const before = existsSync(given.out) ? readFileSync(given.out, 'utf8') : '';
  writeFileSync(given.out, documentOf(found, before));
  console.error([...said, path.relative(process.cwd(), given.out)].join('\n'));
}

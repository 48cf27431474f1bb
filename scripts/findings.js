/**
 * The claims of the original programs, each with a command that tests it (`npm run findings`): runs
 * the commands on available servers, and writes docs/findings.md from their results. `npm run
 * findings -- mutex queue` runs these and keeps the other rows; `--from` runs none and uses stored
 * results (`--results FOLDER`). `--rmux PROGRAM --plain-redis ADDRESS` are for the claim about
 * rmux, which cannot log in. A command that cannot run is reported, its rows are kept, and the exit
 * status is 0.
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

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'boolean', default: false },
    results: { type: 'string', default: path.join(ROOT, '.dragstrip', 'findings') },
    out: { type: 'string', default: path.join(ROOT, 'docs', 'findings.md') },
    rmux: { type: 'string' },
    'plain-redis': { type: 'string' },
  },
});
const folder = path.resolve(options.results);
const programs = { rmux: options.rmux, plainRedis: options['plain-redis'] };
const names = [...new Set(CLAIMS.map(({ run }) => run.name))];

/** @param {string} name name of a run */
const fileOf = (name) => path.join(folder, `${name}.json`);

/**
 * @param {string} name @param {string} file @returns {boolean} whether it tests a claim of the run
 */
function answers(name, file) {
  const result = read(file);
  return CLAIMS.some(
    (claim) => claim.run.name === name && isMeasured({ claim, result, beside: besideOf(claim) }),
  );
}

/** @param {import('./findings/claims.js').Claim} claim */
const besideOf = ({ beside }) => (beside === undefined ? null : read(fileOf(beside.name)));

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

/** @param {import('./findings/claims.js').Run} run @returns {string} outcome of its command */
function measure({ name, words: wordsFor, needs, seconds: most }) {
  const words = wordsFor(programs);
  if (words === null) return `not run, it needs ${needs}`;
  console.error(`${name}: npx dragstrip ${words.join(' ')} (${most} s at most)`);
  const made = path.join(folder, `${name}.new.json`);
  const startNs = systemClock.now();
  const { status, signal } = spawnSync(
    process.execPath,
    [path.join(ROOT, 'bin', 'dragstrip.js'), ...words, '--json', made, '--force'],
    {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: most * 1000,
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
  const wanted = options.from
    ? []
    : names.filter((one) => !positionals.length || positionals.includes(one));
  const messages = wanted.map((name) => {
    const { run } = /** @type {import('./findings/claims.js').Claim} */ (
      CLAIMS.find((one) => one.run.name === name)
    );
    return `${name}: ${measure(run)}`;
  });
  const results = CLAIMS.map((claim) => ({
    claim,
    result: read(fileOf(claim.run.name)),
    beside: besideOf(claim),
  }));
  const before = existsSync(options.out) ? readFileSync(options.out, 'utf8') : '';
  writeFileSync(options.out, documentOf(results, before));
  console.error([...messages, path.relative(process.cwd(), options.out)].join('\n'));
}

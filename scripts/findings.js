/**
 * The claims of the original programs, each with the command that tests it here (`npm run
 * findings`): runs the commands on the servers that are there, and writes docs/findings.md from
 * their results. `--only id,id` runs some, `--from` runs none and takes the results that are there;
 * results are kept in `--results FOLDER`. `--rmux PROGRAM --plain-redis ADDRESS` are for the claim
 * about rmux, which cannot log in.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseResult } from '../lib/parse-result.js';
import { CLAIMS } from './findings/claims.js';
import { documentOf } from './findings/document.js';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');

const { values: given } = parseArgs({
  options: {
    from: { type: 'boolean', default: false },
    only: { type: 'string' },
    results: { type: 'string', default: path.join(ROOT, '.dragstrip', 'findings') },
    out: { type: 'string', default: path.join(ROOT, 'docs', 'findings.md') },
    rmux: { type: 'string' },
    'plain-redis': { type: 'string' },
  },
});
const folder = path.resolve(given.results);
const programs = { rmux: given.rmux, plainRedis: given['plain-redis'] };

/** @param {import('./findings/claims.js').Claim} claim */
function fileOf({ run }) {
  return path.join(folder, `${run.name}.json`);
}

/** @param {import('./findings/claims.js').Claim} claim runs its command */
function measure(claim) {
  const words = claim.run.words(programs);
  if (words === null) {
    console.error(`${claim.run.name}: not run, ${claim.run.needs}`);
    return;
  }
  console.error(`${claim.run.name}: dragstrip ${words.join(' ')}`);
  const { status } = spawnSync(
    process.execPath,
    [path.join(ROOT, 'bin', 'dragstrip.js'), ...words, '--json', fileOf(claim), '--force'],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  if (status !== 0) console.error(`${claim.run.name}: exit status ${status}`);
}

mkdirSync(folder, { recursive: true });
const wanted = given.only?.split(',');
const seen = new Set();
for (const claim of CLAIMS) {
  const { name } = claim.run;
  if (given.from || seen.has(name) || (wanted && !wanted.includes(name))) continue;
  seen.add(name);
  measure(claim);
}
const found = CLAIMS.map((claim) => {
  const file = fileOf(claim);
  return { claim, result: existsSync(file) ? parseResult(readFileSync(file, 'utf8'), file) : null };
});
writeFileSync(given.out, documentOf(found));
console.error(path.relative(process.cwd(), given.out));

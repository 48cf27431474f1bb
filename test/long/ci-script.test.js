/** The script of the CI example: success, failure, and the files for the comment. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { execa } from 'execa';
import { NO_SERVERS, ROOT } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { writeTurning } from '../helpers/turning-driver.js';

const folder = withFolder();

const SCRIPT = path.join(ROOT, 'examples/github-action/dragstrip.sh');
const MARK = '<!-- dragstrip -->';

before(() =>
  writeTurning(folder, {
    'node_modules/turning-driver': ['2.0.0', 100],
    release: ['2.0.0', 100],
    same: ['2.0.1', 101],
    slower: ['2.0.1', 4000],
  }),
);

/** @param {Record<string, string>} env */
function runScript(env) {
  return execa('sh', [SCRIPT], {
    cwd: folder,
    reject: false,
    env: {
      ...NO_SERVERS,
      DRAGSTRIP_HOME: path.join(folder, 'state'),
      SERVERS: 'running',
      PACKAGE: 'turning-driver',
      STORAGE: './turning.mjs',
      GATES: 'p50>4.9 p50>1s',
      DRAGSTRIP: `${process.execPath} ${path.join(ROOT, 'bin/dragstrip.js')}`,
      RELEASE: 'turning-driver@./release',
      MORE: '--load sync --ops 1500 --warmup 100 --rounds 4 --rows 50 --no-html',
      ...env,
    },
  });
}

/** @param {string} out */
function gatesOf(out) {
  const { gates } = JSON.parse(readFileSync(path.join(folder, out, 'race.json'), 'utf8'));
  return gates.map((/** @type {{ gate: string }} */ { gate }) => gate);
}

test('an equal driver passes, and the comment states it', async () => {
  const summary = path.join(folder, 'summary.md');
  const env = { CANDIDATE: './same', OUT: 'green', GITHUB_STEP_SUMMARY: summary };
  const { exitCode, stdout, stderr } = await runScript(env);
  assert.equal(exitCode, 0, `${stdout}${stderr}`);
  assert.deepEqual(gatesOf('green'), ['p50>4.9', 'p50>1s'], 'those of GATES');
  const comment = readFileSync(path.join(folder, 'green/comment.md'), 'utf8');
  assert.ok(comment.startsWith(MARK));
  assert.match(comment, /### ✅ Dragstrip: gate passed/);
  assert.match(comment, /\| driver \| load \| ops\/s \| speed vs turning\\@2\.0\.0\+\w{7} \|/);
  assert.match(comment, /<details>\n<summary>All figures<\/summary>/);
  assert.equal(readFileSync(summary, 'utf8'), comment);
  const workflow = readFileSync(path.join(ROOT, 'examples/github-action/workflow.yml'), 'utf8');
  assert.ok(workflow.includes(`startswith("${MARK}")`), 'the comment is found by its mark');
});

test('a slower one ends with 6 by the usual gates, against the target branch', async () => {
  const { exitCode, stdout, stderr } = await runScript({
    BASE: './same',
    CANDIDATE: './slower',
    GATES: '',
    OUT: 'red',
  });
  assert.equal(exitCode, 6, `${stdout}${stderr}`);
  assert.deepEqual(gatesOf('red'), ['throughput<0.95', 'client-cpu>1.05', 'writes>2']);
  const comment = readFileSync(path.join(folder, 'red/comment.md'), 'utf8');
  assert.match(comment, /### ❌ Dragstrip: gate failed/);
  assert.match(
    comment,
    /failed: throughput\\<0\.95, turning\\@2\.0\.1\+\w{7}, sync: [\d.]+× of turning/,
  );
  assert.match(
    comment,
    /\n\| turning\\@2\.0\.1\+\w{7} \(reference\) \|[^\n]*\n\| turning\\@[^|]*\(candidate\) \|/,
  );
});

test('a missing package and a driver that does not open are reported', async () => {
  const { PACKAGE, ...none } = process.env;
  const bare = await execa('sh', [SCRIPT], {
    reject: false,
    cwd: folder,
    env: none,
    extendEnv: false,
  });
  assert.notEqual(bare.exitCode, 0);
  assert.match(bare.stderr, /set PACKAGE to the name of the driver on npm/);
  const missing = await runScript({ CANDIDATE: './nowhere', OUT: 'missing' });
  assert.equal(missing.exitCode, 2);
  assert.match(missing.stderr, /no such folder/);
});

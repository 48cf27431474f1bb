/** The example for CI: which rights its jobs have, and that nothing in it changes by itself. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { version } from '../../lib/version.js';
import { ROOT } from '../helpers/command-line.js';

const textOf = (/** @type {string} */ name) =>
  readFileSync(path.join(ROOT, 'examples/github-action', name), 'utf8');
const workflow = parse(textOf('workflow.yml'));
const action = parse(textOf('action.yml'));
const { race, comment } = workflow.jobs;

/** @typedef {{ uses?: string, run?: string, with?: Record<string, unknown> }} Step */

/** @type {Step[]} */
const steps = [...race.steps, ...comment.steps, ...action.runs.steps];

test('the job that executes code of the pull request is read-only', () => {
  assert.deepEqual(workflow.permissions, {});
  assert.deepEqual(race.permissions, { contents: 'read' });
  assert.doesNotMatch(JSON.stringify([race, action]), /github\.token|secrets\./);
  const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
  assert.equal(checkouts.length, 2);
  for (const one of checkouts) assert.equal(one.with?.['persist-credentials'], false);
});

test('the job that comments executes no code of the pull request, and skips forks', () => {
  assert.deepEqual(comment.permissions, { 'pull-requests': 'write' });
  assert.match(comment.if, /head\.repo\.full_name == github\.repository$/);
  assert.deepEqual(
    comment.steps.map(({ uses = '' }) => uses.split('@')[0]),
    ['actions/download-artifact', ''],
  );
  assert.doesNotMatch(comment.steps[1].run, /\$\{\{/, 'no text of others is part of a script');
});

test('actions are pinned by digest, the package by its exact version', () => {
  for (const { uses } of steps) {
    if (uses === undefined || uses === './.github/dragstrip') continue;
    assert.match(uses, /^actions\/[\w-]+@[0-9a-f]{40}$/);
  }
  for (const name of ['workflow.yml', 'action.yml']) {
    for (const [line] of textOf(name).matchAll(/uses: actions.*/g)) {
      assert.match(line, / # v\d+\.\d+\.\d+$/, 'with its version, for people and for bots');
    }
  }
  assert.equal(action.inputs.version.default, version);
  assert.ok(textOf('gitlab-ci.yml').includes(` dragstrip@${version}\n`));
  assert.match(textOf('dragstrip.sh'), /npx --no dragstrip/, 'nothing is downloaded by its name');
});

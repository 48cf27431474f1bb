/**
 * The proof that a run was started on this machine: only a file that its own user can have written.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { hasProof, leaveProof } from '../../same-machine.js';

/** @param {(file: string, run: string) => void} change change of the file after writing */
function provenAfter(change) {
  const run = randomUUID();
  const file = path.join(tmpdir(), `dragstrip-run-${run}`);
  const remove = leaveProof(run);
  try {
    change(file, run);
    return hasProof(run);
  } finally {
    remove();
    rmSync(`${file}.moved`, { force: true });
  }
}

test('the proof of a run on this machine is valid until it is removed', () => {
  const run = randomUUID();
  assert.equal(hasProof(run), false);
  const remove = leaveProof(run);
  assert.equal(hasProof(run), true);
  remove();
  assert.equal(hasProof(run), false);
});

test('a proof is not overwritten: the run fails', () => {
  const run = randomUUID();
  const remove = leaveProof(run);
  assert.throws(() => leaveProof(run), { code: 'EEXIST' });
  remove();
});

/** @type {Record<string, (file: string, run: string) => void>} */
const CHANGES = {
  'a file of another run': (file) => writeFileSync(file, 'run-of-another 1:2:3'),
  'a file that others may write': (file) => chmodSync(file, 0o622),
  'a symbolic link to a proof': (file) => {
    renameSync(file, `${file}.moved`);
    symlinkSync(`${file}.moved`, file);
  },
  'a named pipe that nobody writes to': (file) => {
    rmSync(file);
    execFileSync('mkfifo', ['-m', '600', file]);
  },
  'more than a proof': (file) => writeFileSync(file, `${readFileSync(file, 'utf8')}\n`),
};
for (const [name, change] of Object.entries(CHANGES)) {
  test(`${name} proves nothing`, { timeout: 20_000 }, () => {
    assert.equal(provenAfter(change), false);
  });
}

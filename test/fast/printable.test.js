/** Nothing of others is executed or followed: texts on a terminal, links where results go. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { failureLine } from '../../cli/failure.js';
import { writeWhole } from '../../cli/storage.js';
import { targetError } from '../../lib/errors.js';
import { printable } from '../../lib/printable.js';
import { hideSecrets } from '../../lib/secrets.js';
import { plotPicture } from '../../report/svg.js';
import { withFolder } from '../helpers/folder.js';

/** Sets the title of the window, and clears it. */
const ESCAPES = '\x1b]0;owned\x07\x1b[2J\x9b31m';

test('escape sequences of a server are escaped, in failures and in reasons', () => {
  const shown = '\\x1b]0;owned\\x07\\x1b[2J\\x9b31m';
  assert.equal(failureLine(targetError(`it said ${ESCAPES}`)), `it said ${shown}`);
  assert.equal(
    hideSecrets(`${ESCAPES} my-secret`, { password: 'my-secret' }),
    `${shown} ***`,
    'the secret is taken out as well',
  );
});

test('characters that reorder or hide text are escaped, in failures and of agents', () => {
  const name = 'redis\u202etxt\u2066 \u200b\u2028x';
  const shown = 'redis\\u{202e}txt\\u{2066} \\u{200b}\\u{2028}x';
  assert.equal(failureLine(targetError(name)), shown);
  assert.equal(printable(name), shown, 'as `agents` prints names');
  assert.equal(printable('Ünïcode 漢字 ✓\ta'), 'Ünïcode 漢字 ✓\ta');
});

test('a label of many blanks in a stored result takes no time in a picture', () => {
  const text = `a${' '.repeat(300_000)}b`;
  const option = { graphic: [{ type: 'text', style: { text } }] };
  const draw = () => /** @type {any} */ ({ height: 20, option, points: [], nearest: 'x' });
  const plot = { id: 'p', title: 'Blanks', summary: '', variants: [{ name: 'linear', draw }] };
  const before = process.cpuUsage();
  assert.match(plotPicture(/** @type {any} */ (plot)), /<svg/);
  // A pattern that tries each blank again took 70 s; of CPU time, since the machine may be busy.
  assert.ok(process.cpuUsage(before).user < 20e6);
});

test('a failure is one line, and many blanks take no time', () => {
  assert.equal(failureLine(targetError('one\r\n   two \n\n three', 'four')), 'one two three; four');
  const blanks = ' '.repeat(500_000);
  const line = failureLine(targetError(`a${blanks}b`));
  assert.equal(line.length, 500_002);
});

test('a result is not written through a planted symbolic link', async (t) => {
  const folder = withFolder(t);
  const victim = join(folder, 'victim');
  const file = join(folder, 'result.json');
  writeFileSync(victim, 'as it was');
  symlinkSync(victim, `${file}.${process.pid}.tmp`);
  await writeWhole(file, 'result');
  assert.equal(readFileSync(victim, 'utf8'), 'as it was');
  assert.equal(readFileSync(file, 'utf8'), 'result');
  assert.equal(readdirSync(folder).length, 3);
});

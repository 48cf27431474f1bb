/** Texts of others on a terminal: what servers say, and what stored results contain. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureLine } from '../../cli/failure.js';
import { targetError } from '../../lib/errors.js';
import { hideSecrets } from '../../lib/secrets.js';

/** Sets the title of the window, and clears it. */
const ESCAPES = '\x1b]0;owned\x07\x1b[2J\x9b31m';

test('escape sequences of a server are written out, in failures and in reasons', () => {
  const shown = '\\x1b]0;owned\\x07\\x1b[2J\\x9b31m';
  assert.equal(failureLine(targetError(`it said ${ESCAPES}`)), `it said ${shown}`);
  assert.equal(
    hideSecrets(`${ESCAPES} my-secret`, { password: 'my-secret' }),
    `${shown} ***`,
    'the secret is taken out as well',
  );
});

test('a failure is one line, and many blanks take no time', () => {
  assert.equal(failureLine(targetError('one\r\n   two \n\n three', 'four')), 'one two three; four');
  const blanks = ' '.repeat(500_000);
  const line = failureLine(targetError(`a${blanks}b`));
  assert.equal(line.length, 500_002);
});

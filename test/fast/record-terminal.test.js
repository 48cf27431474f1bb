/** The terminal whose screen becomes the picture of the README. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Screen } from '../../scripts/record-terminal.js';

/** @param {readonly string[]} writes */
function linesOf(writes) {
  const screen = new Screen();
  for (const text of writes) screen.write(text);
  return screen.lines;
}

test('an escape sequence split over two writes takes effect, and is not shown', () => {
  const text = 'old\x1b[1A\x1b[2K\r\x1b[1;33mSkipped\x1b[39m: sqlite';
  const whole = linesOf([text]);
  assert.equal(whole[0].map((cell) => cell.text).join(''), 'Skipped: sqlite');
  assert.equal(whole[0][0].style, 'b c33');
  for (let at = 0; at <= text.length; at += 1) {
    assert.deepEqual(linesOf([text.slice(0, at), text.slice(at)]), whole, `split at ${at}`);
  }
});

test('a line wider than the terminal continues on the next one', () => {
  const lines = linesOf([`${'a'.repeat(100)}\n${'b'.repeat(104)}\nc`]);
  assert.deepEqual(
    lines.map((line) => line.map((cell) => cell.text).join('')),
    ['a'.repeat(100), 'b'.repeat(100), 'bbbb', 'c'],
  );
});

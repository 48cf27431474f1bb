/**
 * The benchmarks of the harness that use the engine's own parts: each is imported, so that none
 * refers to a name that has gone. They run by hand, those of `npm run bench` also by their tests.
 */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

const FOLDER = new URL('../../bench/', import.meta.url);
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.js'));
const ENGINE = /from '(\.\.\/(engine|fleet|packages\/fleet)|\.\/alone\.js)/;

describe('files of bench/ that import the engine', () => {
  const using = FILES.filter((name) => ENGINE.test(readFileSync(new URL(name, FOLDER), 'utf8')));

  test('are found', () => assert.ok(using.length > 0));

  for (const name of using) {
    test(`${name} is loaded, and measures nothing`, async () => {
      const handlers = process.listenerCount('message');
      await import(new URL(name, FOLDER).href);
      assert.equal(process.listenerCount('message'), handlers);
    });
  }
});

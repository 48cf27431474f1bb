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

test('executable files of bench/ compare their own path', () => {
  const calls = FILES.flatMap((name) => {
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    return [...text.matchAll(/^if \(isMain\((.*?)\)\)/gm)].map(([, of]) => ({ name, of }));
  });
  assert.ok(calls.length > 10);
  // A URL would never be it, and the file would do nothing, with status 0.
  assert.deepEqual(
    calls.filter(({ of }) => of !== 'import.meta.filename'),
    [],
  );
});

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

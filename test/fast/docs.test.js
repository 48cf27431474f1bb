/** The documents name files that exist, and their language is plain. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync(path.join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].map((file) => /** @type {const} */ ([file, readFileSync(path.join(ROOT, file), 'utf8')]));

/** Phrases for which the project's glossary has a standard term. */
const ODD = new RegExp(
  [
    '\\b(is|are) told\\b|not told apart|\\bto be had\\b|cannot be had|com(e|es|ing) to rest',
    'right answers? (a|per) second|\\ba second (time )?of\\b|of the house|\\bof ours\\b',
    "the seed's|stand-in|wire limit|driver limit|somebody else",
  ].join('|'),
  'i',
);

describe('documents', () => {
  test('link to files that exist', () => {
    const lost = DOCUMENTS.flatMap(([file, text]) =>
      [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
        .map(([, to]) => path.join(path.dirname(file), to))
        .filter((to) => !existsSync(path.join(ROOT, to)))
        .map((to) => `${file}: ${to}`),
    );
    assert.deepEqual(lost, []);
  });

  test('of the architecture name files and folders that exist', () => {
    const text = Object.fromEntries(DOCUMENTS)['docs/architecture.md'];
    const named = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]*)*(?:\/|\.(?:d\.ts|[a-z]{2,4})))`/g)]
      .map(([, name]) => name)
      .filter((name) => name.includes('/') || existsSync(path.join(ROOT, name)))
      .filter((name) => !/NAME|^\.dragstrip\//.test(name));
    assert.ok(named.length > 60, `${named.length} files are named`);
    assert.deepEqual(
      named.filter((name) => !existsSync(path.join(ROOT, name))),
      [],
    );
  });

  test('use standard terms', () => {
    const odd = DOCUMENTS.flatMap(([file, text]) =>
      text
        // The README's output and options come from the program.
        .replace(/<!-- (output|options):start -->[\s\S]*?<!-- \1:end -->/g, '')
        .split('\n')
        .filter((line) => !line.startsWith('    ') && ODD.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
    assert.deepEqual(odd, []);
  });
});

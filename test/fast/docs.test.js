/** The documents name files that exist; documents, code and tests use standard terms. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGES = readdirSync(path.join(ROOT, 'packages')).map((name) => `packages/${name}`);
const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  ...['docs', ...PACKAGES].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
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

/** The part of it that is certain in code too, where a word may be an identifier. */
const ODD_IN_CODE = new RegExp(
  [
    '\\b(is|are|was|were) told\\b|told apart|\\bto be had\\b|cannot be had|com(e|es|ing) to rest',
    '(answers|operations|replies|requests|sections) a second\\b|\\bwhoever\\b|somebody else',
    'wire limit\\b|driver limit\\b',
  ].join('|'),
  'i',
);

test('texts and comments of the code use standard terms', () => {
  const folders = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^(\.|node_modules|results|types)/.test(entry.name))
    .map(({ name }) => name);
  const odd = folders
    .flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(js|ts|lua)$/.test(name))
        .map((name) => `${folder}/${name}`),
    )
    .filter((file) => file !== 'test/fast/docs.test.js')
    .flatMap((file) =>
      readFileSync(path.join(ROOT, file), 'utf8')
        .split('\n')
        .filter((line) => ODD_IN_CODE.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
  assert.deepEqual(odd, []);
});

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

/** Downloads are verified before they are executed: packages of npm, Debian and Maven. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openApt } from '../../servers/apt.js';
import { requireDigests } from '../../servers/maven.js';
import { findProgram } from '../../servers/programs.js';
import { withFolder } from '../helpers/folder.js';

const ROOT = new URL('../../', import.meta.url);
const folder = withFolder();

/** @param {string} name */
const read = (name) => readFileSync(new URL(name, ROOT), 'utf8');

test('every package of the lock file that is installed here has an integrity', () => {
  const { packages } = JSON.parse(read('package-lock.json'));
  // The folders in packages/ are of this project, with links to them.
  const isOwn = (/** @type {string} */ place) =>
    !place.startsWith('node_modules/') || packages[place].link === true;
  const locked = Object.entries(packages).filter(([place]) => !isOwn(place));
  const installed = JSON.parse(read('node_modules/.package-lock.json')).packages;
  assert.ok(locked.length > 100);
  for (const [place, entry] of locked) {
    if (entry.integrity !== undefined) {
      assert.match(entry.integrity, /^sha512-/, place);
      continue;
    }
    // The registry had none of these when the file was written: binaries of other platforms.
    assert.ok(entry.optional && entry.os !== undefined && !(place in installed), place);
  }
});

test('an unsigned package is refused, whatever the configuration of apt allows', async (t) => {
  if ((await findProgram('apt-get')) === null) return t.skip('requires apt');
  const repository = join(folder, 'repository');
  mkdirSync(repository);
  writeFileSync(
    join(repository, 'Packages'),
    'Package: intruder\nVersion: 1\nArchitecture: all\nFilename: ./intruder.deb\nSize: 1\n' +
      `SHA256: ${'0'.repeat(64)}\nDescription: unsigned\n\n`,
  );
  writeFileSync(join(folder, 'sources.list'), `deb file:${repository} ./\n`);
  writeFileSync(
    join(folder, 'apt.conf'),
    [
      'APT::Get::AllowUnauthenticated "true";',
      'Acquire::AllowInsecureRepositories "true";',
      'Acquire::AllowWeakRepositories "true";',
      `Dir::Etc::sourcelist "${join(folder, 'sources.list')}";`,
      'Dir::Etc::sourceparts "/dev/null";',
    ].join('\n'),
  );
  const before = process.env['APT_CONFIG'];
  process.env['APT_CONFIG'] = join(folder, 'apt.conf');
  try {
    const apt = await openApt(join(folder, 'apt'), {});
    await assert.rejects(apt.look(['intruder']), { code: 'E_TARGET' });
  } finally {
    if (before === undefined) delete process.env['APT_CONFIG'];
    else process.env['APT_CONFIG'] = before;
  }
});

test('a jar of Maven is compared with the digest of this version', async () => {
  const jars = join(folder, 'jars');
  mkdirSync(jars);
  const digest = (/** @type {string} */ text) => createHash('sha256').update(text).digest('hex');
  const list = `${digest('one')}  a.jar\n${digest('two')}  b.jar\n`;
  writeFileSync(join(jars, 'a.jar'), 'one');
  await assert.rejects(requireDigests(jars, list, 'x'), { message: /1 jars are missing/ });
  writeFileSync(join(jars, 'b.jar'), 'twO');
  await assert.rejects(requireDigests(jars, list, 'x'), {
    message: /b\.jar .* an unexpected digest/,
  });
  writeFileSync(join(jars, 'b.jar'), 'two');
  assert.equal(await requireDigests(jars, list, 'x'), 2);
  writeFileSync(join(jars, 'c.jar'), 'three');
  await assert.rejects(requireDigests(jars, list, 'x'), { code: 'E_TARGET', message: /c\.jar/ });
  const real = read('servers/cassandra-jars.sha256').trimEnd().split('\n');
  for (const line of real) assert.match(line, /^[0-9a-f]{64} {2}[\w.+-]+\.jar$/);
  assert.ok(real.some((line) => line.includes('cassandra-all-5.0.9.jar')));
});

test('CI installs another Node by its exact version, and runs no package script', () => {
  const text = read('.ci/run');
  assert.match(text, /^later=\d+\.\d+\.\d+$/m);
  assert.match(text, /npx -y --ignore-scripts -p "\$package"/);
  assert.match(text, /^node scripts\/install\.js$/m);
  assert.match(read('scripts/install.js'), /'--ignore-scripts'/);
  assert.match(read('.npmrc'), /^ignore-scripts=true$/m);
});

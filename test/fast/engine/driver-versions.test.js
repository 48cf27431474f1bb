/** Another version of a driver beside the installed one, in the same rounds. */

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { resolveFor } from '../../../engine/driver-hooks.js';
import {
  installDriver,
  parsePackage,
  storagesOfPackages,
} from '../../../engine/driver-versions.js';
import { parseResult } from '../../../lib/result.js';
import { assertFailure, ROOT, runCommand } from '../../helpers/command-line.js';

const folder = mkdtempSync(path.join(tmpdir(), 'dragstrip-contenders-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * A driver without a server that waits as long as its version says: which of the two a process has
 * loaded is to be seen in the times.
 * @param {string} place
 * @param {string} version
 * @param {number} turns of the event loop for each read
 */
function writeDriver(place, version, turns) {
  mkdirSync(path.join(place, 'lib'), { recursive: true });
  writeFileSync(
    path.join(place, 'package.json'),
    JSON.stringify({
      name: 'turning-driver',
      version,
      type: 'module',
      exports: { '.': './index.js', './turns': './lib/turns.js' },
      scripts: { install: "node -e \"require('fs').writeFileSync('ran', '')\"" },
    }),
  );
  writeFileSync(path.join(place, 'index.js'), `export const version = '${version}';\n`);
  writeFileSync(path.join(place, 'lib/turns.js'), `export const turns = ${turns};\n`);
}

before(() => {
  writeDriver(path.join(folder, 'node_modules/turning-driver'), '2.0.0', 1);
  writeDriver(path.join(folder, 'old'), '1.4.2', 400);
  const define = pathToFileURL(path.join(ROOT, 'lib/define.js')).href;
  writeFileSync(
    path.join(folder, 'turning.mjs'),
    `import { version } from 'turning-driver';
    import { defineStorage } from ${JSON.stringify(define)};
    export default defineStorage({
      name: 'turning', summary: 'waits', package: 'turning-driver', server: null,
      profiles: { default: { summary: '', options: {} } },
      async open({ dataset }) {
        const { turns } = await import('turning-driver/turns');
        if ((version === '1.4.2') !== (turns === 400)) throw new Error('two versions mixed');
        return {
          async get(id) {
            for (let i = 0; i < turns; i += 1) await null;
            return dataset.value(id);
          },
          async close() {},
        };
      },
    });`,
  );
});

const OLD = `turning-driver@file:${path.join(folder, 'old')}`;
const RACE = [
  ...['bin/dragstrip.js', 'race', '--storage', './turning.mjs', '--in-flight', '10', '--quiet'],
  ...['--ops', '2000', '--warmup', '100', '--rounds', '4', '--rows', '50', '--json', 'ab.json'],
];

test('the other version is installed without its scripts and raced in the same rounds', async () => {
  const { status, stdout, stderr } = await runCommand(folder, [...RACE, '--against', OLD]);
  assert.equal(status, 0, stderr);
  const result = parseResult(readFileSync(path.join(folder, 'ab.json'), 'utf8'), 'ab.json');
  for (const { outcomes, scheduled } of result.benchmarks.flatMap(({ rounds }) => rounds)) {
    assert.equal(
      Object.values(outcomes).reduce((a, b) => a + b, 0),
      scheduled,
    );
    assert.equal(outcomes.ok, 2000);
  }
  assert.deepEqual(
    result.storages.map(({ name, version, base }) => [name, version, base]),
    [
      ['turning', '2.0.0', undefined],
      ['turning@1.4.2', '1.4.2', 'turning'],
    ],
  );
  const p50 = (/** @type {string} */ storage) =>
    Math.min(
      ...result.benchmarks
        .filter((benchmark) => benchmark.storage === storage)
        .flatMap(({ rounds }) => rounds.map(({ latency }) => latency?.p50Ns ?? 0)),
    );
  assert.ok(p50('turning@1.4.2') > 3 * p50('turning'), 'the old one has really been loaded');
  assert.match(
    stdout,
    // How sure it is depends on what else this machine does.
    /^turning@1\.4\.2 vs turning, sync: 0\.\d+× \([\d.]+–[\d.]+, p [<\d. ]+, n 4\): \w+/m,
  );
  const [installed] = readdirSync(path.join(folder, 'state/drivers'));
  const copy = path.join(folder, 'state/drivers', installed, 'node_modules/turning-driver');
  assert.equal(existsSync(path.join(copy, 'ran')), false, 'no script was run');
  assert.deepEqual(
    readdirSync(path.join(folder, 'state/drivers')).filter((name) => name.startsWith('.')),
    [],
  );
});

test('what was installed is used again, without npm', async () => {
  const home = path.join(folder, 'again');
  const place = path.join(home, 'drivers', 'ghost@9');
  mkdirSync(path.join(place, 'node_modules/ghost'), { recursive: true });
  writeFileSync(path.join(place, 'node_modules/ghost/package.json'), '{ "version": "9.9.9" }');
  const driver = await installDriver('ghost@9', home);
  assert.deepEqual(driver, { name: 'ghost', version: '9.9.9', folder: place });
});

test('a version that cannot be installed is reported in one line and leaves nothing behind', async () => {
  const missing = `turning-driver@file:${path.join(folder, 'nowhere')}`;
  assertFailure(
    await runCommand(folder, [...RACE, '--force', '--against', missing]),
    4,
    /--against turning-driver@file.*npm could not install it/,
  );
  const left = readdirSync(path.join(folder, 'state/drivers'));
  assert.deepEqual(
    left.filter((name) => name.startsWith('.') || name.includes('nowhere')),
    [],
  );
  const other = [...RACE, '--force', '--against', 'ioredis@5'];
  assertFailure(await runCommand(folder, other), 2, /no storage of this run/);
});

test('a package and its version are read, and nothing that npm would take for an option', () => {
  assert.deepEqual(parsePackage('ioredis@5'), { name: 'ioredis', range: '5' });
  assert.deepEqual(parsePackage('@a/b@^1.2'), { name: '@a/b', range: '^1.2' });
  for (const text of ['ioredis', 'ioredis@', '@a/b', '--x@1', 'a@--global', 'a b@1', '']) {
    assert.throws(() => parsePackage(text), { code: 'E_USAGE', hint: /ioredis@5/ });
  }
});

test('without --storages those are raced that have the driver', async () => {
  const race = { needs: /** @type {const} */ (['get']) };
  assert.deepEqual(await storagesOfPackages(['ioredis@5'], race), ['ioredis']);
  assert.equal(await storagesOfPackages([], race), null);
  await assert.rejects(storagesOfPackages(['left-pad@1'], race), { code: 'E_USAGE' });
});

test('only the package itself is exchanged, and only for adapters', () => {
  const resolve = resolveFor({ name: 'ioredis', version: '5.0.0', folder: '/state/x' });
  const from = (/** @type {string} */ specifier, parentURL = 'file:///app/storages/ioredis.js') =>
    resolve(specifier, { parentURL }, (_, context) => context.parentURL);
  const there = 'file:///state/x/package.json';
  assert.equal(from('ioredis'), there);
  assert.equal(from('ioredis/built/utils.js'), there);
  for (const other of ['ioredis-mock', 'redis', './ioredis.js', 'node:net']) {
    assert.notEqual(from(other), there);
  }
  const inside = 'file:///app/node_modules/bullmq/index.js';
  assert.equal(from('ioredis', inside), inside);
});

/** Another version of a driver beside the installed one, in the same rounds. */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { resolveFor } from '../../engine/driver-hooks.js';
import { storagesOfPackages } from '../../engine/driver-versions.js';
import { installDriver } from '../../engine/drivers/install.js';
import { sourcesOf } from '../../engine/drivers/sources.js';
import { parseResult } from '../../lib/parse-result.js';
import { differencesOf } from '../../report/analysis/conditions.js';
import { assertFailure, callCommand, callIn } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { writeDriver, writeTurning } from '../helpers/turning-driver.js';

const folder = withFolder();

const OLD = './old';
const HOME = path.join(folder, 'state');

before(() => {
  writeTurning(folder, {
    'node_modules/turning-driver': ['2.0.0', 100],
    old: ['1.4.2', 2000],
  });
  process.chdir(folder);
  Object.assign(process.env, { DRAGSTRIP_HOME: HOME });
});

const RACE = [
  ...['bin/dragstrip.js', 'race', '--storages', './turning.mjs', '--load', 'sync', '--quiet'],
  ...['--ops', '1000', '--warmup', '50', '--rounds', '4', '--rows', '50'],
  ...['--json', 'ab.json', '--force'],
];

/** @param {string[]} words */
const race = (...words) => callIn(folder, [...RACE, ...words]);

/** @param {string} home @returns {string[]} */
const driversIn = (home) => readdirSync(path.join(home, 'drivers'));

/** The other one takes some twenty times as long: far from both limits, on a busy machine too. */
const gates = (/** @type {number} */ limit) => [
  ...['--fail-if', `throughput<${limit}`, '--fail-if', 'p50>1s'],
];

test('the other version is installed without scripts and raced, and a gate on it fails', async () => {
  const { status, stdout, stderr } = await race('--against', OLD, ...gates(4.9));
  assert.equal(status, 6, `${stdout}${stderr}`);
  assert.match(
    stdout,
    /^failed: throughput<4\.9, turning@1\.4\.2\+\w{7}, sync: 0\.\d+× of turning/m,
  );
  assert.match(stdout, /^passed: p50>1s, turning@1\.4\.2/m);
  // How sure it is depends on what else this machine does.
  assert.match(stdout, /^turning@1\.4\.2\+\w{7} vs turning, 1 in flight: \D+ [\d.]+.*×/m);
  const result = parseResult(readFileSync(path.join(folder, 'ab.json'), 'utf8'), 'ab.json');
  for (const { outcomes, scheduled } of result.benchmarks.flatMap(({ rounds }) => rounds)) {
    assert.equal(
      Object.values(outcomes).reduce((a, b) => a + b, 0),
      scheduled,
    );
    assert.equal(outcomes.ok, 1000);
  }
  const OTHER = result.storages[1].name;
  assert.match(OTHER, /^turning@1\.4\.2\+[0-9a-f]{7}$/);
  assert.deepEqual(
    result.storages.map(({ name, version, base }) => [name, version, base]),
    [
      ['turning', '2.0.0', undefined],
      [OTHER, '1.4.2', 'turning'],
    ],
  );
  const p50 = (/** @type {string} */ storage) =>
    Math.min(
      ...result.benchmarks
        .filter((benchmark) => benchmark.storage === storage)
        .flatMap(({ rounds }) => rounds.map(({ latency }) => latency?.p50Ns ?? 0)),
    );
  assert.ok(p50(OTHER) > 3 * p50('turning'), 'the old one has really been loaded');
  const installed = driversIn(HOME);
  assert.equal(installed.length, 1, 'nothing else is left');
  const copy = path.join(HOME, 'drivers', installed[0], 'node_modules/turning-driver');
  assert.equal(existsSync(path.join(copy, 'ran')), false, 'no script was run');
});

test('--reference sets the baseline of the ratios', async () => {
  const other = await race('--against', OLD, '--reference', OLD, ...gates(0.21));
  assert.equal(other.status, 0, other.stderr);
  assert.match(other.stdout, /^passed: throughput<0\.21, turning, sync: .* of turning@1\.4\.2/m);
});

test('an installed published version is reused, without npm', async () => {
  const home = path.join(folder, 'again');
  const place = path.join(home, 'drivers', 'ghost-0123456789abcdef');
  mkdirSync(path.join(place, 'node_modules/ghost'), { recursive: true });
  const mark = { package: 'ghost', version: '9.9.9', kind: 'registry', integrity: 'sha512-x' };
  writeFileSync(path.join(place, 'dragstrip-driver.json'), JSON.stringify(mark));
  const [source] = sourcesOf('ghost@9.9.9');
  const driver = await installDriver(source, home);
  const expected = { name: 'ghost', package: 'ghost', version: '9.9.9', folder: place };
  assert.deepEqual(driver, { ...expected, label: '9.9.9' });
});

test('a folder is packed each time and cached by its content', async () => {
  const home = path.join(folder, 'content');
  const place = path.join(folder, 'changing');
  const install = () => installDriver(sourcesOf(place)[0], home);
  writeDriver(place, '3.0.0', 7);
  const first = await install();
  assert.equal((await install()).folder, first.folder, 'the same content is the same');
  writeFileSync(path.join(place, 'lib/turns.js'), 'export const turns = 8;\n');
  const second = await install();
  assert.equal(second.version, first.version);
  assert.notEqual(second.folder, first.folder);
  assert.notEqual(second.label, first.label);
  const code = (/** @type {string} */ at) =>
    readFileSync(path.join(at, 'node_modules/turning-driver/lib/turns.js'), 'utf8');
  assert.match(code(first.folder), /7/);
  assert.match(code(second.folder), /8/);
  assert.equal(driversIn(home).length, 2, 'nothing else is left');
  const inside = path.join(place, '.dragstrip');
  mkdirSync(path.join(inside, 'servers'), { recursive: true });
  writeFileSync(path.join(inside, 'servers/secret'), 'not to be packed');
  const third = await installDriver(sourcesOf(place)[0], inside);
  assert.equal(path.basename(third.folder), path.basename(second.folder), 'the same content');
  const packed = path.join(third.folder, 'node_modules/turning-driver');
  assert.equal(existsSync(path.join(packed, '.dragstrip/servers/secret')), false);
});

test('the same code twice, and code that does not open, are refused before the race', async () => {
  writeDriver(path.join(folder, 'broken'), '4.0.0', 7);
  writeFileSync(path.join(folder, 'broken/index.js'), "import './not-built.js';\n");
  mkdirSync(path.join(folder, 'copy'));
  for (const [name, text] of Object.entries({
    'by-path.mjs': `import { createRequire } from 'node:module';
      const { version } = createRequire(import.meta.url)('./required.cjs');
      export default {
        name: 'by-path', summary: version, package: 'turning-driver', server: null,
        profiles: { default: { summary: '', options: {} } },
        open: async ({ dataset }) => ({ get: async (id) => dataset.value(id), async close() {} }),
      };`,
    'copy/package.json': '{ "name": "turning-driver" }',
    'copy/index.js': "exports.version = '0.0.1';",
    'required.cjs': "module.exports = require('./copy/index.js');",
  })) {
    writeFileSync(path.join(folder, name), text);
  }
  const byPath = RACE.map((word) => word.replace('turning.mjs', 'by-path.mjs'));
  const copied = await callIn(folder, [...byPath, '--against', OLD]);
  assertFailure(copied, 4, /by-path@1\.4\.2\+\w{7} would load another copy of turning-driver/);
  const notOpened = await assertRefusals([
    [2, ['--against', OLD, '--against', OLD], /this run already contains .* with the same code/],
    [4, ['--against', './broken'], /\.\/broken: turning@4\.0\.0\+\w{7} does not open: .*build it/],
  ]);
  assert.ok(!notOpened.includes(folder), 'no path of this machine');
});

/**
 * @param {[status: number, words: string[], says: RegExp][]} refusals
 * @returns {Promise<string>} error stream of the last
 */
async function assertRefusals(refusals) {
  let last = '';
  for (const [status, words, says] of refusals) {
    const ended = await callCommand([...RACE, ...words]);
    assertFailure(ended, status, says);
    last = ended.stderr;
  }
  return last;
}

test('a storage from a file is stored with the code that its process loads', async () => {
  const place = path.join(folder, 'elsewhere');
  writeDriver(path.join(place, 'node_modules/ioredis'), '5.11.1', 3);
  writeFileSync(path.join(place, 'package.json'), '{ "name": "elsewhere" }');
  writeFileSync(
    path.join(place, 'own.mjs'),
    `import { version } from 'ioredis';
    export default {
      name: 'own', summary: version, package: 'ioredis', server: null,
      profiles: { default: { summary: '', options: {} } },
      async open({ dataset }) {
        return { get: async (id) => dataset.value(id), close: async () => {} };
      },
    };`,
  );
  const command = [
    ...['bin/dragstrip.js', 'race', '--storages', './own.mjs', '--load', 'sync', '--ops', '50'],
    ...[
      '--rows',
      '50',
      '--warmup',
      '1',
      '--rounds',
      '1',
      '--quiet',
      '--force',
      '--json',
      'own.json',
    ],
  ];
  const run = async () => {
    const { status, stderr } = await callIn(place, command);
    assert.equal(status, 0, stderr);
    return parseResult(readFileSync(path.join(place, 'own.json'), 'utf8'), 'own.json');
  };
  const first = await run();
  const [{ version, driver, summary }] = first.storages;
  assert.deepEqual([version, summary], ['5.11.1', '5.11.1']);
  assert.deepEqual([driver?.version, driver?.path], ['5.11.1', 'node_modules/ioredis']);
  assert.match(String(driver?.hash), /^[0-9a-f]{64}$/);
  // The same version, other code.
  writeFileSync(path.join(place, 'node_modules/ioredis/lib/turns.js'), 'export const turns = 4;\n');
  const second = await run();
  assert.deepEqual(
    differencesOf(first, second).map(({ what }) => what),
    ['driver of own'],
  );
});

test('a failed installation is reported in one line and leaves nothing behind', async () => {
  writeFileSync(path.join(folder, 'torn.tgz'), 'no tarball');
  // An entry of negative size leads back to itself.
  const header = Buffer.alloc(1024);
  header.write('package/index.js', 0);
  header.write('-0000001000', 124);
  writeFileSync(path.join(folder, 'endless.tgz'), gzipSync(header));
  const failing = path.join(folder, 'failing');
  writeDriver(failing, '5.0.0', 1);
  const manifest = { name: 'turning-driver', version: '5.0.0', scripts: { prepack: 'exit 3' } };
  writeFileSync(path.join(failing, 'package.json'), JSON.stringify(manifest));
  const missing = 'turning-driver@file:./nowhere';
  const ratio = ['--fail-if', 'throughput<0.95'];
  await assertRefusals([
    [2, ['--against', missing], /--against turning-driver@file.*no such folder/],
    [2, ['--against', 'torn.tgz'], /--against torn\.tgz: the tarball has no name and version/],
    [
      2,
      ['--against', 'endless.tgz'],
      /--against endless\.tgz: the tarball has no name and version/,
    ],
    [4, ['--against', './failing'], /--against \.\/failing: npm could not pack it/],
    [2, ['--against', 'ioredis@5'], /no storage of this run/],
    [2, ratio, /a ratio needs a baseline/],
    [
      2,
      ['--against', OLD, '--reference', 'x', ...ratio],
      /--reference x: not a contender of this run.*turning, \.\/old/,
    ],
  ]);
  assert.deepEqual(
    driversIn(HOME).filter((name) => name.startsWith('.')),
    [],
  );
});

test('the value of --against is parsed, and nothing that npm would treat as an option', () => {
  const texts = (/** @type {string} */ text) => sourcesOf(text).map(({ spec }) => spec);
  assert.deepEqual(texts('ioredis@5'), ['ioredis@5']);
  assert.deepEqual(texts('@a/b@^1.2'), ['@a/b@^1.2']);
  assert.deepEqual(texts('ioredis@4,5, 6'), ['ioredis@4', 'ioredis@5', 'ioredis@6']);
  assert.deepEqual(texts('redis@>=4 <6'), ['redis@>=4 <6']);
  const [fork] = sourcesOf('other-name@./old', folder);
  assert.deepEqual(
    [fork.name, fork.package, fork.kind],
    ['other-name', 'turning-driver', 'folder'],
  );
  for (const text of ['ioredis', 'ioredis@', '@a/b', '--x@1', 'a@--global', 'a b@1', '', 'a@1,']) {
    assert.throws(() => sourcesOf(text), { code: 'E_USAGE', hint: /ioredis@5/ });
  }
});

test('without --storages all storages with the driver are raced', async () => {
  const race = { needs: /** @type {const} */ (['get']) };
  assert.deepEqual(await storagesOfPackages(['ioredis@5'], race), ['ioredis']);
  assert.deepEqual(await storagesOfPackages(['mariadb@3'], race), ['mariadb'], 'an alternative');
  assert.equal(await storagesOfPackages([], race), null);
  await assert.rejects(storagesOfPackages(['left-pad@1'], race), { code: 'E_USAGE' });
});

test('only the package itself is replaced, and only for adapters', () => {
  const resolve = resolveFor({
    name: 'ioredis',
    package: 'ioredis',
    version: '5.0.0',
    label: '5.0.0',
    folder: '/state/x',
  });
  const from = (/** @type {string} */ specifier, parentURL = 'file:///app/storages/ioredis.js') =>
    resolve(specifier, { parentURL }, (_, context) => context.parentURL);
  const there = 'file:///state/x/package.json';
  assert.equal(from('ioredis'), there);
  assert.equal(from('ioredis/built/utils.js'), there);
  for (const other of ['ioredis-mock', 'redis', './ioredis.js', 'node:net']) {
    assert.notEqual(from(other), there);
  }
  // In an installed package, the built-in adapters are in node_modules themselves.
  const root = 'file:///user/node_modules/dragstrip/';
  const packed = resolveFor(
    { name: 'ioredis', package: 'ioredis', version: '5.0.0', label: '5.0.0', folder: '/x' },
    root,
  );
  const parentOf = (/** @type {string} */ parentURL) =>
    packed('ioredis', { parentURL }, (_, context) => context.parentURL);
  assert.equal(parentOf(`${root}storages/ioredis.js`), 'file:///x/package.json');
  for (const other of [`${root}node_modules/bullmq/a.js`, 'file:///user/node_modules/b/a.js']) {
    assert.equal(parentOf(other), other);
  }
  const inside = 'file:///app/node_modules/bullmq/index.js';
  assert.equal(from('ioredis', inside), inside);
});

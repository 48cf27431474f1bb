/** The first command on a machine that lacks something: one line that says so, and soon. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { missingHere } from '../../cli/start.js';
import { loadServer } from '../../servers/index.js';
import { ROOT } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';

const folder = withFolder();

test('packages that cannot be fetched are reported in one line, not by npm’s report', () => {
  mkdirSync(join(folder, 'scripts'));
  copyFileSync(join(ROOT, 'scripts', 'install.js'), join(folder, 'scripts', 'install.js'));
  const about = { name: 'x', version: '1.0.0', type: 'module', dependencies: { zod: '4.0.0' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(about));
  const packages = {
    '': about,
    'node_modules/zod': { version: '4.0.0', integrity: 'sha512-AA==' },
  };
  const lock = { name: 'x', version: '1.0.0', lockfileVersion: 3, requires: true, packages };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const { status, stderr } = spawnSync(process.execPath, [join(folder, 'scripts', 'install.js')], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      npm_config_registry: 'http://127.0.0.1:1/',
      npm_config_cache: join(folder, 'cache'),
    },
  });
  assert.notEqual(status, 0);
  const [first, second, ...rest] = stderr.trimEnd().split('\n');
  assert.equal(first, 'installing the locked packages (npm ci)');
  assert.match(second, /^dragstrip: packages not installed: .*cannot be reached \(ECONNREFUSED\)/);
  assert.deepEqual(rest, []);
});

test('missing packages are reported in one line', () => {
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'cli'));
  for (const file of ['bin/dragstrip.js', 'cli/start.js']) {
    copyFileSync(join(ROOT, file), join(folder, file));
  }
  const words = [join(folder, 'bin', 'dragstrip.js'), 'race'];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 2);
  assert.match(stderr, /^dragstrip: its packages are not installed; run `npm ci`[^\n]*\n$/);
});

test('an outdated Node is reported before anything is imported', () => {
  const found = () => '';
  assert.match(
    String(missingHere({ version: '18.20.8', resolve: found })),
    /Node 18\.20\.8 is too/,
  );
  assert.match(String(missingHere({ version: '20.18.3', resolve: found })), /install Node 20\.19/);
  for (const version of ['20.19.0', '22.1.0', '24.21.0']) {
    assert.equal(missingHere({ version, resolve: found }), null, version);
  }
});

test('a low limit of open files is reported in one line before the run', () => {
  const words = ['bin/dragstrip.js', 'race', '--storages', 'memory', '--ops', '10'];
  const shell = ['-c', 'ulimit -n 100; exec "$@"', 'sh', process.execPath, ...words];
  const { status, stderr } = spawnSync('sh', shell, { cwd: ROOT, encoding: 'utf8' });
  assert.equal(status, 4);
  assert.match(stderr, /^dragstrip: the limit of open files is 100[^\n]*ulimit -n 65536\n$/);
});

test('without a network, tests that need a missing server are skipped with the reason', async (context) => {
  const clone = join(folder, 'clone');
  cloneWithTests(clone, ['fast/printable.test.js', 'contract/nutcracker.test.js']);
  if (await (await loadServer('nutcracker')).find(join(clone, '.dragstrip'))) {
    return context.skip('nutcracker is installed on this machine');
  }
  /** @param {Record<string, string>} more */
  const testThere = (more) =>
    spawnSync(process.execPath, ['scripts/test.js', 'fast', 'contract'], {
      cwd: clone,
      encoding: 'utf8',
      // Port 9 (discard) is closed; apt takes a proxy from these variables (apt-transport-http(1)).
      env: {
        PATH: process.env['PATH'],
        HOME: clone,
        ...more,
        http_proxy: 'http://127.0.0.1:9',
        https_proxy: 'http://127.0.0.1:9',
      },
    });
  const { status, stdout } = testThere({});
  assert.equal(status, 0, stdout);
  assert.match(stdout, /\n. fail 0\n/);
  const [, reasons] = stdout.split('\nskipped: 1 of 2 files, since servers are missing\n');
  assert.match(reasons, /^ {2}packages nutcracker are not available: [^\n]*127\.0\.0\.1:9/m);
  const required = testThere({ DRAGSTRIP_TEST_SERVERS: 'required' });
  assert.equal(required.status, 4);
  assert.equal(required.stdout, '');
  for (const line of required.stderr.trimEnd().split('\n')) assert.match(line, /^dragstrip: /);
});

/**
 * @param {string} clone a new folder: this one with its packages, without fetched or built files
 * @param {readonly string[]} tests
 */
function cloneWithTests(clone, tests) {
  chmodSync(folder, 0o711); // or root would keep its servers in /var/lib
  const omitted = ['.dragstrip', '.git', 'node_modules'].map((name) => join(ROOT, name));
  const isWanted = (/** @type {string} */ source) =>
    !omitted.includes(source) && basename(source) !== 'test';
  cpSync(ROOT, clone, { recursive: true, filter: isWanted });
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  for (const file of [...tests, 'helpers']) {
    cpSync(join(ROOT, 'test', file), join(clone, 'test', file), { recursive: true });
  }
}

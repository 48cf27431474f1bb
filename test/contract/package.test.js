/**
 * What is published: packed, unpacked into an empty folder, its types checked by a consumer's
 * strict compiler and its command run.
 */

import assert from 'node:assert/strict';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { NO_SERVERS } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const CONSUMER = `
import { compareResults, defineStorage, run } from 'dragstrip';
import { connect } from 'dragstrip/handlersocket';
export const storage = defineStorage({
  name: 'mine', summary: 's', package: null, server: null,
  profiles: { default: { summary: 'x', options: {} } },
  open: async ({ dataset }) => ({ get: (id) => dataset.value(id), close: async () => {} }),
});
const result = await run({ storages: ['memory'], loads: [{ kind: 'window', inFlight: 10 }] });
export const rate: number = result.benchmarks[0].rounds[0].throughput;
// @ts-expect-error: a rate is a number
await run({ loads: [{ kind: 'rate', rate: 'x' }] });
// @ts-expect-error: a storage has to open
defineStorage({ name: 'mine', summary: 's', package: null, server: null });
const client = await connect({ host: '127.0.0.1', port: 9998 });
await client.openIndex({ database: 'd', table: 't', columns: ['str'] });
// @ts-expect-error: no such option
await connect({ hots: 'x' });
console.log(compareResults);
`;

const REQUIRING = `
import { connect } from 'dragstrip/handlersocket';
import dragstrip = require('dragstrip');
import { DragstripError, run, summarize, type RunOptions } from 'dragstrip';
export const messageOf = (error: DragstripError): string => error.message;
export async function rates(): Promise<number[]> {
  const options: RunOptions = { storages: ['memory'], warmup: 10, failIf: ['p99>5ms'] };
  const result = await run(options);
  // @ts-expect-error: no such port
  await connect({ host: '127.0.0.1', port: '9998' });
  return summarize(result).map(({ throughput }) => throughput?.value ?? dragstrip.version.length);
}
`;

/** @param {string} cwd @param {string[]} words files, and how they are compiled */
async function assertCompiles(cwd, words) {
  const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const flags = ['--noEmit', '--strict', '--target', 'es2023', '--types', 'node'];
  const how = { cwd, reject: /** @type {const} */ (false) };
  const { stdout, exitCode } = await execa(process.execPath, [tsc, ...flags, ...words], how);
  assert.equal(stdout, '');
  assert.equal(exitCode, 0);
}

describe('the package as it is published', () => {
  const folder = withFolder();
  before(async () => {
    await execa(
      'npm',
      ['pack', '--ignore-scripts=false', '--silent', '--pack-destination', folder],
      { cwd: ROOT },
    );
    const [file] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
    await execa('tar', ['xzf', file], { cwd: folder });
    const modules = path.join(folder, 'node_modules');
    await mkdir(modules);
    for (const name of await readdir(path.join(ROOT, 'node_modules'))) {
      if (name.startsWith('.')) continue;
      await symlink(path.join(ROOT, 'node_modules', name), path.join(modules, name));
    }
    await rename(path.join(folder, 'package'), path.join(modules, 'dragstrip'));
  });

  for (const [module, resolution, ...files] of [
    ['nodenext', 'nodenext', 'consumer.mts', 'consumer.cts'],
    ['node16', 'node16', 'consumer.mts', 'consumer.cts'],
    ['esnext', 'bundler', 'consumer.ts'],
  ]) {
    test(`its types hold in a strict ${files} of ${resolution}, and say what is wrong`, async () => {
      for (const file of files) {
        await writeFile(path.join(folder, file), file.endsWith('.cts') ? REQUIRING : CONSUMER);
      }
      const how = ['--module', module, '--moduleResolution', resolution];
      await assertCompiles(folder, [...how, ...files]);
    });
  }

  test('require and import give the same', async () => {
    const keys = {
      dragstrip: 'run',
      'dragstrip/handlersocket': 'connect',
      'dragstrip/mutex': 'createLocker',
    };
    const code = `for (const [name, key] of Object.entries(${JSON.stringify(keys)})) {
      const a = require(name);
      import(name).then((b) => {
        if (typeof a[key] !== 'function' || a[key] !== b[key]) process.exitCode = 1;
      });
    }`;
    await execa(process.execPath, ['--no-warnings', '-e', code], { cwd: folder });
  });

  test('it holds the sources of its packages once, and none of their tests', async () => {
    const place = path.join(folder, 'node_modules/dragstrip/packages');
    const files = await readdir(place, { recursive: true });
    assert.ok(files.includes('mutex/index.js') && files.includes('handlersocket/README.md'));
    assert.deepEqual(
      files.filter((file) => /\b(test|types|dist)\b/.test(file)),
      [],
    );
  });

  test('its command lists all and races', async () => {
    const bin = path.join(folder, 'node_modules', 'dragstrip', 'bin', 'dragstrip.js');
    const env = { ...NO_SERVERS, DRAGSTRIP_HOME: path.join(folder, 'state') };
    const list = await execa(process.execPath, [bin, 'list'], { cwd: folder, env });
    assert.match(list.stdout, /ioredis/);
    const words = ['--storages', 'memory', '--load', 'sync', '--rounds', '1', '--ops', '100'];
    const race = await execa(process.execPath, [bin, 'race', ...words, '--rows', '100'], {
      cwd: folder,
      env,
    });
    assert.match(race.stdout, /memory/);
  });

  test('the HandlerSocket client and the mutex are packages without dependencies', async (t) => {
    const place = await mkdtemp(path.join(tmpdir(), 'dragstrip-alone-'));
    t.after(() => rm(place, { recursive: true, force: true }));
    // The types of all are there: the prepack of each is that of the whole.
    const how = ['--ignore-scripts', '--silent', '--workspaces', '--pack-destination', place];
    await execa('npm', ['pack', ...how], { cwd: ROOT });
    const modules = path.join(place, 'alone', 'node_modules');
    await mkdir(path.join(modules, '@types'), { recursive: true });
    await symlink(path.join(ROOT, 'node_modules/@types/node'), path.join(modules, '@types/node'));
    const tarballs = (await readdir(place)).filter((name) => name.endsWith('.tgz'));
    assert.equal(tarballs.length, 2);
    for (const file of tarballs) {
      await execa('tar', ['xzf', path.join(place, file)], { cwd: path.join(place, 'alone') });
      const name = file.replace(/-\d+\.\d+\.\d+\.tgz$/, '');
      await rename(path.join(place, 'alone/package'), path.join(modules, name));
    }
    const about = await readFile(path.join(modules, 'dragstrip-handlersocket/README.md'), 'utf8');
    assert.match(about, /from 'dragstrip-handlersocket'/);
    for (const name of ['handlersocket', 'mutex']) {
      const text = await readFile(path.join(modules, `dragstrip-${name}/package.json`), 'utf8');
      assert.match(JSON.parse(text).scripts.prepack, /\/scripts\/build-types\.js$/);
    }
    const pages = await readdir(path.join(modules, 'dragstrip-handlersocket'));
    assert.ok(pages.includes('migration.md') && pages.includes('LICENSE'));
    const cwd = path.join(place, 'alone');
    const code =
      "import { connect } from 'dragstrip-handlersocket';" +
      "import { createLocker } from 'dragstrip-mutex';" +
      "await connect({ host: '127.0.0.1', port: 1 }).catch(({ code }) => console.log(code));" +
      'console.log(typeof createLocker);';
    const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', code], { cwd });
    assert.match(stdout, /^HS_CONNECT\nfunction$/);
    await writeFile(
      path.join(cwd, 'alone.mts'),
      `import { connect } from 'dragstrip-handlersocket';
      import { createLocker } from 'dragstrip-mutex';
      const client = await connect({ host: '127.0.0.1', port: 9998 });
      await client.openIndex({ database: 'd', table: 't', columns: ['str'] });
      // @ts-expect-error: no such option
      await connect({ hots: 'x' });
      export const lock: typeof createLocker = createLocker;`,
    );
    await writeFile(
      path.join(cwd, 'alone.cts'),
      `import { HandlerSocketClient } from 'dragstrip-handlersocket';
      import { type Locker, MutexError } from 'dragstrip-mutex';
      export const pending = (client: HandlerSocketClient): number => client.counters().pending;
      export const unlock = (locker: Locker): Promise<boolean> => locker.mutex('a').unlock();
      // @ts-expect-error: an error has a code, no number
      export const number = (error: MutexError): number => error.code;`,
    );
    await assertCompiles(cwd, ['--module', 'nodenext', 'alone.mts', 'alone.cts']);
    const required = "const { connect } = require('dragstrip-handlersocket'); connect.call;";
    await execa(process.execPath, ['--no-warnings', '-e', required], { cwd });
  });
});

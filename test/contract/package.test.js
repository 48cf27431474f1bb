/**
 * The published package: packed, unpacked into an empty folder, its types checked by a consumer's
 * strict compiler and its command run.
 */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
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
  const flags = ['--noEmit', '--strict', '--target', 'es2023', '--singleThreaded'];
  const how = { cwd, reject: /** @type {const} */ (false) };
  const { stdout, exitCode } = await execa(process.execPath, [tsc, ...flags, ...words], how);
  assert.equal(stdout, '');
  assert.equal(exitCode, 0);
}

describe('the package as it is published', () => {
  const folder = withFolder();
  // Without types, `npm start` and `npm publish` build them; a plain `npm pack` packs the existing
  // ones.
  const clone = path.join(folder, 'clone', 'drag strip');
  const types = path.join(clone, 'types', 'index.d.cts');
  // Nobody listens there, and npm would ask again after 10 s and after a minute.
  const offline = { npm_config_registry: 'http://127.0.0.1:1/', npm_config_fetch_retries: '0' };
  const how = { cwd: clone, env: offline };

  before(async () => {
    const left = /^(node_modules|\.git|\.dragstrip|types|packages\/\w+\/types)$/;
    const filter = (/** @type {string} */ from) => !left.test(path.relative(ROOT, from));
    await cp(ROOT, clone, { recursive: true, filter });
    await symlink(path.join(ROOT, 'node_modules'), path.join(clone, 'node_modules'));
    await execa(process.execPath, ['scripts/install.js'], how); // as `npm start` does
    assert.ok(existsSync(types), 'built in a clone without any');
    await execa('npm', ['pack', '--silent', '--pack-destination', folder], how);
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

  for (const [module, resolution, lib, ...files] of [
    ['nodenext', 'nodenext', 'es2023', 'consumer.mts', 'consumer.cts'],
    ['node16', 'node16', 'es2023', 'consumer.mts', 'consumer.cts'],
    ['esnext', 'bundler', 'es2023,dom', 'consumer.ts'],
  ]) {
    test(`its types hold in a strict ${files} of ${resolution}, and report errors`, async () => {
      for (const file of files) {
        await writeFile(path.join(folder, file), file.endsWith('.cts') ? REQUIRING : CONSUMER);
      }
      const flags = ['--module', module, '--moduleResolution', resolution, '--lib', lib];
      await assertCompiles(folder, [...flags, ...files]);
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

  test('its command lists everything and races', async () => {
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

  test('its hint for hiredis is a command that runs there', async () => {
    const bin = path.join(folder, 'node_modules', 'dragstrip', 'bin', 'dragstrip.js');
    // PATH has no compiler, which is reported once the sources are found.
    const env = { ...NO_SERVERS, DRAGSTRIP_HOME: path.join(folder, 'state'), PATH: folder };
    const bare = { cwd: folder, env, reject: /** @type {const} */ (false) };
    const { stderr } = await execa(process.execPath, [bin, 'check', 'hiredis'], bare);
    const [, program, script] = /(node) (\S*build-hiredis\.js) \(needs/.exec(stderr) ?? [];
    assert.equal(program, 'node', stderr);
    assert.equal(script, 'node_modules/dragstrip/scripts/build-hiredis.js');
    const built = await execa(process.execPath, [script], bare);
    assert.equal(built.stdout, 'hiredis is not built: c++ is not on PATH');
  });

  test('npm publish builds types in a clone without any', async () => {
    await rm(path.dirname(types), { recursive: true });
    const { all } = await execa('npm', ['publish', '--dry-run'], { ...how, all: true });
    for (const file of ['types/index.d.ts', 'types/index.d.cts', 'types/lib/types.d.ts']) {
      assert.ok(all.includes(file), `${file} is not packed: ${all}`);
    }
  });

  test('the HandlerSocket client and the mutex are packages without dependencies', async (t) => {
    const place = withFolder(t);
    // The types of all are there: the prepack of each is that of the whole.
    const words = ['--ignore-scripts', '--silent', '--workspaces', '--pack-destination', place];
    await execa('npm', ['pack', ...words], how);
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
    await assertCompiles(cwd, [
      ...['--module', 'nodenext', '--lib', 'es2023'],
      ...['alone.mts', 'alone.cts'],
    ]);
    const required = "const { connect } = require('dragstrip-handlersocket'); connect.call;";
    await execa(process.execPath, ['--no-warnings', '-e', required], { cwd });
  });
});

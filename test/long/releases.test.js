/** `dragstrip bisect` with npm's own client and a registry of the test's own. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { execa } from 'execa';
import { assertFailure, NO_SERVERS, ROOT } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { writeTurning } from '../helpers/turning-driver.js';

/**
 * A registry of one package, as npm reads it.
 * @param {string} folder with a folder of each version
 * @param {string[]} versions
 */
async function startRegistry(folder, versions) {
  const words = ['pack', '--silent', '--ignore-scripts', ...versions.map((name) => `./${name}`)];
  await execa('npm', words, { cwd: folder });
  const tarballs = new Map(
    versions.map((name) => [name, readFileSync(path.join(folder, `turning-driver-${name}.tgz`))]),
  );
  const server = createServer((request, response) => {
    const { port } = /** @type {any} */ (server.address());
    const base = `http://127.0.0.1:${port}`;
    const file = /^\/turning-driver\/-\/(.+)\.tgz$/.exec(String(request.url));
    if (file !== null) return response.end(tarballs.get(file[1]));
    if (request.url !== '/turning-driver') return response.writeHead(404).end('{}');
    const name = 'turning-driver';
    const entries = [...tarballs].map(([version, bytes]) => {
      const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
      const dist = { tarball: `${base}/${name}/-/${version}.tgz`, integrity };
      return [version, { name, version, dist }];
    });
    const tags = { latest: versions.at(-1) };
    const about = { name, 'dist-tags': tags, versions: Object.fromEntries(entries) };
    return response.end(JSON.stringify(about));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
}

describe('a local registry with a planted release', () => {
  const folder = withFolder();
  const versions = ['1.0.0', '1.1.0', '2.0.0'];
  /** @type {import('node:http').Server} */
  let server;

  before(async () => {
    writeTurning(folder, {
      'node_modules/turning-driver': ['1.0.0', 20],
      '1.0.0': ['1.0.0', 20],
      '1.1.0': ['1.1.0', 1000],
      '2.0.0': ['2.0.0', 1000],
    });
    server = await startRegistry(folder, versions);
  });
  after(() => {
    server?.close();
  });

  /** @param {string[]} words */
  const run = async (words) => {
    const { port } = /** @type {any} */ (server.address());
    const bin = path.join(ROOT, 'bin/dragstrip.js');
    const done = await execa(process.execPath, [bin, ...words], {
      cwd: folder,
      reject: false,
      env: {
        ...NO_SERVERS,
        DRAGSTRIP_HOME: path.join(folder, 'state'),
        npm_config_registry: `http://127.0.0.1:${port}/`,
        npm_config_cache: path.join(folder, 'cache'),
      },
    });
    return {
      status: done.exitCode ?? null,
      signal: null,
      stdout: done.stdout,
      stderr: `${done.stderr}\n`,
    };
  };

  test('bisect names it, with the size of the change', async () => {
    const few = ['--storages', './turning.mjs', '--rows', '100', '--budget', '4s', '--quiet'];
    const words = ['bisect', 'turning-driver', '1.0.0', '2.0.0', '--metric', 'throughput', ...few];
    const { status, stdout, stderr } = await run(words);
    assert.equal(status, 0, stderr);
    assert.match(
      stdout,
      /^turning-driver: 1\.1\.0 changed throughput: 0\.\d+× \(.* n \d+\) of 1\.0\.0/,
    );
    assertFailure(await run(['bisect', 'turning-driver', '2.0.0', '1.0.0', ...few]), 2, /older/);
    const missing = await run(['bisect', 'turning-driver', '1.0.7', '2.0.0', ...few]);
    const nearest = /turning-driver 1\.0\.7 was not published; nearest versions: 1\.0\.0, 1\.1\.0/;
    assertFailure(missing, 4, nearest);
    const storage = readFileSync(path.join(folder, 'turning.mjs'), 'utf8');
    const other = storage.replaceAll('turning-driver', 'nowhere-driver');
    writeFileSync(
      path.join(folder, 'nowhere.mjs'),
      other.replace(/^import.*/, 'const version = 1;'),
    );
    const bisect = ['bisect', 'nowhere-driver', '1', '2'];
    assertFailure(await run([...bisect, ...few]), 2, /no storage .* driver nowhere-driver/);
    const named = few.map((word) => word.replace('turning', 'nowhere'));
    assertFailure(await run([...bisect, ...named]), 4, /npm found no versions/);
  });
});

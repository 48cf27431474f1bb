/** `dragstrip bisect` with npm's own client and a registry of the test's own. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { execa } from 'execa';
import { assertFailure, NO_SERVERS, ROOT } from '../helpers/command-line.js';

/** A registry of one package, as npm reads it. */
async function startRegistry(/** @type {string} */ folder, /** @type {string[]} */ versions) {
  const tarballs = new Map();
  for (const version of versions) {
    const place = path.join(folder, `turning-${version}`);
    const { stdout } = await execa('npm', ['pack', '--json', '--ignore-scripts', place], {
      cwd: folder,
    });
    const [packed] = /** @type {any[]} */ (Object.values(JSON.parse(stdout)));
    tarballs.set(version, { ...packed, bytes: readFileSync(path.join(folder, packed.filename)) });
  }
  const server = createServer((request, response) => {
    const { port } = /** @type {any} */ (server.address());
    const base = `http://127.0.0.1:${port}`;
    const file = /^\/turning-driver\/-\/(.+)\.tgz$/.exec(String(request.url));
    if (file !== null) return response.end(tarballs.get(file[1])?.bytes);
    if (request.url !== '/turning-driver') return response.writeHead(404).end('{}');
    const entries = [...tarballs].map(([version, { integrity, shasum }]) => [
      version,
      {
        name: 'turning-driver',
        version,
        type: 'module',
        exports: './index.js',
        dist: { tarball: `${base}/turning-driver/-/${version}.tgz`, integrity, shasum },
      },
    ]);
    return response.end(
      JSON.stringify({
        name: 'turning-driver',
        'dist-tags': { latest: versions[versions.length - 1] },
        versions: Object.fromEntries(entries),
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
}

describe('a registry of our own with a planted release', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dragstrip-registry-'));
  const versions = ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0', '2.0.0'];
  /** @type {import('node:http').Server} */
  let server;

  before(async () => {
    for (const [i, version] of versions.entries()) {
      const place = path.join(folder, `turning-${version}`);
      mkdirSync(place);
      const manifest = { name: 'turning-driver', version, type: 'module', exports: './index.js' };
      writeFileSync(path.join(place, 'package.json'), JSON.stringify(manifest));
      writeFileSync(path.join(place, 'index.js'), `export const turns = ${i < 3 ? 20 : 2000};\n`);
    }
    const installed = path.join(folder, 'node_modules/turning-driver');
    mkdirSync(installed, { recursive: true });
    for (const file of ['package.json', 'index.js']) {
      writeFileSync(
        path.join(installed, file),
        readFileSync(path.join(folder, 'turning-1.0.0', file)),
      );
    }
    writeFileSync(
      path.join(folder, 'turning.mjs'),
      `import { turns } from 'turning-driver';
      export default {
        name: 'turning', summary: 'waits', package: 'turning-driver', server: null,
        profiles: { default: { summary: '', options: {} } },
        open: { rows: async ({ dataset }) => ({
          async get(id) {
            for (let i = 0; i < turns; i += 1) await null;
            return dataset.value(id);
          },
          async close() {},
        }) },
      };`,
    );
    server = await startRegistry(folder, versions);
  });
  after(() => {
    server?.close();
    rmSync(folder, { recursive: true, force: true });
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
    const few = ['--storages', './turning.mjs', '--rows', '100', '--budget', '3s', '--quiet'];
    const words = ['bisect', 'turning-driver', '1.0.0', '2.0.0', '--metric', 'throughput', ...few];
    const { status, stdout, stderr } = await run(words);
    assert.equal(status, 0, stderr);
    assert.match(
      stdout,
      /^turning-driver: 1\.3\.0 changed throughput: 0\.\d+× \(.* n \d+\) of 1\.2\.0/,
    );
    assertFailure(await run(['bisect', 'turning-driver', '2.0.0', '1.0.0', ...few]), 2, /older/);
    const missing = await run(['bisect', 'turning-driver', '1.0.7', '2.0.0', ...few]);
    assertFailure(
      missing,
      4,
      /turning-driver 1\.0\.7 was not published; next to it: 1\.0\.0, 1\.1\.0/,
    );
    const storage = readFileSync(path.join(folder, 'turning.mjs'), 'utf8');
    const other = storage.replaceAll('turning-driver', 'nowhere-driver');
    writeFileSync(path.join(folder, 'nowhere.mjs'), other.replace(/^import.*/, 'const turns = 1;'));
    const bisect = ['bisect', 'nowhere-driver', '1', '2'];
    assertFailure(await run([...bisect, ...few]), 2, /no storage .* driver nowhere-driver/);
    const named = few.map((word) => word.replace('turning', 'nowhere'));
    assertFailure(await run([...bisect, ...named]), 4, /npm does not know/);
  });
});

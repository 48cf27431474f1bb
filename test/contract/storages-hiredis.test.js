/** The build of hiredis: from sources that cannot be written, once, whole or not at all. */

import assert from 'node:assert/strict';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { builtFolder } from '../../lib/hiredis-build.js';
import { findPackage } from '../../lib/packages.js';
import { buildHiredis } from '../../storages/hiredis-build.js';

const PACKAGES = ['hiredis', 'nan', 'bindings', 'file-uri-to-path'];

describe('the build of hiredis', () => {
  let folder = '';
  let modules = '';

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-hiredis-'));
    modules = path.join(folder, 'modules');
    for (const name of PACKAGES) {
      const from = findPackage(name)?.folder;
      assert.ok(from, `${name} is installed`);
      cpSync(from, path.join(modules, name), { recursive: true });
    }
  });
  after(async () => {
    setModes(modules, 0o755, 0o644);
    await rm(folder, { recursive: true, force: true });
  });

  it('names the missing tool, and leaves nothing behind', async () => {
    const home = path.join(folder, 'no-tools');
    const { PATH } = process.env;
    process.env['PATH'] = folder;
    try {
      assert.deepEqual(await buildHiredis({ home, modules }), {
        built: false,
        reason: 'c++ is not on PATH',
      });
    } finally {
      process.env['PATH'] = PATH;
    }
    const report = await buildHiredis({ home, modules: path.join(folder, 'none') });
    assert.deepEqual(report, {
      built: false,
      reason: 'the npm package hiredis is not installed',
    });
    assert.equal(existsSync(home), false);
  });

  it('fails on unknown sources, and leaves nothing behind', async (context) => {
    const home = path.join(folder, 'unknown');
    const file = path.join(modules, 'hiredis/src/reader.cc');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('v->ToString()', 'v->ToText()'));
    const report = await buildHiredis({ home, modules }).finally(() => writeFileSync(file, text));
    if (isWithoutTools(report)) return context.skip(String(report.reason));
    assert.equal(report.built, false);
    assert.match(String(report.reason), /is not the one of hiredis 0\.5\.0/);
    assert.deepEqual(readdirSync(path.join(home, 'hiredis')), []);
  });

  it('works twice concurrently on read-only sources, downloads nothing, and is kept', async (t) => {
    const home = path.join(folder, 'home');
    setModes(modules, 0o555, 0o444);
    const { npm_config_nodedir: nodedir } = process.env;
    process.env['npm_config_nodedir'] = ''; // node-gyp would take it for "download them"
    /** @type {import('../../storages/hiredis-build.js').BuildReport[]} */
    let reports;
    try {
      reports = await Promise.all([1, 2].map(() => buildHiredis({ home, modules })));
    } finally {
      if (nodedir === undefined) delete process.env['npm_config_nodedir'];
      else process.env['npm_config_nodedir'] = nodedir;
    }
    if (isWithoutTools(reports[0])) return t.skip(String(reports[0].reason));
    assert.deepEqual(reports, Array(2).fill({ built: true, reason: null }));
    assert.deepEqual(readdirSync(path.join(home, 'hiredis')), [path.basename(builtFolder(home))]);

    const { Reader } = createRequire(`${builtFolder(home)}/`)('hiredis');
    const reader = new Reader();
    reader.feed('$3\r\nab');
    assert.equal(reader.get(), undefined);
    reader.feed('c\r\n*2\r\n:7\r\n$-1\r\n-ERR no\r\n');
    assert.equal(reader.get(), 'abc');
    assert.deepEqual(reader.get(), [7, null]);
    assert.equal(reader.get().message, 'ERR no');

    // Built already: no sources and no tools are needed.
    const again = await buildHiredis({ home, modules: path.join(folder, 'none') });
    assert.deepEqual(again, { built: true, reason: null });
  });
});

/** @param {import('../../storages/hiredis-build.js').BuildReport} report */
function isWithoutTools({ reason }) {
  return reason !== null && /on PATH$|comes with npm|headers of Node/.test(reason);
}

/**
 * @param {string} root
 * @param {number} folderMode
 * @param {number} fileMode
 */
function setModes(root, folderMode, fileMode) {
  chmodSync(root, 0o755);
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const place = path.join(root, entry.name);
    if (entry.isDirectory()) setModes(place, folderMode, fileMode);
    else chmodSync(place, fileMode);
  }
  chmodSync(root, folderMode);
}

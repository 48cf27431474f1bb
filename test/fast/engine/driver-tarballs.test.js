/** A hostile tarball of `--against` cannot write outside of its folder. */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { installDriver } from '../../../engine/drivers/install.js';
import { sourcesOf } from '../../../engine/drivers/sources.js';
import { withFolder } from '../../helpers/folder.js';

const folder = withFolder();

test('no name in a tarball leads out of its folder', async () => {
  const home = path.join(folder, 'hostile');
  const outside = path.join(folder, 'outside');
  mkdirSync(outside);
  const about = JSON.stringify({ name: 'turning-driver', version: '6.6.6' });
  const entries = [
    tarEntry('package/package.json', { text: about }),
    ...['package/../../../../escaped', `${outside}/absolute`].map((name) => tarEntry(name)),
    tarEntry('package/link', { link: outside }),
    ...['package/link/through', 'package/kept'].map((name) => tarEntry(name)),
  ];
  const tarball = path.join(folder, 'hostile.tgz');
  writeFileSync(tarball, gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)])));
  const driver = await installDriver(sourcesOf(tarball)[0], home);
  const packed = path.join(driver.folder, 'node_modules/turning-driver');
  const everywhere = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const named = everywhere.filter((name) => /(escaped|absolute|through|kept)$/.test(name));
  for (const name of named) {
    assert.ok(path.join(folder, name).startsWith(`${packed}${path.sep}`), name);
  }
  assert.ok(existsSync(path.join(packed, 'kept')), 'it was unpacked');
  assert.deepEqual(readdirSync(outside), []);
});

test('NAME@fork.tgz is a tarball with a name, unless a file is called that', () => {
  const about = JSON.stringify({ name: 'ioredis', version: '5.0.0' });
  const end = Buffer.alloc(1024);
  const packed = gzipSync(Buffer.concat([tarEntry('package/package.json', { text: about }), end]));
  for (const name of ['fork.tgz', 'fork@2.tgz']) writeFileSync(path.join(folder, name), packed);
  const of = (/** @type {string} */ text) => {
    const [{ name, kind, spec }] = sourcesOf(text, folder);
    return [name, kind, path.relative(folder, spec)];
  };
  assert.deepEqual(of('mine@fork.tgz'), ['mine', 'tarball', 'fork.tgz']);
  assert.deepEqual(of('mine@file:fork.tgz'), ['mine', 'tarball', 'fork.tgz']);
  assert.deepEqual(of('fork@2.tgz'), ['ioredis', 'tarball', 'fork@2.tgz']);
  assert.deepEqual(of('./fork.tgz'), ['ioredis', 'tarball', 'fork.tgz']);
});

/**
 * An entry of a tar archive (POSIX.1-1988, ustar), as no program would write it.
 * @param {string} name
 * @param {{ text?: string, link?: string }} [content] link: a symbolic one, and where to
 */
function tarEntry(name, { text = 'x', link } = {}) {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write(`${(link === undefined ? text.length : 0).toString(8).padStart(11, '0')}\0`, 124);
  header.write(link === undefined ? '0' : '2', 156);
  header.write(link ?? '', 157);
  header.write('ustar\x0000', 257);
  header.fill(' ', 148, 156);
  const sum = header.reduce((all, one) => all + one, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const body = link === undefined ? Buffer.alloc(512) : Buffer.alloc(0);
  if (link === undefined) body.write(text);
  return Buffer.concat([header, body]);
}

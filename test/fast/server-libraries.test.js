/** Packages of the libraries that an unpacked program lacks. */

import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { nameKind } from '../../servers/conversation.js';
import { chooseLibraryPackages, findMissingLibraries } from '../../servers/libraries.js';
import { withFolder } from '../helpers/folder.js';

const DEBIAN_12 =
  'libc6 libgcc-s1 libaio1 liburing2 libjemalloc2 liblzf1 libatomic1 libicu72 libcurl4 libssl3 ' +
  'libunwind8 libyaml-0-2 libreadline8 libldap-2.5-0 libkrb5-3 libkrb5support0 libdbi-perl ' +
  'redis-tools';

/** @param {string} soname @param {string} [packages] */
function choose(soname, packages = DEBIAN_12) {
  return chooseLibraryPackages([soname], packages.split(' '), []).join(' ');
}

test('a library is found in the package named after it', () => {
  assert.equal(choose('libaio.so.1'), 'libaio1');
  assert.equal(choose('liburing.so.2'), 'liburing2');
  assert.equal(choose('libicuuc.so.72'), 'libicu72');
  assert.equal(choose('libicui18n.so.72'), 'libicu72');
  assert.equal(choose('libyaml-0.so.2'), 'libyaml-0-2');
  assert.equal(choose('libldap-2.5.so.0'), 'libldap-2.5-0');
  assert.equal(choose('liblber-2.5.so.0'), 'libldap-2.5-0');
  assert.equal(choose('libcrypto.so.3'), 'libssl3');
  assert.equal(choose('libcrypto.so.1.1', 'libssl1.1 libc6'), 'libssl1.1');
  assert.equal(choose('libz.so.1', 'zlib1g libssl3'), 'zlib1g');
  assert.equal(choose('libgcc_s.so.1'), 'libgcc-s1');
  assert.equal(choose('libkrb5support.so.0'), 'libkrb5support0');
});

test('on Ubuntu 24.04 the names with t64 are found', () => {
  assert.equal(choose('libaio.so.1', 'libaio1t64 libssl3t64 libc6'), 'libaio1t64');
  assert.equal(choose('libssl.so.3', 'libaio1t64 libssl3t64 libc6'), 'libssl3t64');
  assert.equal(choose('libsnappy.so.1', 'libsnappy1v5 libc6'), 'libsnappy1v5');
});

test('if the name does not tell, all libraries are installed, except the C library', () => {
  const chosen = choose('libpam_misc.so.0').split(' ');
  assert.ok(chosen.includes('libssl3'));
  assert.ok(!chosen.includes('libc6'));
  assert.ok(!chosen.includes('libdbi-perl'));
  assert.ok(!chosen.includes('redis-tools'));
});

test('unpacked packages are not installed again, so that the search ends', () => {
  assert.deepEqual(chooseLibraryPackages(['libaio.so.1'], ['libaio1'], ['libaio1']), []);
});

test('a server is identified by its first bytes', () => {
  const kinds = {
    'HTTP/1.1 400 Bad Request\r\n': 'an HTTP server',
    '+PONG\r\n': 'Redis',
    '-ERR unknown command': 'Redis',
    '-NOAUTH Authentication required.\r\n': 'Redis',
    'SSH-2.0-OpenSSH_9.2': 'an SSH server',
    'Tarantool 2.6.0 (Binary) ': 'Tarantool',
    '\x5b\x00\x00\x00\x0a5.5.5-10.11': 'MySQL or MariaDB',
    '\x5b\x00\x00\x00\xffjToo many': 'MySQL or MariaDB',
    '2\t1\tstmtnum\n': 'HandlerSocket',
    '3\t1\tunauth\n': 'HandlerSocket',
    '\x15\x03\x01': 'a TLS server',
  };
  for (const [bytes, kind] of Object.entries(kinds)) {
    assert.equal(nameKind(Buffer.from(bytes, 'latin1')), kind);
  }
  assert.match(nameKind(Buffer.from('hello\x01')), /^an unknown server .*"hello\\u0001"/);
});

test('programs below usr/lib are searched as well, such as Chromium', async (t) => {
  const root = withFolder(t);
  const folder = path.join(root, 'usr', 'lib', 'thing');
  await mkdir(folder, { recursive: true });
  // A program that asks for a library which is nowhere: Node itself, the name of one in it
  // exchanged. Debian's consists of a small program and libnode.
  const program = await readFile(process.execPath);
  const name = /lib(?:stdc\+\+|node|c)\.so\.\d+(?=\0)/.exec(program.toString('latin1'))?.[0] ?? '';
  assert.notEqual(name, '');
  const absent = 'libnotthere.so'.slice(0, name.length);
  program.write(absent.padEnd(name.length, '\0'), program.indexOf(`${name}\0`), 'latin1');
  await writeFile(path.join(folder, 'thing'), program, { mode: 0o755 });
  assert.deepEqual(await findMissingLibraries(root), [absent]);
  assert.deepEqual(await findMissingLibraries(root, undefined, ['other']), []);
});

/** The registry of storages, and the storages that need no server. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { capabilitiesOf } from '../../lib/capabilities.js';
import { createDataset, ROW_NAMES } from '../../lib/dataset.js';
import { defineStorage } from '../../lib/define.js';
import { findPackage } from '../../lib/packages.js';
import { ownerName, readStartTicks } from '../../lib/process-identity.js';
import {
  checkAvailable,
  loadStorage,
  parseSelection,
  requireProfile,
  STORAGE_NAMES,
  storageNamesFor,
  withoutAlternatives,
} from '../../storages/index.js';
import { withFolder } from '../helpers/folder.js';
import { assertDeclared, listCases, openRows, reader, within } from '../helpers/storage-cases.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const dataset = createDataset({ rows: 300, valueSize: 64, seed: 9 });
const usage = { name: 'DragstripError', code: 'E_USAGE' };
const cases = await listCases();

describe('storages, without a server', () => {
  const folder = withFolder();

  describe('the registry', () => {
    it("has the original program's storages in its order, then the others", () => {
      const first = ['redis', 'ioredis', 'hiredis', 'node-handlersocket', 'manual-hs', 'tarantool'];
      assert.deepEqual(STORAGE_NAMES.slice(0, first.length), first);
    });

    it('gives a workload the storages that have its kind of handle', async () => {
      const all = await Promise.all(STORAGE_NAMES.map((name) => loadStorage(name)));
      for (const kind of /** @type {const} */ (['insert', 'lock', 'command'])) {
        const having = all.filter(({ open }) => open[kind] !== undefined).map(({ name }) => name);
        assert.ok(having.includes('ioredis') && !having.includes('memory'), kind);
        assert.deepEqual(await storageNamesFor([kind]), having);
      }
      const rows = await storageNamesFor(['mget']);
      assert.ok(rows.includes('node-handlersocket'), 'skipped with its reason, not left out');
      assert.ok(!rows.includes('cassandra'));
    });

    it('leaves alternatives out by default', async () => {
      const all = await storageNamesFor(['get']);
      const chosen = await withoutAlternatives(all);
      assert.deepEqual(
        all.filter((name) => !chosen.includes(name)),
        [
          ...['mariadb', 'mysql', 'iovalkey'],
          ...['ioredis-cluster', 'redis-cluster', 'iovalkey-cluster', 'valkey-glide-cluster'],
        ],
      );
    });

    it('loads every storage under its own name, with options that JSON can hold', async () => {
      for (const name of STORAGE_NAMES) {
        const definition = await loadStorage(name);
        assert.equal(definition.name, name);
        for (const { options } of Object.values(definition.profiles)) {
          assert.deepEqual(JSON.parse(JSON.stringify(options)), options);
        }
      }
    });

    it('loads no driver before a storage is opened', () => {
      const script = `
        const { loadStorage, STORAGE_NAMES } = await import('./storages/index.js');
        for (const name of STORAGE_NAMES) await loadStorage(name);
        const { createRequire } = await import('node:module');
        const loaded = Object.keys(createRequire(import.meta.url).cache);
        if (loaded.length > 0) throw new Error(loaded.join());`;
      const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
        cwd: ROOT,
        encoding: 'utf8',
      });
      assert.equal(child.stderr, '');
      assert.equal(child.status, 0);
    });

    it('refuses a pool if each connection counts', async () => {
      const definition = await loadStorage('redis');
      const context = {
        address: { main: { host: '127.0.0.1', port: 1 } },
        credentials: {},
        dataset,
        folder,
        profile: requireProfile(definition, 'pool'),
        names: ROW_NAMES,
      };
      await assert.rejects(async () => definition.open.lock?.(context), usage);
      const commands = await definition.open.command?.(context);
      await assert.rejects(async () => commands?.connect('main'), usage);
    });

    it('imports no driver for --help and list', async () => {
      const all = await Promise.all(STORAGE_NAMES.map((name) => loadStorage(name)));
      const drivers = all.flatMap(({ package: driver }) => driver ?? []);
      assert.ok(drivers.includes('ioredis') && drivers.includes('lmdb'));
      const names = JSON.stringify([...drivers, 'mysql2/promise', 'bullmq']);
      const hooks = `export async function resolve(name, context, next) {
        if (${names}.includes(name)) throw new Error('imported ' + name);
        return next(name, context);
      }`;
      const register = `import { register } from 'node:module';
        register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});`;
      const preload = `data:text/javascript,${encodeURIComponent(register)}`;
      for (const word of ['--help', 'list']) {
        // Node 26 warns about the hooks of this test.
        const quiet = '--disable-warning=DEP0205';
        const words = [quiet, '--import', preload, 'bin/dragstrip.js', word];
        const child = spawnSync(process.execPath, words, { cwd: ROOT, encoding: 'utf8' });
        assert.equal(child.stderr, '', word);
        assert.equal(child.status, 0);
        assert.match(child.stdout, word === 'list' ? /valkey-glide/ : /Usage/);
      }
    });

    it('reads a name, a profile, a path', () => {
      assert.deepEqual(parseSelection(' ioredis '), {
        text: 'ioredis',
        source: 'ioredis',
        profile: 'default',
      });
      assert.equal(parseSelection('redis:tuned').profile, 'tuned');
      assert.deepEqual(parseSelection('./my-driver.js:fast', '/home/me'), {
        text: './my-driver.js:fast',
        source: '/home/me/my-driver.js',
        profile: 'fast',
      });
      assert.equal(parseSelection('/a/b.mjs').source, '/a/b.mjs');
      assert.equal(parseSelection('../b.js', '/a/c').source, '/a/b.js');
    });

    it('names all storages, and the near miss, for an unknown one', async () => {
      const expected = (/** @type {any} */ error) => {
        assert.equal(error.code, 'E_USAGE');
        assert.match(error.message, /unknown storage "iorediss": did you mean "ioredis"\?/);
        for (const name of STORAGE_NAMES) assert.ok(error.hint.includes(name));
        return true;
      };
      assert.throws(() => parseSelection('iorediss'), expected);
      await assert.rejects(loadStorage('iorediss'), expected);
      assert.throws(
        () => parseSelection('postgres'),
        (/** @type {Error} */ error) => !/mean/.test(error.message),
      );
      assert.throws(() => parseSelection('constructor'), usage);
    });

    it('names the profiles for an unknown one', async () => {
      const redis = await loadStorage('redis');
      assert.throws(() => requireProfile(redis, 'tunde'), {
        ...usage,
        message: 'storage "redis" has no profile "tunde": did you mean "tuned"?',
        hint: 'available profiles: default, tuned, pool',
      });
    });

    it('reports a driver that is not installed, with a hint', async () => {
      const redis = await loadStorage('redis');
      const lacking = { ...redis, package: 'dragstrip-no-such-driver' };
      const answer = await checkAvailable(lacking);
      assert.match(String(answer?.reason), /dragstrip-no-such-driver, is not installed/);
      assert.equal(answer?.hint, 'npm install dragstrip-no-such-driver');
      assert.equal(await checkAvailable(redis), null);
    });

    it('knows the versions of packages that hide their package.json', () => {
      for (const name of ['redis', 'ioredis', 'mysql2', 'lmdb', 'tarantool-driver']) {
        assert.match(String(findPackage(name)?.version), /^\d+\.\d+\.\d+/, name);
      }
      assert.equal(findPackage('dragstrip-no-such-driver'), null);
    });
  });

  it('a storage with TLS has each profile over TLS as well, and no other name', async () => {
    const ioredis = await loadStorage('ioredis');
    const { default: usual, tuned } = ioredis.profiles;
    const { options, tls, name } = requireProfile(ioredis, 'tuned-tls');
    assert.deepEqual([name, tls, options], ['tuned-tls', true, tuned.options]);
    assert.equal(requireProfile(ioredis, 'tls').summary, `${usual.summary}, over TLS`);
    for (const wrong of ['tuned-tls-tls', 'tls-tls', '-tls']) {
      assert.throws(() => requireProfile(ioredis, wrong), { code: 'E_USAGE' }, wrong);
    }
    const hiredis = await loadStorage('hiredis');
    assert.throws(() => requireProfile(hiredis, 'tls'), { code: 'E_USAGE' });
  });

  describe('a user’s file', () => {
    /** @param {string} name @param {string} text */
    const write = async (name, text) => {
      const file = path.join(folder, name);
      await writeFile(file, text);
      return file;
    };
    const body = `name: 'mine', summary: 's', package: null, server: null,
      profiles: { default: { summary: 's', options: {} } },
      open: async () => ({ get: async (id) => 'x' + id, close: async () => {} })`;

    it('is loaded from its default export and from an export named storage', async () => {
      for (const [name, head] of [
        ['a.mjs', 'export default'],
        ['b.mjs', 'export const storage ='],
      ]) {
        const definition = await loadStorage(await write(name, `${head} { ${body} };`));
        assert.equal(definition.name, 'mine');
      }
    });

    it('is the 40-line example of the documentation', async () => {
      const definition = await loadStorage(path.join(ROOT, 'examples/my-driver.js'));
      assert.equal(definition.name, 'my-driver');
      assert.equal(await checkAvailable(definition), null);
    });

    it('that is missing, throws or has no storage is reported in one line', async () => {
      const broken = await write('broken.mjs', 'export default {');
      const empty = await write('empty.mjs', 'export const x = 1;');
      const wrong = await write('wrong.mjs', "export default { name: 'mine' };");
      for (const [file, message] of /** @type {[string, RegExp][]} */ ([
        [path.join(folder, 'none.mjs'), /none\.mjs: no such file$/],
        [broken, /broken\.mjs does not load: broken\.mjs:1: Unexpected/],
        [empty, /empty\.mjs exports no storage$/],
        [wrong, /"mine": summary must be string/],
      ])) {
        await assert.rejects(loadStorage(file), { ...usage, message });
      }
    });
  });

  describe('the form of a definition', () => {
    const open = async () => ({ get: async () => 'x', close: async () => {} });
    const form = {
      name: 'mine',
      summary: 's',
      package: null,
      server: null,
      profiles: { default: { summary: 's', options: {} } },
    };
    /** @param {Record<string, any>} more */
    const define = (more) => defineStorage(/** @type {any} */ ({ ...form, ...more }));

    it('a function instead of open opens rows, and has get', () => {
      const definition = define({ open });
      assert.deepEqual(capabilitiesOf(definition), ['get']);
      assert.equal(definition.open.rows, open);
    });

    it('capabilities follow from the keys of open and from rows', () => {
      const definition = define({
        rows: ['get', 'set'],
        inserts: { one: 'x' },
        locks: {},
        commands: ['words'],
        open: { rows: open, insert: open, lock: open, command: open },
      });
      assert.deepEqual(capabilitiesOf(definition), ['get', 'set', 'insert', 'lock', 'command']);
    });

    for (const [what, more, message] of /** @type {[string, Record<string, any>, RegExp][]} */ ([
      ['no open', {}, /open must be function or object, not undefined$/],
      ['an empty open', { open: {} }, /open is empty$/],
      ['an unknown kind', { open: { rows: open, row: open } }, /open\.row: /],
      ['no function', { open: { rows: 'x' } }, /open\.rows: /],
      ['rows without their open', { rows: ['get'], inserts: {}, open: { insert: open } }, /rows/],
      ['inserts without their open', { inserts: {}, open }, /open\.insert and the field inserts/],
      ['open.lock without its field', { open: { lock: open } }, /open\.lock and the field locks/],
      [
        'an unknown operation',
        { rows: ['get', 'upsert'], open },
        /rows contains an unknown operation "upsert"$/,
      ],
      ['no operation', { rows: [], open }, /rows is empty$/],
      ['capabilities', { capabilities: ['get'], open }, /unknown field capabilities$/],
    ])) {
      it(`refuses ${what} in one line`, () => {
        assert.throws(() => define(more), { ...usage, message });
      });
    }
  });

  describe('no server', () => {
    for (const { label, definition, profile, skip } of cases) {
      if (definition.server === null) continue;
      it(`${label} rejects with E_TARGET and the address`, { skip }, async () => {
        const port = await closedPort();
        const endpoint = { host: '127.0.0.1', port };
        const address = { main: endpoint, sql: endpoint, read: endpoint, write: endpoint };
        const opening = openRows(definition, { address, profile, dataset, folder });
        await assert.rejects(within(opening, 10_000, label), (/** @type {any} */ error) => {
          assert.equal(error.code, 'E_TARGET');
          assert.ok(error.message.includes(`127.0.0.1:${port}`), error.message);
          assert.ok(error.hint.length > 0);
          return true;
        });
      });

      it(`${label} rejects another protocol with E_TARGET, and hides secrets`, {
        skip,
      }, async () => {
        // It repeats its input, as Redis does with an unknown command.
        const server = net.createServer((socket) => {
          socket.on('error', () => {});
          socket.write(`SSH-2.0-OpenSSH_9.2\r\n${'banner\n'.repeat(30)}`);
          setTimeout(() => socket.end(), 100); // some drivers wait for more of it
          socket.on('data', (chunk) => socket.end(`what is ${chunk.toString('latin1')}\n`));
        });
        server.listen(0, '127.0.0.1');
        await new Promise((resolve) => server.once('listening', resolve));
        const { port } = /** @type {net.AddressInfo} */ (server.address());
        const endpoint = { host: '127.0.0.1', port };
        const address = { main: endpoint, sql: endpoint, read: endpoint, write: endpoint };
        const credentials = { user: 'u', password: 'geheim1', secret: 'geheim2' };
        try {
          const opening = openRows(definition, { address, credentials, profile, dataset, folder });
          await assert.rejects(within(opening, 10_000, label), (/** @type {any} */ error) => {
            assert.equal(error.code, 'E_TARGET');
            assert.doesNotMatch(`${error.message}${error.hint}${error.cause}`, /geheim/);
            return true;
          });
        } finally {
          server.close();
        }
      });
    }
  });

  for (const { label, definition, profile, skip } of cases) {
    if (definition.server !== null) continue;
    describe(label, { skip }, () => {
      it('returns every row correctly and undefined for a miss, in its call style', async () => {
        await definition.fill?.({ dataset, folder });
        const handle = await openRows(definition, { profile, dataset, folder });
        assertDeclared(definition, handle);
        assert.equal(handle.get(1) instanceof Promise, profile.calls !== 'sync');
        const read = reader(handle, profile);
        for (let id = 1; id <= dataset.rows; id += 1) {
          assert.equal(await read(id), dataset.value(id));
        }
        for (const id of [0, dataset.rows + 1]) assert.equal(await read(id), undefined);
        await handle.close();
      });
    });
  }

  for (const { label, definition, profile, skip } of cases) {
    if (definition.fill === undefined) continue;
    const fill = /** @type {NonNullable<typeof definition.fill>} */ (definition.fill);
    describe(`${label}: filling`, { skip }, () => {
      /** @returns {Promise<{ folder: string, file: () => string }>} */
      const makeFolder = async () => {
        const own = await mkdtemp(path.join(folder, 'fill-'));
        const file = () => path.join(own, String(readdirSync(own).find((n) => !/-lock$/.test(n))));
        return { folder: own, file };
      };
      const open = (/** @type {string} */ own, rows = dataset) =>
        openRows(definition, { profile, dataset: rows, folder: own });

      it('keeps an equal dataset, and adds a different one beside it', async () => {
        const { folder, file } = await makeFolder();
        await fill({ dataset, folder });
        const { ino } = statSync(file());
        await fill({ dataset, folder });
        assert.equal(statSync(file()).ino, ino);
        const other = createDataset({ ...dataset, seed: 10 });
        await assert.rejects(open(folder, other), { code: 'E_TARGET' });
        await fill({ dataset: other, folder });
        const handle = await open(folder, other);
        assert.equal(await reader(handle, profile)(7), other.value(7));
        await handle.close();
      });

      it('refuses a file that it did not create, and keeps it', async () => {
        const { folder, file } = await makeFolder();
        await fill({ dataset, folder });
        const place = file();
        for (const bytes of ['', 'not ours', 'x'.repeat(100_000)]) {
          await rm(place);
          await writeFile(place, bytes);
          await assert.rejects(fill({ dataset, folder }), { code: 'E_REFUSED' });
          await assert.rejects(open(folder), { code: 'E_REFUSED' });
          assert.equal(statSync(place).size, bytes.length);
        }
      });

      it('leaves nothing when aborted, and removes leftovers of a killed one', async () => {
        const { folder, file } = await makeFolder();
        const aborted = fill({ dataset, folder, signal: AbortSignal.abort() });
        await assert.rejects(aborted, { name: 'AbortError' });
        assert.deepEqual(readdirSync(folder), []);
        const many = createDataset({ rows: 30_000, valueSize: 16 });
        const controller = new AbortController();
        const running = fill({ dataset: many, folder, signal: controller.signal });
        setImmediate(() => controller.abort());
        await assert.rejects(running, { name: 'AbortError' });
        assert.deepEqual(readdirSync(folder), []);
        await fill({ dataset, folder });
        const [pid, ticks, scope] = ownerName().split('.');
        const by = (/** @type {string} */ maker) => `${file()}.filling-${maker}`;
        const leftover = by(`${pid}.${Number(ticks) - 1}.${scope}`);
        const living = by(`${process.ppid}.${readStartTicks(process.ppid)}.${scope}`);
        const inContainer = by(`999999999.1.${scope.slice(0, 4)}0000`);
        const untrusted = path.join(folder, 'somebody-elses.txt');
        const halves = [leftover, `${leftover}-lock`, living, inContainer];
        for (const half of halves) await writeFile(half, 'half');
        await writeFile(untrusted, 'mine');
        await fill({ dataset: many, folder });
        assert.deepEqual([...halves, untrusted].filter(existsSync), [
          living,
          inContainer,
          untrusted,
        ]);
      });

      it('reports a missing file', async () => {
        const { folder } = await makeFolder();
        await assert.rejects(open(folder), { code: 'E_TARGET' });
      });
    });
  }

  it('sqlite writes no warning to stderr', { skip: skipOf('sqlite:default') }, () => {
    const script = `
      const { loadStorage, checkAvailable } = await import('./storages/index.js');
      if (await checkAvailable(await loadStorage('sqlite'))) throw new Error('not there');
      process.emitWarning('a warning of another module');`;
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    assert.equal(child.status, 0, child.stderr);
    assert.doesNotMatch(child.stderr, /SQLite/);
    assert.match(child.stderr, /another module/);
  });

  it('sqlite reports the required version of Node', async () => {
    const answer = await checkAvailable(await loadStorage('sqlite'));
    const [major, minor] = process.versions.node.split('.').map(Number);
    const has = major > 22 || (major === 22 && minor >= 13);
    assert.equal(answer === null, has);
    if (answer !== null) assert.match(answer.hint, /Node 22\.13 or later/);
  });
});

/** @param {string} label */
function skipOf(label) {
  return cases.find((one) => one.label === label)?.skip;
}

/** @returns {Promise<number>} a port that was free a moment ago */
async function closedPort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Records the fixtures of codecs/ from real servers: writes rows into private Redis, MariaDB and
 * Tarantool servers, sends raw requests, and keeps the bytes of the replies.
 */

import { writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import getPort from 'get-port';
import { createConnection } from 'mysql2/promise';
import { itemsOf, MGET_MISSING, MIXED_VALUES } from '../../codecs/fixtures.js';
import {
  handlersocketLine,
  iprotoSelect,
  messagePack,
  packDouble,
  respCommand,
} from '../../codecs/reference.js';
import {
  largeValue,
  listItem,
  MIXED_TEXTS,
  SET_COUNT,
  setRows,
  smallValue,
} from '../../codecs/rows.js';
import { endProcess, launch } from '../../servers/process.js';
import tarantool from '../../servers/tarantool.js';
import { PACKAGES_HOME } from './servers.js';

/** @typedef {import('../../lib/types.js').Endpoint} Endpoint */

const SILENCE_MS = 10_000;
const count = (/** @type {number} */ length) => Array.from({ length }, (_, i) => i + 1);
const SETS = Array.from({ length: SET_COUNT }, (_, i) => i);

/** A socket for complete exchanges of requests and replies. */
export class Wire {
  /** @param {Endpoint} endpoint */
  constructor(endpoint) {
    this.socket = net.connect(/** @type {any} */ (endpoint));
    this.socket.setTimeout(SILENCE_MS, () => this.socket.destroy(new Error('no reply')));
  }

  /**
   * @param {Buffer} requests
   * @param {(bytes: Buffer) => boolean} enough
   * @returns {Promise<Buffer>}
   */
  ask(requests, enough) {
    /** @type {Buffer[]} */
    const chunks = [];
    return new Promise((resolve, reject) => {
      const onData = (/** @type {Buffer} */ chunk) => {
        chunks.push(chunk);
        const all = Buffer.concat(chunks);
        if (!enough(all)) return;
        this.socket.off('data', onData);
        this.socket.off('error', reject);
        resolve(all);
      };
      this.socket.on('data', onData);
      this.socket.on('error', reject);
      this.socket.write(requests);
    });
  }

  close() {
    this.socket.destroy();
  }
}

/** The last reply of a pipeline, unlike any in the fixtures. */
const MARK = Buffer.from('$8\r\nend-mark\r\n');

/**
 * @param {Endpoint} endpoint endpoint of a disposable Redis
 * @param {import('../../lib/types.js').Credentials} credentials
 * @returns {Promise<Map<string, Buffer>>} by name of the fixture
 */
export async function recordRedis(endpoint, { password }) {
  const wire = new Wire(endpoint);
  const ask = async (/** @type {(string | number | Buffer)[][]} */ commands) => {
    const requests = Buffer.concat([...commands, ['echo', 'end-mark']].map(respCommand));
    const replies = await wire.ask(requests, (bytes) => bytes.subarray(-MARK.length).equals(MARK));
    return replies.subarray(0, -MARK.length);
  };
  try {
    await ask([['auth', password ?? '']]);
    await ask([
      ...count(1000).map((id) => ['set', `s${id}`, smallValue(id)]),
      ...count(100)
        .filter((id) => id !== MGET_MISSING)
        .map((id) => ['set', `l${id}`, largeValue(id)]),
      ['rpush', 'list', ...Array.from({ length: 450 }, (_, i) => listItem(i))],
      ...SETS.map((set) => ['rpush', `set${set}`, ...setRows(set).flatMap(itemsOf)]),
    ]);
    const mget = await ask([['mget', ...count(100).map((id) => `l${id}`)]]);
    await ask([['set', `l${MGET_MISSING}`, largeValue(MGET_MISSING)]]);
    return new Map([
      ['get-16', await ask(count(1000).map((id) => ['get', `s${id}`]))],
      ['get-1k', await ask(count(100).map((id) => ['get', `l${id}`]))],
      ['mget-100', mget],
      ['lrange-450', await ask(Array(20).fill(['lrange', 'list', 0, -1]))],
      ['sets', await ask(SETS.map((set) => ['lrange', `set${set}`, 0, -1]))],
      ['mixed', await ask(mixedCommands())],
    ]);
  } finally {
    wire.close();
  }
}

function mixedCommands() {
  const texts = /** @type {string[]} */ (MIXED_TEXTS.filter((text) => text !== null));
  return [
    ['set', 'empty', ''],
    ['ping'],
    ['exists', 'nothing'],
    ['decr', 'number'],
    ['incrby', 'number', 1_234_567_890_124],
    ['get', 'nothing'],
    ['lrange', 'nothing', 0, -1],
    ['get', 'empty'],
    ...texts.map((text) => ['echo', text]),
    ['NOPE'],
    ['lpush', 'empty', 'x'],
    ['eval', "return {1, {2, {'x', false, {}}}, 'deep', {3}}", 0],
    ['eval', "return {'é', false, '', 'tail'}", 0],
  ];
}

/**
 * @param {{ sql: Endpoint, read: Endpoint }} address address of a disposable MariaDB
 * @param {import('../../lib/types.js').Credentials} credentials
 * @returns {Promise<Map<string, Buffer>>}
 */
export async function recordMariadb({ sql, read }, { user, password, secret }) {
  const connection = await createConnection(
    /** @type {any} */ ({ ...sql, user, password, socketPath: sql.path, multipleStatements: true }),
  );
  const wire = new Wire(read);
  try {
    await fillMariadb(connection);
    const open = (
      /** @type {number} */ id,
      /** @type {string} */ table,
      /** @type {string} */ columns,
    ) => handlersocketLine(['P', id, 'dragstrip_codec', table, 'PRIMARY', columns]);
    const ask = async (/** @type {Buffer[]} */ lines) =>
      wire.ask(Buffer.concat(lines), (bytes) => countLines(bytes) === lines.length);
    await ask([handlersocketLine(['A', 1, secret ?? ''])]);
    await ask([
      open(1, 'small', 'str'),
      open(2, 'large', 'str'),
      open(3, 'small', 'id,str'),
      open(4, 'sets', 'big,tiny,num,a,b'),
      open(5, 'mixed', 'id,text,name'),
    ]);
    const find = (/** @type {number} */ index, /** @type {number} */ id) =>
      handlersocketLine([index, '=', 1, id]);
    const range = (
      /** @type {number} */ index,
      /** @type {string} */ op,
      /** @type {number} */ from,
      /** @type {number} */ limit,
    ) => handlersocketLine([index, op, 1, from, limit, 0]);
    return new Map([
      ['find-16', await ask(count(1000).map((id) => find(1, id)))],
      ['find-1k', await ask(count(100).map((id) => find(2, id)))],
      [
        'rows-100',
        await ask(Array.from({ length: 20 }, (_, i) => range(3, '>=', 1 + i * 40, 100))),
      ],
      ['sets', await ask(SETS.map((set) => setRange(range, set)))],
      ['mixed', await ask([range(5, '>=', 1, 100), find(5, 1000), range(5, '<=', 1000, 100)])],
    ]);
  } finally {
    wire.close();
    await connection.query('DROP DATABASE IF EXISTS dragstrip_codec').catch(() => {});
    await connection.end();
  }
}

/**
 * @param {(index: number, op: string, from: number, limit: number) => Buffer} range
 * @param {number} set
 */
function setRange(range, set) {
  const rows = setRows(set);
  return range(4, '>=', rows[0][0], rows.length);
}

/** @param {import('mysql2/promise').Connection} connection */
async function fillMariadb(connection) {
  await connection.query(`
    SET NAMES utf8mb4;
    DROP DATABASE IF EXISTS dragstrip_codec;
    CREATE DATABASE dragstrip_codec CHARACTER SET utf8mb4;
    USE dragstrip_codec;
    CREATE TABLE small (id INT PRIMARY KEY, str VARCHAR(1024)) ENGINE=InnoDB;
    CREATE TABLE large (id INT PRIMARY KEY, str VARCHAR(1024)) ENGINE=InnoDB;
    CREATE TABLE mixed (id INT PRIMARY KEY, text VARCHAR(200), name VARCHAR(20)) ENGINE=InnoDB;
    CREATE TABLE sets (big BIGINT PRIMARY KEY, tiny TINYINT, num DOUBLE, a BLOB, b BLOB)
      ENGINE=InnoDB`);
  const insert = (/** @type {string} */ table, /** @type {any[][]} */ rows) =>
    connection.query(`INSERT INTO ${table} VALUES ?`, [rows]);
  await insert(
    'small',
    count(1000).map((id) => [id, smallValue(id)]),
  );
  await insert(
    'large',
    count(100).map((id) => [id, largeValue(id)]),
  );
  await insert(
    'mixed',
    MIXED_TEXTS.map((text, i) => [i + 1, text, `row ${i + 1}`]),
  );
  for (const set of SETS) await insert('sets', setRows(set));
}

/** @param {Buffer} bytes */
export function countLines(bytes) {
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines += 1;
  return lines;
}

/** Separate from box.lua, which has spaces of strings only. */
const LUA = `
box.cfg{
    listen = os.getenv('LISTEN'), memtx_dir = os.getenv('FOLDER'), vinyl_dir = os.getenv('FOLDER'),
    wal_mode = 'none', checkpoint_interval = 0, net_msg_max = 100000, readahead = 1024 ^ 2,
}
for _, name in ipairs{'small', 'large', 'sets', 'mixed'} do
    local space = box.schema.space.create(name)
    space:create_index('primary', {type = 'TREE', parts = {{1, 'unsigned'}}})
    box.schema.user.grant('guest', 'read,write', 'space', name)
end
`;
/** Ids of the spaces: a new server counts from 512. */
export const SPACE = Object.freeze({ small: 512, large: 513, sets: 514, mixed: 515 });
const GE = 5;
const REPLACE = 3;

/**
 * @param {string} folder folder for the files of the server
 * @returns {Promise<{ bytes: Map<string, Buffer>, version: string }>}
 */
export async function recordTarantool(folder) {
  return withTarantool(folder, async (wire, version) => ({
    bytes: await recordPackets(wire),
    version,
  }));
}

/**
 * @template T
 * @param {string} folder
 * @param {(wire: Wire, version: string) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withTarantool(folder, work) {
  const binaries = await tarantool.find(PACKAGES_HOME);
  if (binaries === null)
    throw new Error('there is no Tarantool: dragstrip servers fetch tarantool');
  const port = await getPort();
  const script = join(folder, 'codec.lua');
  writeFileSync(script, LUA);
  const server = await launch({
    program: binaries.programs['tarantool'],
    args: [script],
    cwd: folder,
    env: { ...binaries.env, LISTEN: `127.0.0.1:${port}`, FOLDER: folder },
    logPath: join(folder, 'codec.log'),
    owned: true,
  });
  try {
    const { wire, greeting } = await greet(port, server);
    try {
      const version = greeting.toString('latin1').split(' ')[1];
      return await work(wire, version);
    } finally {
      wire.close();
    }
  } finally {
    await endProcess(server.identity);
  }
}

/**
 * The last space is created after the port is open, so requests are repeated until it exists.
 * @param {number} port
 * @param {import('../../servers/process.js').Launched} server
 */
async function greet(port, server) {
  for (let tries = 0; ; tries += 1) {
    const wire = new Wire({ host: '127.0.0.1', port });
    try {
      const greeting = await wire.ask(Buffer.alloc(0), (bytes) => bytes.length >= 128);
      const probe = iprotoSelect(1, { space: SPACE.mixed, key: 1 });
      const reply = await wire.ask(probe, (bytes) => countPackets(bytes) === 1);
      if (reply.readUInt32BE(8) === 0) return { wire, greeting };
      wire.close();
    } catch (error) {
      wire.close();
      if (server.ended() !== null) throw error;
    }
    if (tries > 500) throw new Error('Tarantool does not become ready');
    await sleep(20);
  }
}

/** @param {Wire} wire */
async function recordPackets(wire) {
  const ask = (/** @type {Buffer[]} */ packets) =>
    wire.ask(Buffer.concat(packets), (bytes) => countPackets(bytes) === packets.length);
  const replaceAll = (/** @type {number} */ space, /** @type {Buffer[]} */ tuples) =>
    ask(tuples.map((tuple, i) => replacePacket(i + 1, space, tuple)));
  await replaceAll(
    SPACE.small,
    count(1000).map((id) => messagePack([id, smallValue(id)])),
  );
  await replaceAll(
    SPACE.large,
    count(100).map((id) => messagePack([id, largeValue(id)])),
  );
  for (const set of SETS) await replaceAll(SPACE.sets, setRows(set).map(packSetRow));
  await replaceAll(
    SPACE.mixed,
    MIXED_VALUES.map((value, i) => messagePack([i + 1, value])),
  );
  const select = (
    /** @type {number} */ i,
    /** @type {Parameters<typeof iprotoSelect>[1]} */ what,
  ) => iprotoSelect(i + 1, what);
  const byKey = (/** @type {number} */ space, /** @type {number[]} */ keys) =>
    ask(keys.map((key, i) => select(i, { space, key })));
  return new Map([
    ['select-16', await byKey(SPACE.small, count(1000))],
    ['select-1k', await byKey(SPACE.large, count(100))],
    [
      'rows-100',
      await ask(
        Array.from({ length: 20 }, (_, i) =>
          select(i, { space: SPACE.small, iterator: GE, key: 1 + i * 40, limit: 100 }),
        ),
      ),
    ],
    [
      'sets',
      await ask(
        SETS.map((set) => {
          const rows = setRows(set);
          const what = { space: SPACE.sets, iterator: GE, key: rows[0][0], limit: rows.length };
          return select(set, what);
        }),
      ),
    ],
    ['mixed', await byKey(SPACE.mixed, [...MIXED_VALUES.map((_, i) => i + 1), 1000])],
  ]);
}

/**
 * @param {import('../../codecs/rows.js').SetRow} row the third value is a double, even without a
 *   fraction
 */
function packSetRow([big, tiny, num, a, b]) {
  const benchmarks = [messagePack(big), messagePack(tiny), packDouble(num), messagePack(a)];
  return Buffer.concat([Buffer.of(0x95), ...benchmarks, messagePack(b)]);
}

/** @param {number} sync @param {number} space @param {Buffer} tuple */
export function replacePacket(sync, space, tuple) {
  const header = Buffer.concat([Buffer.of(0x82, 0, REPLACE, 1), messagePack(sync)]);
  const body = Buffer.concat([Buffer.of(0x82, 0x10), messagePack(space), Buffer.of(0x21), tuple]);
  const prefix = Buffer.of(0xce, 0, 0, 0, 0);
  prefix.writeUInt32BE(header.length + body.length, 1);
  return Buffer.concat([prefix, header, body]);
}

/** @param {Buffer} bytes */
export function countPackets(bytes) {
  let packets = 0;
  for (let at = 0; at + 5 <= bytes.length; packets += 1) {
    at += 5 + bytes.readUInt32BE(at + 1);
    if (at > bytes.length) return packets;
  }
  return packets;
}

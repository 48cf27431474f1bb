/**
 * The codecs' fixtures against real servers: the stored replies equal those of today, and the
 * servers accept the bytes that the encoders must write.
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Unpackr } from 'msgpackr';
import { createConnection } from 'mysql2/promise';
import { fixtureBytes } from '../../codecs/archive.js';
import { firstDifference } from '../../codecs/difference.js';
import { FIXTURES } from '../../codecs/fixtures.js';
import { INDEX_ID } from '../../codecs/handlersocket/encoders.js';
import { SPACE_ID } from '../../codecs/messagepack/requests.js';
import {
  handlersocketLine,
  iprotoSelect,
  referenceBytes,
  respCommand,
} from '../../codecs/reference.js';
import { batchRows, requestKeys } from '../../codecs/rows.js';
import { readReplies } from '../../protocols/resp/reply.js';
import {
  countLines,
  countPackets,
  recordMariadb,
  recordRedis,
  recordTarantool,
  replacePacket,
  SPACE,
  Wire,
  withTarantool,
} from '../helpers/codec-recorder.js';
import { withServers } from '../helpers/servers.js';

const unpackr = new Unpackr({ useRecords: false, int64AsType: 'number' });

/** @param {string} protocol @param {string} name */
function fixtureOf(protocol, name) {
  const found = FIXTURES.find((one) => one.protocol === protocol && one.name === name);
  assert.ok(found);
  return found;
}

/**
 * @param {string} protocol
 * @param {Map<string, Buffer>} recorded
 * @param {(bytes: Buffer) => Buffer} [plain] without what differs from server to server
 */
function assertStored(protocol, recorded, plain = (bytes) => bytes) {
  const own = FIXTURES.filter((one) => one.protocol === protocol && one.direction === 'decode');
  assert.ok(recorded.size >= 5);
  for (const fixture of own.filter(({ single }) => !single)) {
    const bytes = recorded.get(fixture.name);
    assert.ok(bytes, fixture.name);
    const same = plain(bytes).equals(plain(fixtureBytes(fixture)));
    assert.ok(same, `${protocol}/${fixture.name}: run test/helpers/record-codec-fixtures.js`);
  }
}

/** The version of the schema counts all definitions that the server has ever had. */
const SCHEMA_AT = 24;

/** @param {Buffer} packets @returns {Buffer} the same with version 0 in each header */
function withoutSchema(packets) {
  const copy = Buffer.from(packets);
  for (let at = 0; at < copy.length; at += 5 + copy.readUInt32BE(at + 1)) {
    assert.equal(copy.readUInt16BE(at + SCHEMA_AT - 2), 0x05ce);
    copy.writeUInt32BE(0, at + SCHEMA_AT);
  }
  return copy;
}

describe('fixtures of codecs', () => {
  const servers = withServers(['redis', 'mariadb']);

  /** @param {Wire} wire @param {Buffer} requests @param {number} replies */
  async function askRedis(wire, requests, replies) {
    /** @type {any[]} */
    let values = [];
    await wire.ask(requests, (bytes) => {
      values = (readReplies(bytes) ?? []).map(({ value, error }) => error ?? value);
      return values.length === replies;
    });
    return values;
  }

  test('Redis sends the stored replies, and reads the encoded requests', async () => {
    const { main } = servers.address('redis');
    assertStored('resp', await recordRedis(main, servers.credentials('redis')));
    const wire = new Wire(main);
    try {
      await askRedis(wire, respCommand(['auth', servers.login('redis').password]), 1);
      const rows = batchRows();
      const pushed = await askRedis(wire, referenceBytes(fixtureOf('resp', 'batch-4096')), 4096);
      assert.deepEqual(pushed.slice(-2), [4 * 4095, 4 * 4096]);
      const [list] = await askRedis(wire, respCommand(['lrange', 'batch', 0, -1]), 1);
      const items = rows.flatMap(([text, a, b, blob]) => [text, `${a}`, `${b}`, blob]);
      const right = items.map((item) =>
        Buffer.from(/** @type {string} */ (item)).toString('latin1'),
      );
      assert.equal(firstDifference(list, right), null);
      const keys = requestKeys();
      const set = respCommand(['set', `dragstrip:${keys[1]}`, 'found']);
      await askRedis(wire, set, 1);
      const got = await askRedis(wire, referenceBytes(fixtureOf('resp', 'requests-1000')), 1000);
      assert.equal(got.filter((value) => value !== null).length, 1);
      assert.equal(String(got[1]), 'found');
    } finally {
      wire.close();
    }
  });

  test('HandlerSocket sends the stored replies, and reads the encoded requests', async () => {
    const { sql, read, write } = servers.address('mariadb');
    assertStored(
      'handlersocket',
      await recordMariadb({ sql, read }, servers.credentials('mariadb')),
    );
    const connection = await createConnection(
      /** @type {any} */ ({
        ...sql,
        ...servers.login('mariadb'),
        socketPath: sql.path,
        multipleStatements: true,
      }),
    );
    const wires = [new Wire(write), new Wire(read)];
    try {
      await connection.query(`CREATE DATABASE dragstrip_codec; USE dragstrip_codec;
        CREATE TABLE batch (a VARCHAR(40), b INT PRIMARY KEY, c INT, d BLOB) ENGINE=InnoDB;
        CREATE TABLE small (id INT PRIMARY KEY, str VARCHAR(1024)) ENGINE=InnoDB`);
      const keys = requestKeys();
      await connection.query('INSERT INTO small VALUES ?', [[[keys[1], 'found']]]);
      const ask = (
        /** @type {Wire} */ wire,
        /** @type {Buffer} */ lines,
        /** @type {number} */ n,
      ) => wire.ask(lines, (bytes) => countLines(bytes) === n);
      const open = (/** @type {string} */ table, /** @type {string} */ columns) =>
        handlersocketLine(['P', INDEX_ID, 'dragstrip_codec', table, 'PRIMARY', columns]);
      const { secret = '', writeSecret = '' } = servers.credentials('mariadb');
      await ask(wires[0], handlersocketLine(['A', 1, writeSecret]), 1);
      await ask(wires[1], handlersocketLine(['A', 1, secret]), 1);
      await ask(wires[0], open('batch', 'a,b,c,d'), 1);
      const batch = referenceBytes(fixtureOf('handlersocket', 'batch-4096'));
      const inserted = await ask(wires[0], batch, 4096);
      assert.equal(inserted.toString(), '0\t1\n'.repeat(4096));
      const [rows] = await connection.query({
        sql: 'SELECT a, b, c, d FROM batch ORDER BY b',
        rowsAsArray: true,
      });
      assert.equal(firstDifference(rows, batchRows()), null);
      await ask(wires[1], open('small', 'str'), 1);
      const requests = referenceBytes(fixtureOf('handlersocket', 'requests-1000'));
      const lines = (await ask(wires[1], requests, 1000)).toString().split('\n');
      assert.equal(lines[1], '0\t1\tfound');
      assert.equal(lines.filter((line) => line === '0\t1').length, 999);
    } finally {
      for (const wire of wires) wire.close();
      await connection.query('DROP DATABASE IF EXISTS dragstrip_codec');
      await connection.end();
    }
  });

  test('Tarantool sends the stored replies, and reads the encoded requests', async () => {
    const { bytes } = await recordTarantool(servers.home());
    assertStored('messagepack', bytes, withoutSchema);
    assert.equal(SPACE.small, SPACE_ID);
    await withTarantool(servers.home(), async (wire) => {
      const ask = async (/** @type {Buffer} */ packets, /** @type {number} */ n) => {
        const reply = await wire.ask(packets, (all) => countPackets(all) === n);
        return Array.from(packetsOf(reply), (packet) => {
          const [header, body] = /** @type {any[]} */ (unpackr.unpackMultiple(packet));
          return { header, body };
        });
      };
      const batch = referenceBytes(fixtureOf('messagepack', 'batch-4096'));
      const tuple = Buffer.concat([Buffer.of(0x92, 1), batch]);
      const [stored] = await ask(replacePacket(1, SPACE.mixed, tuple), 1);
      assert.equal(stored.header[0], 0);
      const [held] = await ask(iprotoSelect(2, { space: SPACE.mixed, key: 1 }), 1);
      assert.equal(firstDifference(held.body[0x30], [[1, batchRows()]]), null);
      const keys = requestKeys();
      const row = Buffer.concat([Buffer.of(0x92, 0xce), uint32(keys[1]), Buffer.of(0xa5)]);
      await ask(replacePacket(3, SPACE_ID, Buffer.concat([row, Buffer.from('found')])), 1);
      const selects = referenceBytes(fixtureOf('messagepack', 'requests-1000'));
      const replies = await ask(selects, 1000);
      assert.ok(replies.every(({ header }) => header[0] === 0));
      const tuples = replies.toSorted((a, b) => a.header[1] - b.header[1]);
      assert.deepEqual(tuples[1].body[0x30], [[keys[1], 'found']]);
      assert.equal(tuples.filter(({ body }) => body[0x30].length === 0).length, 999);
    });
  });
});

/** @param {number} value */
function uint32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** @param {Buffer} bytes */
function* packetsOf(bytes) {
  for (let at = 0; at < bytes.length; ) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    yield bytes.subarray(at + 5, end);
    at = end;
  }
}

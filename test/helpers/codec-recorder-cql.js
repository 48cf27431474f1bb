/**
 * Records the fixtures of CQL: writes rows into a disposable Cassandra by cassandra-driver, sends
 * raw requests in sequence, and keeps the bytes of the replies.
 */

import cassandra from 'cassandra-driver';
import { CQL_MIXED } from '../../codecs/fixtures.js';
import { largeValue, SET_COUNT, setRows, smallValue } from '../../codecs/rows.js';
import { Wire } from './codec-recorder.js';
import {
  cqlExecute,
  cqlFrame,
  KEYSPACE,
  LOCAL_ONE,
  longText,
  OPCODES,
  STATEMENTS,
  short,
  statementId,
  withLength,
} from './cql-requests.js';

const HEAD_BYTES = 9;
const ROWS_OF_BATCH = 100;
/** A busy machine times out after two seconds: write, read. */
const TIMEOUTS = [0x1100, 0x1200];
const TRIES = 20;
const count = (/** @type {number} */ length) => Array.from({ length }, (_, i) => i + 1);
const SETS = Array.from({ length: SET_COUNT }, (_, i) => i);
const TABLES = [
  'batched (a text, b int PRIMARY KEY, c int, d blob)',
  'small (id int PRIMARY KEY, str text)',
  'large (id int PRIMARY KEY, str text)',
  'ranges (part int, id int, str text, PRIMARY KEY (part, id))',
  'sets (part int, a bigint, b tinyint, c double, d blob, e blob, PRIMARY KEY (part, a))',
  'mixed (id int PRIMARY KEY, a text, b int, c bigint, d smallint, e double, f boolean, g blob)',
];

/** @param {Buffer} bytes @returns {boolean} one whole frame */
export const isFrame = (bytes) =>
  bytes.length >= HEAD_BYTES && bytes.length >= HEAD_BYTES + bytes.readUInt32BE(5);

/**
 * @param {import('../../lib/types.js').Endpoint} endpoint
 * @param {import('../../lib/types.js').Credentials} credentials
 * @returns {Promise<Wire>} logged in
 */
export async function openCql(endpoint, { user = '', password = '' }) {
  const wire = new Wire(endpoint);
  const options = [short(1), text('CQL_VERSION'), text('3.0.0')];
  await wire.ask(cqlFrame(OPCODES.startup, 0, options), isFrame);
  const token = Buffer.from(`\0${user}\0${password}`);
  await wire.ask(cqlFrame(OPCODES.authResponse, 0, [withLength(token)]), isFrame);
  return wire;
}

/** @param {string} value */
const text = (value) => Buffer.concat([short(Buffer.byteLength(value)), Buffer.from(value)]);

/**
 * @param {Wire} wire
 * @param {string} statement
 * @returns {Promise<Buffer>} id of the statement at the server
 */
export async function prepare(wire, statement) {
  const reply = await wire.ask(cqlFrame(OPCODES.prepare, 0, [longText(statement)]), isFrame);
  const at = HEAD_BYTES + 4;
  return reply.subarray(at + 2, at + 2 + reply.readUInt16BE(at));
}

/**
 * @param {import('../../lib/types.js').Endpoint} endpoint
 * @param {import('../../lib/types.js').Credentials} credentials
 * @param {(client: cassandra.Client) => Promise<void>} work
 */
export async function withClient({ host, port }, { user = '', password = '' }, work) {
  const client = new cassandra.Client({
    contactPoints: [`${host}:${port}`],
    localDataCenter: 'datacenter1',
    credentials: { username: user, password },
    encoding: { useBigIntAsLong: true },
  });
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.shutdown();
  }
}

/** @param {cassandra.Client} client */
async function fill(client) {
  await client.execute(`CREATE KEYSPACE ${KEYSPACE} WITH replication =
    {'class': 'SimpleStrategy', 'replication_factor': 1}`);
  for (const table of TABLES) await client.execute(`CREATE TABLE ${KEYSPACE}.${table}`);
  await insert(
    client,
    'small (id, str)',
    count(1000).map((id) => [id, smallValue(id)]),
  );
  await insert(
    client,
    'large (id, str)',
    count(100).map((id) => [id, largeValue(id)]),
  );
  await insert(
    client,
    'ranges (part, id, str)',
    count(1000).map((id) => [0, id, smallValue(id)]),
  );
  for (const set of SETS) {
    const rows = setRows(set).map(([big, ...others]) => [set, BigInt(big), ...others]);
    await insert(client, 'sets (part, a, b, c, d, e)', rows);
  }
  await insert(client, 'mixed (id, a, b, c, d, e, f, g)', CQL_MIXED);
}

/**
 * @param {cassandra.Client} client
 * @param {string} what columns and table
 * @param {readonly (readonly any[])[]} rows
 */
async function insert(client, what, rows) {
  const places = rows[0].map(() => '?').join(', ');
  const query = `INSERT INTO ${KEYSPACE}.${what} VALUES (${places})`;
  for (let at = 0; at < rows.length; at += ROWS_OF_BATCH) {
    const queries = rows
      .slice(at, at + ROWS_OF_BATCH)
      .map((params) => ({ query, params: [...params] }));
    await untilDone(() => client.batch(queries, { prepare: true, logged: false }));
  }
}

/** @param {() => Promise<unknown>} work idempotent work */
async function untilDone(work) {
  for (let tries = 1; ; tries += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (!TIMEOUTS.includes(error.code) || tries === TRIES) throw error;
    }
  }
}

/**
 * @param {Wire} wire
 * @param {Buffer} frame
 * @returns {Promise<Buffer>} its reply
 */
export async function askOnce(wire, frame) {
  for (let tries = 1; ; tries += 1) {
    const reply = await wire.ask(frame, isFrame);
    const isError = reply[4] === OPCODES.error;
    if (!isError || !TIMEOUTS.includes(reply.readInt32BE(HEAD_BYTES)) || tries === TRIES) {
      return reply;
    }
  }
}

/**
 * @param {import('../../lib/types.js').Endpoint} endpoint endpoint of a disposable Cassandra
 * @param {import('../../lib/types.js').Credentials} credentials
 * @returns {Promise<Map<string, Buffer>>} by name of the fixture
 */
export async function recordCassandra(endpoint, credentials) {
  await withClient(endpoint, credentials, fill);
  const wire = await openCql(endpoint, credentials);
  try {
    for (const statement of Object.values(STATEMENTS)) {
      const id = await prepare(wire, statement);
      if (!id.equals(statementId(statement))) throw new Error(`another id: ${statement}`);
    }
    const ask = async (/** @type {Buffer[]} */ frames) => {
      const replies = [];
      for (const frame of frames) replies.push(await askOnce(wire, frame));
      return Buffer.concat(replies);
    };
    const read = (/** @type {string} */ statement, /** @type {number[]} */ keys) =>
      ask(keys.map((key, i) => cqlExecute(i, statement, key)));
    const ids = CQL_MIXED.map(([id]) => Number(id));
    return new Map([
      ['select-16', await read(STATEMENTS.small, count(1000))],
      ['select-1k', await read(STATEMENTS.large, count(100))],
      [
        'rows-100',
        await read(
          STATEMENTS.range,
          Array.from({ length: 20 }, (_, i) => 1 + i * 40),
        ),
      ],
      ['sets', await read(STATEMENTS.sets, SETS)],
      [
        'mixed',
        Buffer.concat([
          await read(STATEMENTS.mixed, [...ids, 1000]),
          await ask([
            query(ids.length + 1, `DELETE FROM ${KEYSPACE}.mixed WHERE id = 1000`),
            query(ids.length + 2, `SELECT * FROM ${KEYSPACE}.nothing`),
          ]),
        ]),
      ],
    ]);
  } finally {
    wire.close();
  }
}

/** @param {number} stream @param {string} statement @returns {Buffer} */
export function query(stream, statement) {
  const body = [longText(statement), short(LOCAL_ONE), Buffer.of(0)];
  return cqlFrame(OPCODES.query, stream, body);
}

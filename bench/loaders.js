/**
 * The loaders compared with the bulk tools of the servers, in pairs within one run on private
 * servers: redis-cli --pipe and LOAD DATA from prepared files, and pre-encoded calls for Tarantool,
 * which has no such tool. The loader's time covers all of `seed`: inspection, generation, writing,
 * counting and sampling.
 */

import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import mysql from 'mysql2/promise';
import { BATCH_BYTES, pump } from '../data/connections/pump.js';
import { RespConnection } from '../data/connections/redis.js';
import { rowBufferBytes, TarantoolConnection } from '../data/connections/tarantool.js';
import { getLoader } from '../data/loaders/index.js';
import { rowStream } from '../data/loaders/rows.js';
import { parseEndpoint } from '../lib/address.js';
import { createDataset, ROW_NAMES } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { systemClock } from '../measure/clock.js';
import { encodeCommand } from '../protocols/resp/command.js';
import { loadServer, startServers } from '../servers/index.js';
import { measure } from './figures.js';
import { credentialsFor, openAdmin, shareCredentials } from './login.js';

/** @typedef {import('../lib/types.js').Dataset} Dataset */

/** Maximum time relative to the server's own tool. */
const TARGET = 2;
const SERVERS = ['redis', 'mariadb', 'tarantool'];
const TABLE = `${ROW_NAMES.database}.${ROW_NAMES.table}`;

/**
 * @typedef {object} Contest
 * @property {string} loader
 * @property {import('../lib/types.js').Address} address
 * @property {Record<string, () => Promise<any>>} tools by name; each loads every row
 * @property {() => Promise<any>} clear
 * @property {() => Promise<number>} count returns the number of stored rows
 * @property {() => Promise<any>} close
 *
 * @typedef {object} Ground
 * @property {import('../lib/types.js').RunningServer} running
 * @property {Record<string, string>} programs
 * @property {Record<string, string>} env
 * @property {Dataset} dataset
 * @property {string} home a folder for prepared files
 */

/** @type {Record<string, (ground: Ground) => Promise<Contest>>} */
const CONTESTS = { redis: redisContest, mariadb: mariadbContest, tarantool: tarantoolContest };

/**
 * @param {{ smoke: boolean, packagesHome?: string }} context packagesHome: state folder of
 *   fetched servers
 * @returns {AsyncGenerator<import('./figures.js').Figure>}
 */
export async function* run({ smoke, packagesHome = findHome() }) {
  const dataset = createDataset({ rows: smoke ? 1000 : 100_000 });
  const home = await mkdtemp(join(tmpdir(), 'dragstrip-'));
  const started = await startServers(SERVERS, { home, packagesHome, owned: true });
  try {
    if (started.failures.length > 0) throw started.failures[0].error;
    await shareCredentials(started.servers);
    for (const running of started.servers) {
      const binaries = await (await loadServer(running.name)).find(packagesHome);
      const { programs = {}, env = {} } = binaries ?? {};
      const contest = await CONTESTS[running.name]({ running, programs, env, dataset, home });
      try {
        yield* compare(contest, dataset, smoke ? 2 : 7);
      } finally {
        await contest.close();
      }
    }
  } finally {
    await started.stop();
    await rm(home, { recursive: true, force: true });
  }
}

/**
 * @param {Contest} contest
 * @param {Dataset} dataset
 * @param {number} pairs
 */
async function* compare(contest, dataset, pairs) {
  const loader = await getLoader(contest.loader);
  const { address } = contest;
  const credentials = await credentialsFor(loader.server);
  const ours = () => loader.seed({ address, credentials, dataset });
  const perSecond = [];
  for (const [tool, load] of Object.entries(contest.tools)) {
    const ratios = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      // Alternating order, so that drift favours neither.
      const order = pair % 2 === 0 ? [ours, load] : [load, ours];
      const timesNs = new Map();
      for (const each of order) timesNs.set(each, await timed(contest, dataset, each));
      ratios.push(timesNs.get(ours) / timesNs.get(load));
      perSecond.push((dataset.rows / timesNs.get(ours)) * 1e9);
    }
    const name = `seed ${contest.loader} against ${tool}: time`;
    yield measure(name, ratios, { target: TARGET, better: 'lower', unit: '×' });
  }
  yield measure(`seed ${contest.loader}: rows`, perSecond, { better: 'higher', unit: '/s' });
}

/**
 * @param {Contest} contest
 * @param {Dataset} dataset
 * @param {() => Promise<any>} load
 * @returns {Promise<number>} ns
 */
async function timed({ clear, count }, dataset, load) {
  await clear();
  const startNs = systemClock.now();
  await load();
  const durationNs = systemClock.now() - startNs;
  const there = await count();
  if (there !== dataset.rows) throw new Error(`${there} of ${dataset.rows} rows are stored`);
  return durationNs;
}

/** @param {Ground} ground @returns {Promise<Contest>} */
async function redisContest({ running, programs, env, dataset, home }) {
  const main = parseEndpoint(running.address['main']);
  const prepared = join(home, 'rows.resp');
  const file = await open(prepared, 'w');
  for (let id = 1; id <= dataset.rows; id += 1) {
    await file.write(encodeCommand(['SET', `${ROW_NAMES.redisPrefix}${id}`, dataset.value(id)]));
  }
  await file.close();
  const connection = new RespConnection({ what: 'Redis', endpoint: main });
  await connection.opened();
  const { password = '' } = await credentialsFor('redis');
  await connection.command('AUTH', password);
  const withPassword = { ...env, REDISCLI_AUTH: password };
  const pipe = ['-h', main.host ?? '', '-p', `${main.port}`, '--pipe'];
  return {
    loader: 'redis',
    address: { main },
    tools: {
      'redis-cli --pipe': () =>
        execa(programs['redis-cli'], pipe, { env: withPassword, inputFile: prepared }),
    },
    clear: () => connection.command('FLUSHALL'),
    async count() {
      const marked = await connection.command('EXISTS', ROW_NAMES.redisMarker);
      return (await connection.command('DBSIZE')) - marked;
    },
    close: async () => connection.close(),
  };
}

/** @param {Ground} ground @returns {Promise<Contest>} */
async function mariadbContest({ running, programs, env, dataset }) {
  const sql = parseEndpoint(running.address['sql']);
  // Folder for file access (secure_file_priv), if its user has the permission.
  const prepared = join(running.folder, 'files', 'rows.tsv');
  const admin = await openAdmin(running);
  await admin.query("GRANT FILE ON *.* TO dragstrip@'127.0.0.1'");
  await admin.end();
  const { user, password } = await credentialsFor('mariadb');
  await writeFile(
    prepared,
    rowStream(dataset, 1, dataset.rows, () => {}),
  );
  const connection = await mysql.createConnection({
    host: sql.host,
    port: sql.port,
    user,
    password,
  });
  const create =
    `CREATE TABLE ${TABLE} (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, str nvarchar(1024)) ` +
    'ENGINE = InnoDB';
  const load = (/** @type {string} */ kind) =>
    `LOAD DATA ${kind} '${prepared}' INTO TABLE ${TABLE} CHARACTER SET latin1 (id, str)`;
  const client = ['--no-defaults', '--protocol=tcp', `--user=${user}`, '--local-infile=1'];
  client.push(`--host=${sql.host}`, `--port=${sql.port}`);
  const clear = async () => {
    await connection.query(`CREATE DATABASE IF NOT EXISTS ${ROW_NAMES.database}`);
    await connection.query(`DROP TABLE IF EXISTS ${TABLE}`);
  };
  const byClient = (/** @type {string} */ kind) =>
    execa(programs['mariadb'], [...client, '--execute', `${create}; ${load(kind)}`], {
      env: { ...env, MYSQL_PWD: password },
    });
  return {
    loader: 'mysql',
    address: { sql },
    tools: {
      'LOAD DATA in the server': () => byClient('INFILE'),
      'LOAD DATA LOCAL by its client': () => byClient('LOCAL INFILE'),
    },
    clear,
    async count() {
      const [rows] = await connection.query(`SELECT COUNT(*) AS count FROM ${TABLE}`);
      return /** @type {any} */ (rows)[0].count;
    },
    close: () => connection.end(),
  };
}

/** @param {Ground} ground @returns {Promise<Contest>} */
async function tarantoolContest({ running, dataset }) {
  const main = parseEndpoint(running.address['main']);
  const connection = new TarantoolConnection({ what: 'Tarantool', endpoint: main });
  await connection.greet(await credentialsFor('tarantool'));
  return {
    loader: 'tarantool',
    address: { main },
    tools: { 'pre-encoded calls': encodedBeforehand(connection, dataset) },
    clear: () => connection.call('dragstrip_reset'),
    count: () => connection.call('dragstrip_count'),
    close: async () => connection.close(),
  };
}

/**
 * @param {TarantoolConnection} connection
 * @param {Dataset} dataset
 * @returns {() => Promise<void>} function that sends all rows in the loader's batches, pre-encoded
 */
function encodedBeforehand(connection, dataset) {
  const bufferBytes = Math.max(BATCH_BYTES, rowBufferBytes(dataset.valueSize));
  /** @type {Map<number, { bytes: Buffer, sync: number, next: number }>} by first row */
  const batches = new Map();
  for (let id = 1; id <= dataset.rows; ) {
    const buffer = Buffer.allocUnsafe(bufferBytes);
    const { length, next } = connection.encodeRows('dragstrip_load_from', dataset, buffer, id);
    batches.set(id, { bytes: buffer.subarray(0, length), sync: connection.sync, next });
    id = next;
  }
  return () =>
    pump({
      first: 1,
      last: dataset.rows,
      bufferBytes: 0,
      encode: (_buffer, id) => ({ length: 0, next: batches.get(id)?.next ?? 0 }),
      send: (_bytes, id) => {
        const { bytes, sync } = /** @type {any} */ (batches.get(id));
        return connection.request(sync, bytes);
      },
    });
}

/**
 * The HandlerSocket client compared with the server ceiling, node-handlersocket, the Redis drivers,
 * a plain socket and a raw read. Every contender has a separate process and stays connected; short
 * segments alternate in mirrored order, so that drift of a shared machine affects all equally. A
 * figure is the median of the ratios per round. `node bench/handlersocket.js [PART…]` runs it
 * alone.
 */

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import mysql from 'mysql2/promise';
import { getLoader } from '../data/loaders/index.js';
import { parseEndpoint } from '../lib/address.js';
import { createDataset, ROW_NAMES } from '../lib/dataset.js';
import { builtBinary } from '../lib/hiredis-build.js';
import { findHome } from '../lib/home.js';
import { startServers } from '../servers/index.js';
import { measure, showFigures } from './figures.js';
import { credentialsFor, shareCredentials } from './login.js';
import { isMain } from './main.js';
import { best, inTurn, medianOf, Remote, rates, ratios } from './remote.js';

/** @typedef {import('./figures.js').Figure} Figure */
/** @typedef {import('./remote.js').Entries} Entries */
/** @typedef {import('./remote.js').Rounds} Rounds */

const SMALL = 16;
const LARGE = 1024;
const WINDOW = 1000;
const CONNECTIONS = Object.freeze([1, 2, 3, 4]);
/** Default of the client. */
const DEFAULT_CONNECTIONS = 3;
/** Number of request formats measured in every round. */
const FINALISTS = 3;

/**
 * @typedef {object} Sizes
 * @property {number} rows
 * @property {number} processes consecutive processes per contender of a window
 * @property {number} rounds rounds of each process
 * @property {number} operations operations of a segment in a window
 * @property {number} wireNs duration of a segment of the wire loop
 * @property {number} lookNs
 * @property {readonly number[]} depths
 * @property {number} burst
 * @property {number} lowBurst
 * @property {number} burstRounds
 * @property {number} otherBurst operations of node-handlersocket for its CPU time
 * @property {number} oneByOne operations
 * @property {readonly [number, number]} replyRows
 */

/** @type {Sizes} */
const FULL = {
  rows: 100_000,
  processes: 6,
  rounds: 8,
  operations: 60_000,
  wireNs: 6e7,
  lookNs: 1e8,
  depths: [128, 256, 512, 1024, 2048, 4096],
  burst: 500_000,
  lowBurst: 50_000,
  burstRounds: 7,
  otherBurst: 10_000,
  oneByOne: 5_000,
  replyRows: [45_000, 450_000],
};
/** @type {Sizes} */
const SMOKE = {
  rows: 1000,
  processes: 1,
  rounds: 2,
  operations: 2000,
  wireNs: 2e7,
  lookNs: 1e7,
  depths: [128],
  burst: 5000,
  lowBurst: 500,
  burstRounds: 2,
  otherBurst: 500,
  oneByOne: 50,
  replyRows: [450, 4500],
};

const CONTENDER = fileURLToPath(new URL('./handlersocket-contender.js', import.meta.url));

/**
 * @param {import('./handlersocket-contender.js').ContenderSpec} spec
 * @returns {Promise<Remote<typeof spec, import('./handlersocket-contender.js').Job>>}
 */
const openRemote = (spec) => Remote.open(CONTENDER, spec);

const PARTS = Object.freeze(['window', 'burst', 'one', 'reply', 'large']);

/**
 * @param {{ smoke: boolean, packagesHome?: string, parts?: readonly string[] }} context
 *   packagesHome: state folder of fetched servers; parts: of PARTS to measure
 * @returns {AsyncGenerator<Figure>}
 */
export async function* run({ smoke, packagesHome = findHome(), parts = PARTS }) {
  const sizes = smoke ? SMOKE : FULL;
  const home = await mkdtemp(join(tmpdir(), 'dragstrip-'));
  const started = await startServers(['mariadb', 'redis'], { home, packagesHome, owned: true });
  try {
    if (started.failures.length > 0) throw started.failures[0].error;
    /** @type {Record<string, any>} */
    const servers = {};
    await shareCredentials(started.servers);
    for (const { name, address } of started.servers) {
      const parsed = Object.entries(address).map(([key, text]) => [key, parseEndpoint(text)]);
      servers[name] = Object.fromEntries(parsed);
    }
    await fill(servers, sizes, SMALL, ['mysql', 'redis']);
    if (parts.includes('window')) yield* windows(servers, sizes, SMALL);
    if (parts.includes('burst')) yield* bursts(servers, sizes);
    if (parts.includes('one')) yield* oneInFlight(servers, sizes);
    if (parts.includes('reply')) yield* largeReplies(servers, sizes);
    if (!parts.includes('large')) return;
    await fill(servers, sizes, LARGE, ['mysql']);
    yield* windows(servers, sizes, LARGE);
  } finally {
    await started.stop();
    await rm(home, { recursive: true, force: true });
  }
}

/**
 * @param {Record<string, any>} servers
 * @param {Sizes} sizes
 * @param {number} valueSize
 * @param {string[]} loaders
 */
async function fill(servers, { rows, replyRows }, valueSize, loaders) {
  for (const name of loaders) {
    const loader = await getLoader(name);
    const dataset = createDataset({ rows, valueSize });
    const credentials = await credentialsFor(loader.server);
    await loader.seed({ address: servers[loader.server], credentials, dataset });
  }
  const { host, port } = servers['mariadb'].sql;
  const { user, password } = await credentialsFor('mariadb');
  const sql = await mysql.createConnection({ host, port, user, password });
  const table = `${ROW_NAMES.database}.bench_large`;
  await sql.query(`CREATE TABLE IF NOT EXISTS ${table} (
    id INT PRIMARY KEY, str VARCHAR(25) NOT NULL) ENGINE=InnoDB`);
  await sql.query(`USE ${ROW_NAMES.database}`);
  await sql.query(
    `INSERT IGNORE INTO ${table} SELECT seq, LPAD(seq, 24, '0') FROM seq_1_to_${replyRows[1]}`,
  );
  await sql.end();
}

/**
 * The window of 1,000: against the wire loop with equal numbers in flight and of connections, and
 * on small rows against the Redis drivers. The assignment of connections to server threads is
 * random, so every contender is opened several times.
 * @param {Record<string, any>} servers
 * @param {Sizes} sizes
 * @param {number} valueSize
 * @returns {AsyncGenerator<Figure>}
 */
async function* windows(servers, sizes, valueSize) {
  const redis = valueSize === SMALL ? redisProfiles() : [];
  /** @type {Rounds} */
  const rounds = {};
  for (let process = 0; process < sizes.processes; process += 1) {
    const { entries, remotes } = await openWindows(servers, sizes, valueSize, redis);
    try {
      for (const [name, some] of Object.entries(await inTurn(entries, sizes.rounds))) {
        rounds[name] = [...(rounds[name] ?? []), ...some];
      }
    } finally {
      for (const remote of remotes) await remote.close();
    }
  }
  const what = `${valueSize}-byte rows, window ${WINDOW}`;
  const higher = { better: /** @type {const} */ ('higher'), unit: '/s' };
  for (const connections of CONNECTIONS) {
    const where = `${what} over ${connections}`;
    const wire = rounds[`wire ${connections}`];
    yield measure(`${where}: wire loop`, rates(wire), higher);
    for (const [calls, target] of /** @type {const} */ ([
      ['promise', 0.85],
      ['callback', 0.95],
    ])) {
      const share = ratios(rounds[`${calls} ${connections}`], wire);
      yield measure(`${where}: ${calls}s of the wire loop`, share, {
        ...(connections === DEFAULT_CONNECTIONS && { target }),
        better: 'higher',
        unit: '×',
      });
    }
  }
  if (valueSize !== SMALL) return;
  const ours = rounds[`promise ${DEFAULT_CONNECTIONS}`];
  const cpu = ours.map(({ cpuNs }) => cpuNs / 1000);
  yield measure(`${what}: client CPU per find, promises`, cpu, {
    target: 1,
    better: 'lower',
    unit: 'µs',
  });
  const contender = best(redis, rounds);
  yield measure(`${what}: best Redis driver (${contender})`, rates(rounds[contender]), higher);
  yield measure(`${what}: promises against ${contender}`, ratios(ours, rounds[contender]), {
    target: 1,
    better: 'higher',
    unit: '×',
  });
}

/**
 * @param {Record<string, any>} servers
 * @param {Sizes} sizes
 * @param {number} valueSize
 * @param {string[]} redis
 */
async function openWindows(servers, sizes, valueSize, redis) {
  const dataset = { rows: sizes.rows, valueSize, seed: 1 };
  const address = servers['mariadb'];
  const job = { load: /** @type {const} */ ('window'), inFlight: WINDOW };
  const operations = valueSize === SMALL ? sizes.operations : Math.ceil(sizes.operations / 2);
  /** @type {Entries} */
  const entries = {};
  /** @type {Remote<any, any>[]} */
  const remotes = [];
  for (const connections of CONNECTIONS) {
    const wire = await openRemote({ kind: 'wire', address, dataset, connections });
    const ours = await openRemote({ kind: 'client', address, dataset, connections });
    remotes.push(wire, ours);
    const depth = Math.floor(WINDOW / connections);
    entries[`wire ${connections}`] = { remote: wire, job: { depth, measureNs: sizes.wireNs } };
    for (const calls of ['promise', 'callback']) {
      entries[`${calls} ${connections}`] = { remote: ours, job: { ...job, operations, calls } };
    }
  }
  for (const storage of redis) {
    const spec = { dataset, address: servers['redis'], storage };
    const remote = await openRemote({ kind: 'storage', ...spec });
    remotes.push(remote);
    entries[storage] = { remote, job: { ...job, operations: Math.ceil(operations / 2) } };
  }
  return { entries, remotes };
}

/** @returns {string[]} every available profile of the Redis drivers */
function redisProfiles() {
  const profiles = ['redis', 'redis:tuned', 'ioredis', 'ioredis:tuned', 'ioredis:pipelined'];
  if (existsSync(builtBinary(findHome()))) profiles.push('hiredis', 'hiredis:reader');
  return profiles;
}

/**
 * Measures every depth on one to four connections, and keeps the best.
 * @param {import('../lib/types.js').Address} address
 * @param {import('../lib/types.js').DatasetOptions} dataset
 * @param {Sizes} sizes
 */
async function openWire(address, dataset, { depths, lookNs, wireNs }) {
  /** @type {Remote<any, any>[]} */
  const remotes = [];
  const looks = [];
  for (const connections of [1, 2, 3, 4]) {
    const remote = await openRemote({ kind: 'wire', address, dataset, connections });
    remotes.push(remote);
    for (const depth of depths) {
      const seen = [];
      for (let i = 0; i < 3; i += 1) {
        const { operations, durationNs } = await remote.run({ depth, measureNs: lookNs });
        seen.push(operations / durationNs);
      }
      const name = `wire ${connections} × ${depth}`;
      looks.push({ name, rate: medianOf(seen), remote, job: { depth, measureNs: wireNs } });
    }
  }
  looks.sort((a, b) => b.rate - a.rate);
  /** @type {Entries} */
  const wire = {};
  for (const { name, remote, job } of looks.slice(0, FINALISTS)) wire[name] = { remote, job };
  return { wire, remotes };
}

/**
 * All requests at once.
 * @param {Record<string, any>} servers
 * @param {Sizes} sizes
 * @returns {AsyncGenerator<Figure>}
 */
async function* bursts(servers, sizes) {
  const dataset = { rows: sizes.rows, valueSize: SMALL, seed: 1 };
  const address = servers['mariadb'];
  const all = /** @type {const} */ ({ load: 'burst', collect: 'major' });
  const { wire, remotes } = await openWire(address, dataset, sizes);
  const ours = await openRemote({ kind: 'client', address, dataset });
  const other = await openRemote({
    kind: 'storage',
    storage: 'node-handlersocket',
    address,
    dataset,
  });
  remotes.push(ours, other);
  const { burst, lowBurst, otherBurst } = sizes;
  /** @type {Entries} */
  const entries = {
    ...wire,
    deep: { remote: ours, job: { ...all, operations: burst } },
    'deep callbacks': { remote: ours, job: { ...all, operations: burst, calls: 'callback' } },
    low: { remote: ours, job: { ...all, operations: lowBurst } },
    window: { remote: ours, job: { load: 'window', inFlight: WINDOW, operations: burst / 2 } },
    other: { remote: other, job: { ...all, operations: otherBurst } },
  };
  try {
    const rounds = await inTurn(entries, sizes.burstRounds);
    const limit = best(Object.keys(wire), rounds);
    const what = `burst of ${burst}`;
    const times = { better: /** @type {const} */ ('higher'), unit: '×' };
    yield measure(`${what}: promises`, rates(rounds['deep']), { better: 'higher', unit: '/s' });
    yield measure(`${what}: callbacks`, rates(rounds['deep callbacks']), {
      better: 'higher',
      unit: '/s',
    });
    const share = ratios(rounds['deep'], rounds[limit]);
    yield measure(`${what}: promises of the server ceiling`, share, { ...times, target: 0.6 });
    const depth = ratios(rounds['deep'], rounds['low']);
    yield measure(`${what} against one of ${lowBurst}: promises`, depth, { ...times, target: 0.8 });
    const cpu = rounds['other'].map(({ cpuNs }, i) => cpuNs / rounds['window'][i].cpuNs);
    yield measure(`client CPU of node-handlersocket (burst of ${otherBurst}) over ours`, cpu, {
      ...times,
      target: 10,
    });
    // Once, because its quadratic queue takes minutes at this depth.
    const { operations, durationNs } = await other.run({ ...all, operations: burst });
    const slow = (operations / durationNs) * 1e9;
    yield measure(
      `${what}: promises over node-handlersocket`,
      [medianOf(rates(rounds['deep'])) / slow],
      { ...times, target: 25 },
    );
  } finally {
    for (const remote of remotes) await remote.close();
  }
}

/**
 * @param {Record<string, any>} servers
 * @param {Sizes} sizes
 * @returns {AsyncGenerator<Figure>}
 */
async function* oneInFlight(servers, sizes) {
  const dataset = { rows: sizes.rows, valueSize: SMALL, seed: 1 };
  const address = servers['mariadb'];
  const ours = await openRemote({ kind: 'client', address, dataset });
  const bare = await openRemote({ kind: 'bare', address, dataset });
  const operations = sizes.oneByOne;
  const job = { load: /** @type {const} */ ('window'), inFlight: 1, operations };
  try {
    const rounds = await inTurn(
      {
        bare: { remote: bare, job: { operations } },
        promises: { remote: ours, job: { ...job, calls: 'promise' } },
        callbacks: { remote: ours, job: { ...job, calls: 'callback' } },
      },
      sizes.rounds * 3,
    );
    const options = { better: /** @type {const} */ ('higher'), unit: '×', target: 0.95 };
    for (const name of ['promises', 'callbacks']) {
      const share = ratios(rounds[name], rounds['bare']);
      yield measure(`one in flight: ${name} of a bare socket`, share, options);
    }
  } finally {
    await ours.close();
    await bare.close();
  }
}

/**
 * @param {Record<string, any>} servers
 * @param {Sizes} sizes
 * @returns {AsyncGenerator<Figure>}
 */
async function* largeReplies(servers, sizes) {
  const dataset = { rows: sizes.rows, valueSize: SMALL, seed: 1 };
  const address = servers['mariadb'];
  const ours = await openRemote({ kind: 'rows', address, dataset });
  const raw = await openRemote({ kind: 'rows-raw', address, dataset });
  const [few, many] = sizes.replyRows;
  try {
    const rounds = await inTurn(
      {
        raw: { remote: raw, job: { rows: many } },
        many: { remote: ours, job: { rows: many } },
        few: { remote: ours, job: { rows: few } },
      },
      sizes.rounds,
    );
    const lower = { better: /** @type {const} */ ('lower'), unit: '×' };
    yield measure(
      `reply of ${many} rows: time over a raw read`,
      ratios(rounds['raw'], rounds['many']),
      {
        ...lower,
        target: 3,
      },
    );
    yield measure(
      `reply of ${many} rows: time of a row over that in ${few}`,
      ratios(rounds['few'], rounds['many']),
      { ...lower, target: 1.5 },
    );
  } finally {
    await ours.close();
    await raw.close();
  }
}

if (isMain(import.meta.filename)) {
  const figures = [];
  const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
  const parts = named.length === 0 ? PARTS : named;
  for await (const figure of run({ smoke: process.argv.includes('--smoke'), parts })) {
    console.error(`  measured: ${figure.name}`);
    figures.push(figure);
  }
  console.log(showFigures(figures));
}

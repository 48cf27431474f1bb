/**
 * A contender of the HandlerSocket bench in a separate process, see remote.js. The tags of replies
 * are summed and compared with the expected sum, at equal cost for all.
 */

import { connect as connectSocket } from 'node:net';
import { createDataset, ROW_NAMES } from '../lib/dataset.js';
import { createRandom, drawBelow } from '../lib/random.js';
import { loadProtocol } from '../limits/wire/protocol.js';
import { Pump } from '../limits/wire/pump.js';
import { systemClock } from '../measure/clock.js';
import { systemInstruments } from '../measure/usage.js';
import { connect } from '../packages/handlersocket/index.js';
import { loadStorage } from '../storages/index.js';
import { credentialsFor } from './login.js';
import { serve, timed } from './remote.js';

/** @typedef {import('../lib/types.js').Address} Address */
/** @typedef {import('../lib/types.js').Dataset} Dataset */

/**
 * @typedef {object} ContenderSpec
 * @property {'client' | 'storage' | 'wire' | 'bare' | 'rows' | 'rows-raw'} kind
 * @property {Address} address address of its server
 * @property {import('../lib/types.js').DatasetOptions} dataset
 * @property {string} [storage] name and profile: `ioredis:tuned`
 * @property {number} [connections] connections of the wire loop and of the client
 *
 * @typedef {object} Job
 * @property {'promise' | 'callback'} [calls] calls of the client
 * @property {'window' | 'burst'} [load]
 * @property {number} [inFlight]
 * @property {number} [operations]
 * @property {number} [depth] requests in flight of the wire loop
 * @property {number} [measureNs] duration of the wire loop
 * @property {number} [rows] rows of a large reply
 * @property {'major'} [collect] garbage collection before the segment, after a burst
 *
 * @typedef {import('./remote.js').JobResult} JobResult
 * @typedef {import('./remote.js').Contender} Contender
 *
 * @typedef {(id: number, done?: (error: any, value?: any) => void) => any} Get
 */

/** @type {Record<string, (spec: ContenderSpec) => Promise<Contender>>} */
const KINDS = { client, storage, wire, bare, rows: largeReply, 'rows-raw': rawReply };

/** Untimed requests before each segment, a quarter of it, since the wire loop has its own. */
const LEAD_MAX = 10_000;

let seed = 0;

serve((/** @type {ContenderSpec} */ spec) => KINDS[spec.kind](spec));

/** @param {ContenderSpec} spec @returns {Promise<Contender>} */
async function client({ address, dataset: options, connections }) {
  const dataset = createDataset(options);
  const { host, port } = address['read'];
  const { secret } = await credentialsFor('mariadb');
  const hs = await connect({ host, port, secret, connections });
  const { database, table } = ROW_NAMES;
  const index = await hs.openIndex({ database, table, columns: ['str'] });
  /** @type {Get} */
  const get = (id, done) => (done === undefined ? index.value(id) : index.value(id, done));
  return {
    run: (job) => runLoad(get, (value) => value, job.calls ?? 'promise', dataset, job),
    close: () => hs.close(),
  };
}

/** @param {ContenderSpec} spec @returns {Promise<Contender>} */
async function storage({ storage: name = '', address, dataset: options }) {
  const dataset = createDataset(options);
  const [source, profileName = 'default'] = name.split(':');
  const definition = await loadStorage(source);
  const profile = definition.profiles[profileName];
  const credentials = await credentialsFor(definition.server ?? '');
  const handle = await /** @type {any} */ (definition.open).rows({
    address,
    credentials,
    dataset,
    folder: '',
    names: ROW_NAMES,
    profile: { name: profileName, ...profile },
  });
  const { get, value = (/** @type {any} */ reply) => reply } = handle;
  return {
    run: (job) => runLoad(get, value, profile.calls ?? 'promise', dataset, job),
    close: () => handle.close(),
  };
}

/**
 * A window is measured like the wire loop, between two of its replies while it is full, without
 * filling and draining. A burst includes both.
 * @param {Get} get
 * @param {(reply: any) => string | undefined} value
 * @param {string} calls
 * @param {Dataset} dataset
 * @param {Job} job
 * @returns {Promise<JobResult>}
 */
async function runLoad(get, value, calls, dataset, { load, inFlight = 1, operations = 1 }) {
  const loop = calls === 'callback' ? callbackLoop : promiseLoop;
  const lead = leadOf(operations);
  let sum = 0;
  let replies = 0;
  const count = (/** @type {any} */ reply) => {
    const text = value(reply);
    if (text === undefined) throw new Error('a row is missing');
    sum = (sum + tagSum(text, text.length)) | 0;
    replies += 1;
  };
  const requireSum = (/** @type {Uint32Array} */ ids) => {
    if (sum === expectedSum(ids, dataset)) return;
    throw new Error('the values are not those of the requested rows');
  };
  if (load === 'burst') {
    const ids = drawIds(dataset, operations);
    await loop(get, ids.subarray(0, lead), operations, count, () => false);
    sum = 0;
    const result = await timed(() => loop(get, ids, operations, count, () => false), operations);
    requireSum(ids);
    return result;
  }
  const ids = drawIds(dataset, lead + operations + inFlight);
  const mark = () => ({ ns: systemClock.now(), cpu: process.cpuUsage() });
  let start = mark();
  let end = start;
  const isFull = () => {
    if (replies === lead) start = mark();
    if (replies === lead + operations) end = mark();
    return replies >= lead + operations;
  };
  const issued = await loop(get, ids, inFlight, count, isFull);
  requireSum(ids.subarray(0, issued));
  const cpuUs = end.cpu.user + end.cpu.system - start.cpu.user - start.cpu.system;
  return { operations, durationNs: end.ns - start.ns, cpuNs: cpuUs * 1000 };
}

/** @param {Dataset} dataset @param {number} count */
function drawIds(dataset, count) {
  seed += 1;
  const random = createRandom(seed);
  return Uint32Array.from({ length: count }, () => 1 + drawBelow(random, dataset.rows));
}

/** @param {Uint32Array} ids @param {Dataset} dataset */
function expectedSum(ids, dataset) {
  const scratch = Buffer.alloc(dataset.valueSize);
  let sum = 0;
  for (const id of ids) {
    dataset.write(id, scratch);
    sum = (sum + tagSum(scratch.toString('latin1', 0, 8), dataset.valueSize)) | 0;
  }
  return sum;
}

/** @param {number} operations */
function leadOf(operations) {
  return Math.min(LEAD_MAX, Math.ceil(operations / 4));
}

/**
 * @param {string} text
 * @param {number} length length of the whole value
 * @returns {number} weighted sum of the tag's five letters, which depends on the id
 */
function tagSum(text, length) {
  const high = text.charCodeAt(0) * 3 + text.charCodeAt(1) * 127 + text.charCodeAt(2) * 8191;
  return (high + text.charCodeAt(3) * 65537 + text.charCodeAt(4) * 1048573 + length) | 0;
}

/**
 * @callback Loop keeps operations in flight until all ids are used or it is stopped
 * @param {Get} get
 * @param {Uint32Array} ids
 * @param {number} inFlight
 * @param {(reply: any) => void} take
 * @param {() => boolean} isFull called after each reply; true: no further requests
 * @returns {Promise<number>} number of requests, all with a reply
 */

/** @type {Loop} */
function promiseLoop(get, ids, inFlight, take, isFull) {
  return new Promise((resolve, reject) => {
    let next = 0;
    let left = 0;
    const onReply = (/** @type {any} */ reply) => {
      take(reply);
      left -= 1;
      if (!isFull() && next < ids.length) issue();
      else if (left === 0) resolve(next);
    };
    const issue = () => {
      const id = ids[next];
      next += 1;
      left += 1;
      get(id).then(onReply, reject);
    };
    for (let i = 0; i < inFlight && next < ids.length; i += 1) issue();
  });
}

/** @type {Loop} */
function callbackLoop(get, ids, inFlight, take, isFull) {
  return new Promise((resolve, reject) => {
    let next = 0;
    let left = 0;
    const done = (/** @type {any} */ error, /** @type {any} */ reply) => {
      if (error) {
        reject(error);
        return;
      }
      take(reply);
      left -= 1;
      if (!isFull() && next < ids.length) issue();
      else if (left === 0) resolve(next);
    };
    const issue = () => {
      const id = ids[next];
      next += 1;
      left += 1;
      get(id, done);
    };
    for (let i = 0; i < inFlight && next < ids.length; i += 1) issue();
  });
}

/** @param {ContenderSpec} spec @returns {Promise<Contender>} */
async function wire({ address, dataset, connections = 1 }) {
  const pump = await Pump.open({
    protocol: await loadProtocol('handlersocket'),
    endpoint: address['read'],
    credentials: await credentialsFor('mariadb'),
    dataset: createDataset(dataset),
    connections,
    stallMs: 10_000,
    instruments: systemInstruments(systemClock),
    serverPids: [],
  });
  return {
    async run({ depth = 128, measureNs = 1e8 }) {
      const point = await pump.run({ depth, warmNs: measureNs / 4, measureNs });
      return { operations: point.replies, durationNs: point.durationNs, cpuNs: point.clientCpuNs };
    },
    close: () => pump.close(),
  };
}

/**
 * A plain socket that writes and reads the same bytes, one find at a time.
 * @param {ContenderSpec} spec @returns {Promise<Contender>}
 */
async function bare({ address, dataset }) {
  const { socket, onLine } = await openBare(address, ROW_NAMES.table, 'str');
  return {
    async run({ operations = 1 }) {
      seed += 1;
      const random = createRandom(seed);
      const requests = Array.from({ length: operations }, () =>
        Buffer.from(`0\t=\t1\t${1 + drawBelow(random, dataset.rows)}\n`),
      );
      const inTurn = (/** @type {number} */ count) =>
        new Promise((resolve) => {
          let next = 1;
          onLine(() => {
            if (next === count) resolve(undefined);
            else socket.write(requests[next++]);
          });
          socket.write(requests[0]);
        });
      await inTurn(leadOf(operations));
      return timed(() => inTurn(operations), operations);
    },
    close: () => socket.destroy(),
  };
}

/**
 * @param {Address} address
 * @param {string} table
 * @param {string} column
 */
async function openBare(address, table, column) {
  const { host, port } = address['read'];
  let listen = () => {};
  const buffer = Buffer.allocUnsafe(65536);
  const socket = connectSocket({
    host,
    port: port ?? 0,
    noDelay: true,
    onread: {
      buffer,
      callback: (count) => {
        if (buffer[count - 1] === 10) listen();
        return true;
      },
    },
  });
  const ask = (/** @type {string} */ line) =>
    new Promise((resolve, reject) => {
      listen = () => resolve(undefined);
      socket.once('error', reject);
      socket.write(line);
    });
  const { secret } = await credentialsFor('mariadb');
  if (secret !== undefined) await ask(`A\t1\t${secret}\n`);
  await ask(`P\t0\t${ROW_NAMES.database}\t${table}\tPRIMARY\t${column}\n`);
  /** @param {() => void} next called after a complete line */
  const onLine = (next) => {
    listen = next;
  };
  return { socket, onLine };
}

/** Table of large replies, created by the bench. */
const LARGE = 'bench_large';

/** @param {ContenderSpec} spec @returns {Promise<Contender>} */
async function largeReply({ address }) {
  const { host, port } = address['read'];
  const { secret } = await credentialsFor('mariadb');
  const hs = await connect({ host, port, secret });
  const { database } = ROW_NAMES;
  const index = await hs.openIndex({ database, table: LARGE, columns: ['str'] });
  return {
    async run({ rows = 1 }) {
      /** @type {any[]} */
      let found = [];
      const result = await timed(async () => {
        found = await index.find('>=', 1, { limit: rows });
      }, rows);
      const whole = found.length === rows && found.every(([text], i) => Number(text) === i + 1);
      if (!whole) throw new Error(`the reply of ${rows} rows is incomplete`);
      return result;
    },
    close: () => hs.close(),
  };
}

/** @param {ContenderSpec} spec @returns {Promise<Contender>} */
async function rawReply({ address }) {
  const { socket, onLine } = await openBare(address, LARGE, 'str');
  return {
    run: ({ rows = 1 }) =>
      timed(
        () =>
          new Promise((resolve) => {
            onLine(() => resolve(undefined));
            socket.write(`0\t>=\t1\t1\t${rows}\t0\n`);
          }),
        rows,
      ),
    close: () => socket.destroy(),
  };
}

/**
 * Load generators written in C beside the drivers, with the same shape: equal numbers of
 * connections and of requests in flight per connection. One connection with 100 in flight is
 * `redis-benchmark -c 1 -P 100`; a hundred connections with one each are `-c 100 -P 1`, and
 * `sysbench --threads=100`. With a different shape a driver can look faster than the generator.
 *
 * One interleaved sweep: in each round every contender runs once in each shape, in random order.
 * Unavailable ones have a reason instead of a figure. The generators do not verify replies.
 */

import { run as runDragstrip } from '../index.js';
import { formatEndpoint } from '../lib/address.js';
import { findHome } from '../lib/home.js';
import { createRandom, shuffled } from '../lib/random.js';
import { systemClock } from '../measure/clock.js';
import { measure } from './figures.js';
import { credentialsFor } from './login.js';
import { respBenchmark, withKeys } from './tools/redis-benchmark.js';
import { sysbench } from './tools/sysbench.js';

const IN_FLIGHT = 100;
/** Numbers of connections: `-c 1 -P 100` and `-c 100 -P 1`. */
const CONNECTIONS = Object.freeze([1, 100]);
const DRIVERS = Object.freeze(['ioredis', 'redis:tuned', 'iovalkey', 'valkey-glide']);
const SQL_DRIVERS = Object.freeze(['mysql2', 'mariadb']);
/** Time limit of the sweep: no round starts that would end later. */
const BUDGET_NS = 200e9;
const ROUNDS_MAX = 11;

/**
 * @typedef {object} Shape
 * @property {number} connections
 * @property {number} perConnection requests in flight
 * @property {number} seconds
 * @property {number} requests number of requests for about this time
 *
 * @typedef {object} Contender
 * @property {string} name
 * @property {string} [missing] reason for not taking part
 * @property {(shape: Shape) => Promise<number | null>} [measure] operations per second; null:
 *   unsupported shape
 */

/**
 * @param {import('./figures.js').BenchContext} context
 * @returns {AsyncGenerator<import('./figures.js').Figure>}
 */
export async function* run({ smoke, servers, rows }) {
  const home = findHome();
  const [address, sql] = [servers['redis'], servers['mariadb']];
  const credentials = await credentialsFor('redis');
  const where = { home, address, credentials };
  const ofSql = { home, address: sql, credentials: await credentialsFor('mariadb') };
  const addresses = {
    redis: formatEndpoint(address.main),
    mysql: formatEndpoint(sql.sql),
    handlersocket: formatEndpoint(sql.read),
    'handlersocket-write': formatEndpoint(sql.write),
  };
  const all = [
    await respBenchmark('redis', where),
    await respBenchmark('valkey', where),
    ...DRIVERS.map((name) => driver(name, { addresses, rows })),
    await sysbench({ ...ofSql, rows, fetch: !smoke }),
    ...SQL_DRIVERS.map((name) => driver(name, { addresses, rows })),
  ];
  for (const { name, missing } of all) {
    if (missing !== undefined) console.error(`  left out: ${name}: ${missing}`);
  }
  const able = all.filter(({ missing }) => missing === undefined);
  const ratesByCell = await withKeys({ address, credentials }, () => sweep(able, smoke));
  for (const [cell, rates] of ratesByCell) {
    yield measure(cell, rates, { better: 'higher', unit: 'ops/s' });
  }
}

/**
 * @param {readonly Contender[]} contenders
 * @param {boolean} smoke
 * @returns {Promise<Map<string, number[]>>} rates of the rounds, by shape and contender
 */
async function sweep(contenders, smoke) {
  const random = createRandom(1, 0);
  const cells = CONNECTIONS.flatMap((connections) =>
    contenders.map(({ name, measure: rateOf }) => ({ name, connections, rateOf })),
  );
  /** @type {Map<string, number[]>} */
  const ratesByCell = new Map(
    cells.map(({ name, connections }) => [cellOf(name, connections), []]),
  );
  const seconds = smoke ? 0.1 : 1;
  const startNs = systemClock.now();
  for (let round = 1; round <= (smoke ? 1 : ROUNDS_MAX); round += 1) {
    for (const { name, connections, rateOf } of shuffled(cells, random)) {
      const shape = { connections, perConnection: IN_FLIGHT / connections, seconds };
      const rate = await rateOf?.({ ...shape, requests: smoke ? 2000 : 100_000 });
      if (typeof rate === 'number') ratesByCell.get(cellOf(name, connections))?.push(rate);
    }
    const spentNs = systemClock.now() - startNs;
    if (spentNs + spentNs / round > BUDGET_NS) break;
  }
  return new Map([...ratesByCell].filter(([, rates]) => rates.length > 0));
}

/**
 * @param {string} name
 * @param {number} connections
 */
function cellOf(name, connections) {
  return `-c ${connections} -P ${IN_FLIGHT / connections}: ${name}`;
}

/**
 * @param {string} name name of a storage
 * @param {{ addresses: Record<string, string>, rows: number }} where
 * @returns {Contender}
 */
function driver(name, { addresses, rows }) {
  return {
    name,
    async measure({ connections, seconds }) {
      const result = await runDragstrip({
        storages: [name],
        addresses,
        rows,
        load: 'window',
        rounds: 1,
        inFlight: IN_FLIGHT,
        duration: seconds * 1000,
        warmup: 500,
        ...(connections > 1 && { connections }),
      });
      const [{ rounds, reason }] = result.benchmarks;
      const wrong = rounds[0]?.failure?.message ?? reason;
      if (rounds[0]?.state !== 'measured') throw new Error(`${name}: ${wrong}`);
      return rounds[0].throughput;
    },
  };
}

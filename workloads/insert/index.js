/**
 * Rows `(a int primary key, b int)` into a table that is empty when the clock starts, by one of the
 * strategies of strategies.js. A request is an operation, whatever its number of rows; the clock
 * stops when the last one is acknowledged. Then all rows are read back: a round with a lost, wrong
 * or duplicate row fails.
 */

import { defineWorkload, metricRules } from '../../lib/define.js';
import { dataError } from '../../lib/errors.js';
import { MISMATCH, OK } from '../../lib/outcome.js';
import { namespace } from './namespace.js';
import { options, plan, shared } from './plan.js';
import { numberOf, offersStrategy, planSlices, rowsOfRequest, STRATEGIES } from './strategies.js';

/** @typedef {import('../../lib/types.js').Inserter} Inserter */
/** @typedef {import('../../lib/types.js').InsertWay} InsertWay */
/** @typedef {import('./strategies.js').Slices} Slices */
/** @typedef {import('./strategies.js').Strategy} Strategy */

/** Two ints, both compared when all rows are read back. */
const ROW_BYTES = 8;
/** Single rows inserted in sequence by one operation of the warm-up. */
const WARMUP_SINGLES = 50;
/** Warm-up rows of an embedded store, each of which may wait for the disk. */
const WARMUP_SINGLES_SYNC = 5;

/** @type {import('../../lib/types.js').Prepare<Inserter>} */
function prepare({ dataset, ops, options, phase, contender }) {
  const { strategy: name, batch = 1 } = /** @type {any} */ (options['parameters']);
  const strategy = STRATEGIES[name];
  const { rows, seed } = dataset;
  const size = rowsOfRequest(strategy, { rows, batch });
  if (phase === 'warmup') {
    return (inserter) => bindWarmup(inserter, { name, strategy, size, ops, rows });
  }
  const slices = planSlices({ rows, size, workers: strategy.workers });
  const { inserts = {} } = /** @type {import('../../lib/types.js').StorageDefinition} */ (
    contender
  );
  const plan = { name, how: inserts[name] ?? name, strategy, slices, rows, seed };
  return (inserter) => bindMeasured(inserter, plan);
}

/**
 * @param {Inserter} inserter
 * @param {string} name
 * @param {Strategy} strategy
 */
function wayOf({ ways }, name, { way: kind }) {
  const way = ways[name] ?? ways[kind];
  if (way === undefined) throw new Error(`the storage does not implement the strategy ${name}`);
  return way;
}

/**
 * @param {Inserter} inserter
 * @param {{ name: string, how: string, strategy: Strategy, slices: Slices, rows: number, seed:
 *   number }} plan how: the storage's description of the strategy
 * @returns {import('../../lib/types.js').BoundWorkload}
 */
function bindMeasured(inserter, { name, how, strategy, slices, rows, seed }) {
  const way = wayOf(inserter, name, strategy);
  const { from, to, worker, length } = slices;
  const { build, send, stored } = way;
  /** @type {any[]} */
  const requests = [];
  if (strategy.prebuilt) for (let i = 0; i < length; i += 1) requests.push(build(from[i], to[i]));
  const counted = { acknowledged: 0, refused: 0 };
  const compared = { replies: 0, bytes: 0 };
  /** @type {number | null} */
  let writesBefore = null;
  return {
    op: strategy.prebuilt
      ? (index) => send(requests[index], worker[index])
      : (index) => send(build(from[index], to[index]), worker[index]),
    verify(index, reply) {
      const count = stored(reply);
      if (count < 0) counted.refused -= count;
      else counted.acknowledged += count;
      return count === to[index] - from[index] ? OK : MISMATCH;
    },
    compared,
    calls: way.calls ?? 'promise', // not the profile's value, which concerns reads
    async before() {
      await inserter.clear();
      writesBefore = (await inserter.writes?.()) ?? null;
    },
    async after() {
      const writes = (await inserter.writes?.()) ?? null;
      const written = writes === null || writesBefore === null ? null : writes - writesBefore;
      const counts = await findRows(inserter, rows, seed);
      compared.replies += counts.right + counts.twice + counts.wrong;
      compared.bytes += ROW_BYTES * (counts.right + counts.twice + counts.wrong);
      const metrics = {
        rows,
        requests: length,
        how,
        ...counts,
        ...counted,
        written,
        durability: await inserter.durability(),
      };
      const fault = faultOf(metrics);
      if (fault !== null) throw dataError(fault);
      return metrics;
    },
  };
}

/**
 * Rows outside of the measurement; `before` of the measured segment removes them.
 * @param {Inserter} inserter
 * @param {{ name: string, strategy: Strategy, size: number, ops: number, rows: number }} plan
 * @returns {import('../../lib/types.js').BoundWorkload}
 */
function bindWarmup(inserter, { name, strategy, size, ops, rows }) {
  const way = wayOf(inserter, name, strategy);
  const { workers } = strategy;
  const isSync = way.calls === 'sync';
  const singles = isSync ? WARMUP_SINGLES_SYNC : WARMUP_SINGLES;
  const step = strategy.rows === 'all' ? Math.ceil(rows / ops) : size === 1 ? singles : size;
  const first = (/** @type {number} */ index) => 1 + index * step;
  const many = (/** @type {number} */ index) =>
    way.send(way.build(first(index), first(index) + step), index % workers);
  const insertRow = (/** @type {number} */ a, /** @type {number} */ index) =>
    way.send(way.build(a, a + 1), index % workers);
  const chain = async (/** @type {number} */ index) => {
    for (let a = first(index); a < first(index) + step; a += 1) await insertRow(a, index);
  };
  const row = (/** @type {number} */ index) => {
    for (let a = first(index); a < first(index) + step; a += 1) insertRow(a, index);
  };
  return {
    op: size > 1 || strategy.rows === 'all' ? many : isSync ? row : chain,
    verify: () => OK, // its rows are removed unread
    calls: way.calls ?? 'promise', // not the profile's value, which concerns reads
    before: () => inserter.clear(),
  };
}

/**
 * @param {Inserter} inserter
 * @param {number} rows expected: keys 1 to `rows`
 * @param {number} seed
 * @returns {Promise<{ right: number, lost: number, twice: number, wrong: number }>}
 */
async function findRows(inserter, rows, seed) {
  const seen = new Uint8Array(rows + 1);
  const counts = { right: 0, lost: 0, twice: 0, wrong: 0 };
  await inserter.read((a, b) => {
    if (!Number.isInteger(a) || a < 1 || a > rows || b !== numberOf(seed, a)) counts.wrong += 1;
    else if (seen[a] === 1) counts.twice += 1;
    else {
      seen[a] = 1;
      counts.right += 1;
    }
  });
  counts.lost = rows - counts.right;
  return counts;
}

/**
 * A store that silently accepts a duplicate row (Cassandra) reports its number of written rows; the
 * others refuse it.
 * @param {{ rows: number, right: number, lost: number, twice: number, wrong: number,
 *   acknowledged: number, refused: number, written: number | null }} metrics
 * @returns {string | null} the error in the rows, or null
 */
function faultOf({ rows, right, lost, twice, wrong, acknowledged, refused, written }) {
  const more = Math.max(acknowledged - rows, (written ?? rows) - rows, 0);
  const again = twice + refused + more;
  if (lost + again + wrong === 0 && acknowledged === rows) return null;
  if (again + wrong === 0 && acknowledged === right) {
    return `incomplete: of ${rows} rows, ${right} were acknowledged, and these are right`;
  }
  const noted = written === null ? '' : `, ${written} written by the server's own count`;
  return (
    `wrong rows: of ${rows}, ${right} are right, ${lost} lost, ${again} inserted twice, ` +
    `${wrong} wrong or unknown; ${acknowledged} were acknowledged${noted}`
  );
}

export const workload = defineWorkload({
  name: 'insert',
  options,
  shared,
  plan,
  runHooks: () => import('./run-hooks.js'),
  needs: ['insert'],
  namespace,
  metricRules: metricRules({
    one: ['rows', 'requests', 'how', 'right', 'lost', 'twice', 'wrong', 'written', 'durability'],
    sum: ['acknowledged', 'refused'],
  }),
  check: false,
  prepare,
  offers: (storage, { strategy }) => offersStrategy(storage, String(strategy)),
  openWith: ({ strategy }, { seed }) => ({
    connections: STRATEGIES[String(strategy)].workers,
    numberOf: (/** @type {number} */ a) => numberOf(seed, a),
  }),
});

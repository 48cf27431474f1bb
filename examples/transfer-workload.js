/**
 * A workload outside the project, as an application has it: a pool of connections, and per
 * operation one transaction of two commands. It moves an amount from one account to another and
 * checks at the end that none was lost.
 *
 *   npx dragstrip run --workload ./examples/transfer-workload.js --storages redis,ioredis --pool 4
 */

import { count, defineWorkload } from 'dragstrip';

const ACCOUNTS = 1000;

export default defineWorkload({
  name: 'transfer',
  summary: 'transactions of two commands over a pool of connections',
  needs: ['command'], // connections that take commands of any name
  options: {
    pool: count(1, 100, 4, { help: 'connections in the pool' }),
    ops: count(1, 1e7, 5000, { help: 'transfers in each benchmark' }),
  },
  plan: ({ pool, ops }) => ({
    variants: [{ parameters: { pool } }],
    loads: [{ kind: 'window', inFlight: 32, operations: ops }],
  }),
  // Keys of this workload alone: created under a mark, and removed after the run.
  namespace: {
    name: 'transfer',
    redis: {
      prefix: 'dragstrip:transfer:',
      marker: 'dragstrip:transfer:owner',
      own: /^dragstrip:transfer:account:\d+$/,
    },
  },
  check: false, // there is nothing to read before the first transfer

  prepare: ({ options, origin, clock }) => {
    const { pool: size } = /** @type {{ pool: number }} */ (options['parameters']);
    const key = (/** @type {number} */ n) => `${origin?.names.redisPrefix}account:${n % ACCOUNTS}`;
    return (handle) => {
      const pool = new Pool(handle, size, clock ?? { now: () => 0 });
      return {
        calls: 'promise',
        before: () => pool.open(), // the clock starts after it
        op: (index) =>
          pool.with((connection) =>
            Promise.all([
              connection.send(['MULTI']),
              connection.send(['DECRBY', key(index), '10']),
              connection.send(['INCRBY', key(index * 7 + 1), '10']),
              connection.send(['EXEC']),
            ]),
          ),
        // The last reply has those of both commands; 0: ok, 2: mismatch.
        verify: (_index, replies) =>
          replies[3]?.length === 2 && replies[3].every(Number.isInteger) ? 0 : 2,
        async after() {
          const metrics = { poolWaitNsMean: pool.waitNsMean };
          const keys = Array.from({ length: ACCOUNTS }, (_, n) => key(n));
          const balances = await pool.with((connection) => connection.send(['MGET', ...keys]));
          await pool.close();
          let sum = 0;
          for (const balance of balances) sum += Number(balance);
          if (sum === 0) return metrics;
          throw Object.assign(new Error(`the balances add up to ${sum}`), { code: 'E_DATA' });
        },
      };
    };
  },
});

/** Connections, each with one user at a time; other users wait in order. */
class Pool {
  /**
   * @param {any} handle
   * @param {number} size
   * @param {{ now(): number }} clock
   */
  constructor(handle, size, clock) {
    Object.assign(this, { handle, size, clock });
    this.idle = /** @type {any[]} */ ([]);
    this.waiting = /** @type {((connection: any) => void)[]} */ ([]);
    this.waitedNs = 0;
    this.uses = 0;
  }

  async open() {
    const { handle, size } = /** @type {any} */ (this);
    this.idle = await Promise.all(Array.from({ length: size }, () => handle.connect('main')));
  }

  /** @template T @param {(connection: any) => Promise<T>} use @returns {Promise<any>} */
  async with(use) {
    const { clock } = /** @type {any} */ (this);
    const startNs = clock.now();
    const connection =
      this.idle.pop() ?? (await new Promise((resolve) => this.waiting.push(resolve)));
    this.waitedNs += clock.now() - startNs;
    this.uses += 1;
    try {
      return await use(connection);
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.idle.push(connection);
      else next(connection);
    }
  }

  get waitNsMean() {
    return this.waitedNs / Math.max(1, this.uses);
  }

  async close() {
    await Promise.all(this.idle.map((connection) => connection.close()));
  }
}

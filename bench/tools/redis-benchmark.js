/**
 * redis-benchmark and valkey-benchmark as contenders of the like-shape sweep: GET of separate keys,
 * with values as long as those of the rows.
 */

import { RespConnection } from '../../data/connections/redis.js';
import { createDataset } from '../../lib/dataset.js';
import { encodeCommand } from '../../protocols/resp/command.js';
import { loadServer } from '../../servers/registry.js';
import { runBenchmark, withTemporaryUser } from '../../workloads/commands/redis-benchmark.js';

/** Its `__rand_int__` is a number of twelve digits. */
const PREFIX = 'dragstrip:like-shape:';
const DIGITS = 12;
const KEYS = 10_000;
const BATCH = 500;

/**
 * @param {'redis' | 'valkey'} kind
 * @param {{ home: string, address: import('../../lib/types.js').Address,
 *   credentials: import('../../lib/types.js').Credentials }} where
 * @returns {Promise<import('../like-shape.js').Contender>}
 */
export async function respBenchmark(kind, { home, address, credentials }) {
  const name = `${kind}-benchmark`;
  const programs = await (await loadServer(kind)).find(home);
  const program = programs?.programs[name];
  if (program === undefined) return { name, missing: 'not available' };
  const libraries = programs?.env?.['LD_LIBRARY_PATH'];
  return {
    name,
    async measure({ connections, perConnection, requests }) {
      const connection = await RespConnection.connect({ address, credentials });
      try {
        const send = (/** @type {readonly string[]} */ [word, ...rest]) =>
          connection.command(word, ...rest);
        const { figures, failure } = await withTemporaryUser(send, PREFIX, (login) =>
          runBenchmark(
            { program, ...(libraries && { libraries }) },
            {
              endpoint: address.main,
              requests,
              clients: connections,
              keyspace: KEYS,
              keepAlive: true,
              pipeline: perConnection,
              login,
              words: ['GET', `${PREFIX}__rand_int__`],
            },
          ),
        );
        if (figures === null) throw new Error(`${name}: ${failure}`);
        return figures.perSecond;
      } finally {
        connection.close();
      }
    },
  };
}

/**
 * Creates the keys that they read while `work` runs.
 * @template T
 * @param {import('../../lib/types.js').ConnectionContext} context
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withKeys(context, work) {
  const connection = await RespConnection.connect(context);
  const keys = Array.from(
    { length: KEYS },
    (_, i) => `${PREFIX}${String(i).padStart(DIGITS, '0')}`,
  );
  const all = async (/** @type {(key: string, i: number) => string[]} */ words) => {
    for (let at = 0; at < KEYS; at += BATCH) {
      const part = keys.slice(at, at + BATCH).map((key, i) => encodeCommand(words(key, at + i)));
      await connection.batch(Buffer.concat(part), part.length, true);
    }
  };
  const dataset = createDataset({ rows: KEYS });
  try {
    await all((key, i) => ['SET', key, dataset.value(i + 1)]);
    return await work();
  } finally {
    await all((key) => ['DEL', key]);
    connection.close();
  }
}

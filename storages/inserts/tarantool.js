/** Inserting by tarantool-driver: single requests, or a function that is a transaction. */

import { createCork } from '../connection.js';
import { rowsOf } from './rows.js';

const FUNCTION = 'dragstrip_insert';
/** Rows per select when reading back. */
const PAGE_ROWS = 10_000;
const ITERATE_ALL = 'all';

/** Descriptions of the strategies, for the tables. */
export const TARANTOOL_INSERTS = Object.freeze({
  one: 'insert',
  async: 'insert',
  workers: 'insert, a connection per worker',
  pairs: 'two inserts in one write',
  batch_pure: 'inserts in one write',
  batch_pure2: 'inserts in one write, two connections',
  unlogged_batch: 'inserts in one write',
  logged_batch: 'a function of box.lua: begin, inserts, commit',
});

/**
 * @param {{ connection: any, space: number }[]} handles one per
 *   worker, its space looked up
 * @param {import('../../lib/types.js').InsertContext} context
 * @returns {Omit<import('../../lib/types.js').Inserter, 'close'>}
 */
export function tarantoolInserter(handles, { names, numberOf }) {
  const [{ connection, space }] = handles;
  const corks = handles.map((handle) => createCork(handle.connection.socket));
  /** @param {number} from @param {number} to */
  const build = (from, to) => rowsOf(from, to, (a) => [a, numberOf(a)]);
  return {
    async clear() {
      // Would also remove the marker, which belongs to the whole run.
      const { tarantoolMarker, tarantoolKey } = names;
      const [marker] = await connection.select(tarantoolMarker, 0, 1, 0, 'eq', [tarantoolKey]);
      await connection.call('dragstrip_reset', names.space);
      if (marker !== undefined) await connection.replace(tarantoolMarker, marker);
    },
    async read(see) {
      for (let offset = 0; ; offset += PAGE_ROWS) {
        const rows = await connection.select(space, 0, PAGE_ROWS, offset, ITERATE_ALL, []);
        for (const [a, b] of rows) see(a, b);
        if (rows.length < PAGE_ROWS) return;
      }
    },
    async durability() {
      const reply = await connection.call('dragstrip_settings');
      return `wal_mode ${reply.flat()[0]?.wal_mode ?? 'unknown'}`;
    },
    ways: {
      single: {
        build: (from) => [from, numberOf(from)],
        send: (row, worker) => handles[worker].connection.insert(space, row),
        stored: (reply) => reply.length,
      },
      batch: {
        build,
        // Not the driver's pipeline(), which is quadratic in the bytes of its requests.
        send(rows, worker) {
          corks[worker]();
          const own = handles[worker].connection;
          return Promise.all(rows.map((/** @type {number[]} */ row) => own.insert(space, row)));
        },
        stored: (replies) => replies.length,
      },
      atomic: {
        build,
        send: (rows, worker) => handles[worker].connection.call(FUNCTION, rows),
        stored: (reply) => reply.flat()[0],
      },
    },
  };
}

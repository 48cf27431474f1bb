/**
 * Fills Tarantool: the space created by box.lua, by calls of its bulk function with a few hundred
 * rows each. The marker is a tuple in another space. A server that was not started from box.lua has
 * neither, and is not modified.
 */

import { ROW_NAMES, ROWS_NAMESPACE } from '../../lib/dataset.js';
import { BATCH_BYTES, pump } from '../connections/pump.js';
import { rowBufferBytes, TarantoolConnection } from '../connections/tarantool.js';
import { clear, findSpace, readOwnership, requireSpace, setMark } from '../namespaces/tarantool.js';
import { defineRowsLoader } from './fill.js';
import { rowsToKeep } from './marker.js';

/** @typedef {import('../namespaces/tarantool.js').Space} Space */

export default defineRowsLoader({
  name: 'tarantool',
  server: 'tarantool',
  title: 'Tarantool',
  endpoint: 'main',
  summary: `space ${ROW_NAMES.space}, by the bulk function of box.lua`,
  async open(context, writes) {
    const { tarantool: names } = context.namespace ?? ROWS_NAMESPACE;
    const connection = await TarantoolConnection.connect(context);
    try {
      const find = writes ? requireSpace : findSpace;
      const own = await find(connection, /** @type {any} */ (names));
      if (own !== null) return storeOf(own);
      connection.close();
      return null;
    } catch (error) {
      connection.close();
      throw error;
    }
  },
});

/**
 * @param {Space} target
 * @returns {import('./fill.js').RowStore}
 */
function storeOf(target) {
  const { connection, space, spaceId } = target;
  return {
    where: connection.where,
    markedBy: `tuple ${target.key}`,
    ownership: () => readOwnership(target),
    // Surplus rows cannot be removed individually here, so a smaller dataset is written from the
    // start.
    rowsThere: async (dataset, marker) =>
      (marker?.extent ?? 0) > dataset.rows ? 0 : rowsToKeep(marker, dataset),
    async write(dataset, { keep, progress, mark }) {
      if (keep === 0) await clear(target);
      const extent = dataset.rows;
      await setMark(target, mark({ complete: false, done: keep, extent }));
      await pump({
        first: keep + 1,
        last: dataset.rows,
        bufferBytes: Math.max(BATCH_BYTES, rowBufferBytes(dataset.valueSize)),
        encode: (buffer, id) =>
          connection.encodeRows('dragstrip_load_from', dataset, buffer, id, space),
        send: async (bytes) => {
          // The marker includes the rows acknowledged so far; it is sent after the rows.
          const loaded = connection.sendRows(bytes);
          const state = { complete: false, done: progress.rowsDone, extent };
          await Promise.all([loaded, setMark(target, mark(state))]);
        },
        onDone: (next) => {
          progress.rowsDone = Math.max(progress.rowsDone, next - 1);
        },
      });
    },
    async fault({ rows }) {
      const count = await connection.call('dragstrip_count', [space]);
      return count === rows ? null : `${count} rows found instead of ${rows}`;
    },
    async read(id) {
      const [tuple] = await connection.select(spaceId, 0, [id]);
      return tuple?.[1];
    },
    setMark: (text) => setMark(target, text),
    close: () => connection.close(),
  };
}

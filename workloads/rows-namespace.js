/** Where a workload has a copy of the dataset while a run lasts: our own names and no others. */

/**
 * @param {string} name of the workload
 * @returns {import('../lib/types.js').Namespace}
 */
export function rowsNamespace(name) {
  return Object.freeze({
    name,
    rows: true,
    redis: {
      prefix: `dragstrip:${name}:row:`,
      marker: `dragstrip:${name}:dataset`,
      own: new RegExp(`^dragstrip:${name}:row:\\d+$`),
    },
    mariadb: { database: 'hs_test', table: `dragstrip_${name}` },
    tarantool: { space: `dragstrip_${name}`, marker: 'dragstrip_dataset', key: name },
  });
}

/** Namespace of temporary rows of one run. */

/**
 * @param {string} name name of the workload, or of a size of values
 * @returns {import('../lib/types.js').Namespace}
 */
export function rowsNamespace(name) {
  const word = name.replaceAll('-', '_');
  return Object.freeze({
    name,
    rows: true,
    redis: {
      prefix: `dragstrip:${name}:row:`,
      marker: `dragstrip:${name}:dataset`,
      own: new RegExp(`^dragstrip:${name}:row:\\d+$`),
    },
    mariadb: { database: 'hs_test', table: `dragstrip_${word}` },
    tarantool: { space: `dragstrip_${word}`, marker: 'dragstrip_dataset', key: word },
  });
}

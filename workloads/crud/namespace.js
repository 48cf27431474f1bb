/** Where the rows of the workload are while a run lasts: our own names and no others. */

/** @type {import('../../lib/types.js').Namespace} */
export const namespace = Object.freeze({
  name: 'crud',
  rows: true,
  grows: true,
  redis: {
    prefix: 'dragstrip:crud:row:',
    marker: 'dragstrip:crud:dataset',
    own: /^dragstrip:crud:row:\d+$/,
  },
  mariadb: { database: 'hs_test', table: 'dragstrip_crud' },
  tarantool: { space: 'dragstrip_crud', marker: 'dragstrip_dataset', key: 'crud' },
});

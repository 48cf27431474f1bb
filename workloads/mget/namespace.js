/** Where the keys of `dragstrip mget` are while a run lasts: our own names and no others. */

/** @type {import('../../lib/types.js').Namespace} */
export const namespace = Object.freeze({
  name: 'mget',
  rows: true,
  redis: {
    prefix: 'dragstrip:mget:row:',
    marker: 'dragstrip:mget:dataset',
    own: /^dragstrip:mget:row:\d+$/,
  },
  mariadb: { database: 'hs_test', table: 'dragstrip_mget' },
  tarantool: { space: 'dragstrip_mget', marker: 'dragstrip_dataset', key: 'mget' },
});

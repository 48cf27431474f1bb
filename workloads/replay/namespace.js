/** Where the keys of a replay are while a run lasts: our own names and no others. */

/** @type {import('../../lib/types.js').Namespace} */
export const namespace = Object.freeze({
  name: 'replay',
  rows: true,
  redis: {
    prefix: 'dragstrip:replay:row:',
    marker: 'dragstrip:replay:dataset',
    own: /^dragstrip:replay:row:\d+$/,
  },
  mariadb: { database: 'hs_test', table: 'dragstrip_replay' },
  tarantool: { space: 'dragstrip_replay', marker: 'dragstrip_dataset', key: 'replay' },
});

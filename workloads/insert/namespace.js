/** Namespace of `dragstrip insert`: Dragstrip's names and no others. */

/** @type {import('../../lib/types.js').Namespace} */
export const namespace = Object.freeze({
  name: 'insert',
  redis: {
    prefix: 'dragstrip:insert:row:',
    marker: 'dragstrip:insert:marker',
    // With a hash tag on a cluster.
    own: /^dragstrip:insert:row:(\{\d+\})?\d+$/,
  },
  mariadb: {
    database: 'hs_test',
    table: 'dragstrip_insert',
    definition: '(a INT NOT NULL PRIMARY KEY, b INT NOT NULL) ENGINE = InnoDB',
  },
  tarantool: { space: 'dragstrip_insert', marker: 'dragstrip_dataset', key: 'insert' },
  cassandra: {
    keyspace: 'dragstrip_insert',
    table: 'numbers',
    definition: '(a int primary key, b int)',
  },
});

/**
 * The names that a namespace has on the servers, as an open context has them. A namespace is
 * declared as data by its owner: a workload, or the dataset of the race.
 */

/**
 * @param {import('./types.js').Namespace} namespace
 * @returns {Readonly<import('./types.js').NamespaceNames>} those that it declares
 */
export function namesOf({ redis, mariadb, tarantool, cassandra, names }) {
  return Object.freeze(
    /** @type {import('./types.js').NamespaceNames} */ ({
      ...(redis && { redisPrefix: redis.prefix, redisMarker: redis.marker }),
      ...(mariadb && { database: mariadb.database, table: mariadb.table }),
      ...(tarantool && {
        space: tarantool.space,
        tarantoolMarker: tarantool.marker,
        tarantoolKey: tarantool.key,
      }),
      ...(cassandra && { keyspace: cassandra.keyspace, cassandraTable: cassandra.table }),
      ...names,
    }),
  );
}

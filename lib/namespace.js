/**
 * The names that a namespace has on the servers, as in an open context. Its owner declares a
 * namespace as data: a workload, or the dataset of the race.
 */

/**
 * @param {import('./types.js').Namespace} namespace
 * @returns {Readonly<import('./types.js').NamespaceNames>} the declared names
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

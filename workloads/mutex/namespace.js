/** Namespace of `dragstrip mutex`: the locks and the numbers protected by them. */

const PREFIX = 'dragstrip:mutex:';

/** @type {import('../../lib/types.js').Namespace} */
export const namespace = Object.freeze({
  name: 'mutex',
  // redis-semaphore adds its own prefix to every key.
  redis: {
    prefix: PREFIX,
    further: [`mutex:${PREFIX}`],
    marker: 'dragstrip:mutex',
    // With a hash tag on a cluster.
    own: /^(mutex:)?dragstrip:mutex:(lock:(\{lock\})?|number:)(name|stress|killed)-\d+$/,
  },
  mariadb: {
    database: 'hs_test',
    table: 'dragstrip_mutex',
    definition: '(name varchar(64) PRIMARY KEY, value bigint NOT NULL) ENGINE = MEMORY',
  },
  tarantool: { space: 'dragstrip_mutex_locks', marker: 'dragstrip_dataset', key: 'mutex' },
  names: { redisLock: `${PREFIX}lock:`, redisNumber: `${PREFIX}number:`, mysqlLock: PREFIX },
});

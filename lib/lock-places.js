/** Where the locks of `dragstrip mutex` and what they guard lie: our own names and no others. */

export const LOCK_PLACES = Object.freeze({
  /** of every key; redis-semaphore puts a word of its own before it */
  redisPrefix: 'dragstrip:mutex:',
  redisLock: 'dragstrip:mutex:lock:',
  redisNumber: 'dragstrip:mutex:number:',
  semaphorePrefix: 'mutex:',
  redisMarker: 'dragstrip:mutex',
  database: 'hs_test',
  table: 'dragstrip_mutex',
  space: 'dragstrip_mutex_locks',
  /** names of GET_LOCK have 64 characters at most */
  mysqlLock: 'dragstrip:mutex:',
});

/** What the marker says: JSON, and its owner is us. */
export const LOCK_MARKER = JSON.stringify({ owner: 'dragstrip', what: 'mutex' });

/** Milliseconds until a lock ends by itself, where nothing is said. */
export const EXPIRE_MS_DEFAULT = 30_000;

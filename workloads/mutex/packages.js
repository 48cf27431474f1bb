/** Which package each kind of lock comes with; those of servers come with none. */

const PACKAGES = Object.freeze({
  script: 'dragstrip',
  pure: 'dragstrip',
  redlock: 'redlock',
  'redis-semaphore': 'redis-semaphore',
});

/**
 * @param {string} handler
 * @returns {string | null} null: the lock is the server's, or of a file
 */
export function packageOf(handler) {
  return /** @type {Readonly<Record<string, string>>} */ (PACKAGES)[handler] ?? null;
}

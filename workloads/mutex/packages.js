/** Package of each lock implementation; locks of servers have none. */

const PACKAGES = Object.freeze({
  script: 'dragstrip',
  pure: 'dragstrip',
  redlock: 'redlock',
  'redis-semaphore': 'redis-semaphore',
});

/**
 * @param {string} handler
 * @returns {string | null} null: a lock of the server, or of a file
 */
export function packageOf(handler) {
  return /** @type {Readonly<Record<string, string>>} */ (PACKAGES)[handler] ?? null;
}

/** What replies of Redis mean, as most of its drivers give them. Pure. */

/** @param {string | null} reply */
const isOk = (reply) => reply === 'OK';

/** For a handle of rows; a driver with other replies has its own beside them. */
export const REDIS_REPLIES = Object.freeze({
  /** @param {string | null} reply */
  value: (reply) => (reply === null ? undefined : reply),
  stored: isOk,
  added: isOk,
  /** @param {number} reply */
  deleted: (reply) => reply === 1,
});

/** The proof of a password that MySQL (mysql_native_password) and Tarantool (chap-sha1) share. */

import { createHash } from 'node:crypto';

/**
 * SHA1(password) xor SHA1(salt + SHA1(SHA1(password))).
 * @param {string} password
 * @param {Buffer} salt 20 bytes
 * @returns {Buffer} 20 bytes
 */
export function scramble(password, salt) {
  const once = sha1(password);
  const mask = sha1(salt, sha1(once));
  return Buffer.from(once.map((byte, index) => byte ^ mask[index]));
}

/** @param {...(Buffer | string)} parts */
function sha1(...parts) {
  const hash = createHash('sha1');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

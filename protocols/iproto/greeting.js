/** Greeting of Tarantool, and the login with its salt. */

import { garbled } from '../framer.js';
import { encode } from '../msgpack.js';
import { scramble } from '../scramble.js';
import { CODE, encodeRequest, KEY } from './packet.js';

const GREETING_BYTES = 128;
const NAME = 'Tarantool';
const SALT_BYTES = 20;

/**
 * @param {Buffer} bytes
 * @returns {{ salt: Buffer, end: number } | null} null: incomplete
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET if it is not a greeting
 */
export function readGreeting(bytes) {
  if (bytes.length >= NAME.length && bytes.toString('latin1', 0, NAME.length) !== NAME) {
    throw garbled(NAME, bytes[0]);
  }
  if (bytes.length < GREETING_BYTES) return null;
  const salt = Buffer.from(bytes.toString('latin1', 64, 108), 'base64').subarray(0, SALT_BYTES);
  return { salt, end: GREETING_BYTES };
}

/** @param {string} version @returns {Buffer} greeting of a server */
export function encodeGreeting(version) {
  const salt = Buffer.alloc(32, 7).toString('base64');
  return Buffer.from(`${`${NAME} ${version}`.padEnd(63)}\n${salt.padEnd(63)}\n`, 'latin1');
}

/**
 * @param {number} sync
 * @param {{ user: string, password?: string }} credentials
 * @param {Buffer} salt
 * @returns {Buffer}
 */
export function encodeAuth(sync, { user, password = '' }, salt) {
  return encodeRequest(CODE.auth, sync, [
    [KEY.user, user],
    [KEY.tuple, encode(['chap-sha1', scramble(password, salt)])],
  ]);
}

/**
 * The first packets of a connection: the server's greeting and the client's answer; protocol 10.
 */

import { garbled } from '../framer.js';
import { scramble } from '../scramble.js';
import { CAPABILITY, PAYLOAD_MAX, packet } from './packet.js';

/** The authentication method that every server accepts. */
export const NATIVE_PASSWORD = 'mysql_native_password';
/** utf8mb4_general_ci */
const CHARSET = 45;
/** Capabilities of both ends. */
const CAPABILITIES =
  CAPABILITY.longPassword |
  CAPABILITY.connectWithDatabase |
  CAPABILITY.protocol41 |
  CAPABILITY.transactions |
  CAPABILITY.secureConnection |
  CAPABILITY.pluginAuth;

/** After the version: connection id, salt and zero, capabilities, charset and status, length. */
const FIXED_BYTES = 4 + 9 + 7 + 1;

/**
 * @param {Buffer} payload payload of the server's first packet (protocol 10)
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: it is too short
 */
export function readHandshake(payload) {
  const end = payload.indexOf(0, 1);
  if (end < 0 || payload.length < end + 1 + FIXED_BYTES) throw garbled('MySQL', payload[0] ?? 0);
  let at = end + 1 + 4; // version, connection id
  const first = payload.subarray(at, at + 8);
  at += 9;
  const low = payload.readUInt16LE(at);
  const high = payload.readUInt16LE(at + 5);
  const saltBytes = Math.max(13, payload[at + 7] - 8) - 1;
  at += 18;
  return {
    salt: Buffer.concat([first, payload.subarray(at, at + saltBytes)]),
    capabilities: (low | (high << 16)) >>> 0,
  };
}

/**
 * @param {{ user: string, password: string | undefined, database: string, salt: Buffer,
 *   deprecateEof: boolean }} options
 * @returns {Buffer} the payload
 */
export function encodeHandshakeResponse({ user, password, database, salt, deprecateEof }) {
  const flags = CAPABILITIES | (deprecateEof ? CAPABILITY.deprecateEof : 0);
  const head = Buffer.alloc(32);
  head.writeUInt32LE(flags, 0);
  head.writeUInt32LE(PAYLOAD_MAX + 1, 4);
  head[8] = CHARSET;
  const token = nativePassword(password, salt);
  const texts = [`${user}\0`, `${database}\0`, `${NATIVE_PASSWORD}\0`].map((text) =>
    Buffer.from(text),
  );
  return Buffer.concat([head, texts[0], Buffer.of(token.length), token, texts[1], texts[2]]);
}

/**
 * @param {string | undefined} password
 * @param {Buffer} salt 20 bytes
 * @returns {Buffer} empty without a password
 */
export function nativePassword(password, salt) {
  return password ? scramble(password, salt) : Buffer.alloc(0);
}

/**
 * Without DEPRECATE_EOF: the form that every client reads.
 * @param {{ version: string, charset: number, salt: Buffer }} options salt: 20 bytes
 * @returns {Buffer} the server's first packet
 */
export function encodeHandshake({ version, charset, salt }) {
  const low = Buffer.alloc(2);
  low.writeUInt16LE(CAPABILITIES & 0xffff);
  const high = Buffer.alloc(2);
  high.writeUInt16LE(CAPABILITIES >>> 16);
  return packet(
    0,
    Buffer.of(10),
    Buffer.from(`${version}\0`),
    Buffer.of(1, 0, 0, 0),
    salt.subarray(0, 8),
    Buffer.of(0),
    low,
    Buffer.of(charset, 2, 0),
    high,
    Buffer.of(salt.length + 1),
    Buffer.alloc(10),
    salt.subarray(8),
    Buffer.of(0),
    Buffer.from(`${NATIVE_PASSWORD}\0`),
  );
}

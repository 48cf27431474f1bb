/**
 * MySQL's protocol on the wire: a prepared select executed for one row, framed by the packets of
 * its result set. By convention the protocol has one command at a time; MariaDB reads the next one
 * from its buffer after each reply, so that depth can be swept as with other servers.
 */

import { targetError } from '../../lib/errors.js';
import { garbled } from '../../protocols/framer.js';
import { MysqlFramer } from '../../protocols/mysql/framer.js';
import {
  encodeHandshakeResponse,
  NATIVE_PASSWORD,
  nativePassword,
  readHandshake,
} from '../../protocols/mysql/handshake.js';
import { CAPABILITY, COMMAND, MARK, packet, readPacket } from '../../protocols/mysql/packet.js';
import { encodeExecute, errorText, readResultSet } from '../../protocols/mysql/result-set.js';

/** @typedef {{ statement: number, deprecateEof: boolean }} Session */

/** @type {import('./protocol.js').WireProtocol} */
export const mysql = {
  name: 'mysql',
  server: 'mariadb',
  endpoint: 'sql',
  async greet(wire, { user = 'root', password }, { database, table }) {
    const hello = await wire.ask(null, (bytes) => readPacket(bytes, 0));
    if (hello.payload[0] === MARK.error) throw refused(hello.payload);
    if (hello.payload[0] !== 10) throw garbled('MySQL', hello.payload[0]);
    const { salt, capabilities } = readHandshake(hello.payload);
    const deprecateEof = (capabilities & CAPABILITY.deprecateEof) !== 0;
    const answer = encodeHandshakeResponse({
      user,
      password,
      database,
      salt,
      deprecateEof,
    });
    await authenticate(wire, packet(hello.sequence + 1, answer), password);
    const sql = `select str from ${table} where id=?`;
    return { statement: await prepare(wire, sql, deprecateEof), deprecateEof };
  },
  encode: ({ statement }, id) => encodeExecute(statement, id),
  createFramer: ({ deprecateEof }, { valueSize, minSize }) =>
    new MysqlFramer(valueSize, deprecateEof, minSize),
  read({ deprecateEof }, bytes, at, valueSize) {
    const set = readResultSet(bytes, at, deprecateEof, valueSize);
    return set === null ? null : { ...set, id: null };
  },
};

/**
 * @param {import('./wire-socket.js').WireSocket} wire
 * @param {Buffer} response
 * @param {string | undefined} password
 */
async function authenticate(wire, response, password) {
  let reply = await wire.ask(response, (bytes) => readPacket(bytes, 0));
  if (reply.payload[0] === MARK.eof) {
    // The server requests another method: name, NUL, salt.
    const nul = reply.payload.indexOf(0, 1);
    const method = reply.payload.toString('latin1', 1, nul);
    if (method !== NATIVE_PASSWORD) {
      throw targetError(
        `MySQL: the server requires the authentication method ${method}, which is not supported`,
        `use ${NATIVE_PASSWORD} for this user, or a server of "npx dragstrip servers start mariadb"`,
      );
    }
    const token = nativePassword(password, reply.payload.subarray(nul + 1, nul + 21));
    const answer = packet(reply.sequence + 1, token);
    reply = await wire.ask(answer, (bytes) => readPacket(bytes, 0));
  }
  if (reply.payload[0] === MARK.error) throw refused(reply.payload);
}

/**
 * @param {import('./wire-socket.js').WireSocket} wire
 * @param {string} sql
 * @param {boolean} deprecateEof
 * @returns {Promise<number>} id of the statement
 */
async function prepare(wire, sql, deprecateEof) {
  const request = packet(0, Buffer.of(COMMAND.prepare), Buffer.from(sql));
  const { payload } = await wire.ask(request, (bytes) => readPacket(bytes, 0));
  if (payload[0] === MARK.error) throw refused(payload);
  // One parameter and one column are described, each list with its end packet unless that is
  // omitted.
  for (let left = deprecateEof ? 2 : 4; left > 0; left -= 1) {
    await wire.ask(null, (bytes) => readPacket(bytes, 0));
  }
  return payload.readUInt32LE(1);
}

/** @param {Buffer} payload payload of an error packet */
function refused(payload) {
  return targetError(
    `MySQL: ${errorText(payload)}`,
    'fill it with "npx dragstrip seed mysql"; set user and password in the environment',
  );
}

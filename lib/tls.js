/**
 * TLS of an endpoint: options of node:tls, which most drivers take, from paths of files; and a
 * socket, encrypted or not. Certificates are always verified.
 */

import { readFileSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { readSecretFile } from './credentials.js';
import { usageError } from './errors.js';

/** @typedef {import('./types.js').Endpoint} Endpoint */

/**
 * @typedef {object} TlsOptions as node:tls takes them
 * @property {Buffer} [ca]
 * @property {Buffer} [cert]
 * @property {string} [key]
 * @property {string} [servername]
 * @property {true} rejectUnauthorized
 */

/** By the paths: where each request has a connection of its own, reading would be in its time. */
/** @type {Map<string, TlsOptions>} */
const read = new Map();

/**
 * @param {Endpoint} endpoint
 * @returns {TlsOptions | null} null: not encrypted
 * @throws {import('./errors.js').DragstripError} E_USAGE if a file cannot be read, or a private key
 *   by everybody
 */
export function tlsOptions({ tls }) {
  if (tls === undefined) return null;
  const name = JSON.stringify(tls);
  const known = read.get(name);
  if (known !== undefined) return known;
  const { ca, cert, key, serverName } = tls;
  /** @type {TlsOptions} */
  const options = {
    ...(ca && { ca: readPem(ca, '--tls-ca') }),
    ...(cert && { cert: readPem(cert, '--tls-cert') }),
    ...(key && { key: readSecretFile(key, '--tls-key', 0o007) }),
    ...(serverName && { servername: serverName }),
    rejectUnauthorized: true,
  };
  read.set(name, options);
  return options;
}

/** @param {string} file @param {string} source */
function readPem(file, source) {
  let bytes;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw usageError(`${source} ${file}: cannot be read (${error.code})`);
  }
  if (bytes.includes('-----BEGIN CERTIFICATE-----')) return bytes;
  throw usageError(`${source} ${file}: not a certificate in PEM format`);
}

/**
 * @param {Endpoint} endpoint
 * @returns {Record<string, unknown>} the option of the three SQL drivers, or none
 */
function sqlTls(endpoint) {
  const options = tlsOptions(endpoint);
  return options === null ? {} : { ssl: { ...options, verifyIdentity: true } };
}

/**
 * @param {import('./types.js').Endpoint} endpoint
 * @param {import('./types.js').Credentials} credentials
 * @returns {Record<string, any>} address, account and TLS, as the drivers of MariaDB and MySQL take
 *   them
 */
export function sqlLogin(endpoint, { user = 'root', password }) {
  const { host, port, path } = endpoint;
  const place = path === undefined ? { host, port } : { socketPath: path };
  return { ...place, ...sqlTls(endpoint), user, password };
}

/**
 * mysql2 compares the certificate with the host alone: a host of another name is connected to here.
 * @template {Record<string, any>} T
 * @param {T} options as the SQL drivers take them
 * @returns {T} as mysql2 takes them
 */
export function forMysql2(options) {
  const { ssl, host, port } = options;
  const name = ssl?.servername;
  if (name === undefined || name === host) return options;
  return { ...options, host: name, stream: () => connectPlain({ host, port, noDelay: true }) };
}

/**
 * @param {Endpoint} endpoint
 * @param {Record<string, unknown>} [more] options of the socket
 * @returns {{ socket: import('node:net').Socket, ready: 'connect' | 'secureConnect' }} ready: the
 *   event after which it may be used
 */
export function openSocket(endpoint, more = {}) {
  const { host, port, path } = endpoint;
  const place = path === undefined ? { host, port } : { path };
  const tls = tlsOptions(endpoint);
  if (tls === null) {
    const socket = connectPlain(/** @type {any} */ ({ ...place, ...more }));
    return { socket, ready: 'connect' };
  }
  const { noDelay, ...rest } = more;
  const socket = connectTls(/** @type {any} */ ({ ...place, ...rest, ...tls }));
  if (noDelay) socket.setNoDelay(true);
  return { socket, ready: 'secureConnect' };
}

/**
 * TLS of an endpoint: options of node:tls, which most drivers accept, from paths of files; and a
 * socket, encrypted or not. Certificates are always verified.
 */

import { readFileSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { connect as connectTls, createSecureContext, rootCertificates } from 'node:tls';
import { readSecretFile } from './credentials.js';
import { unreadable, usageError } from './errors.js';

/** @typedef {import('./types.js').Endpoint} Endpoint */

/**
 * @typedef {object} TlsOptions options of node:tls
 * @property {Buffer} [ca]
 * @property {Buffer} [cert]
 * @property {string} [key]
 * @property {string} [servername]
 * @property {true} rejectUnauthorized
 */

/** Cached by path: with a connection per request, reading would add to its time. */
/** @type {Map<string, TlsOptions>} */
const read = new Map();

/**
 * @param {Endpoint} endpoint
 * @returns {TlsOptions | null} null: not encrypted
 * @throws {import('./errors.js').DragstripError} E_USAGE: a file is unreadable, or a private key is
 *   readable by everyone
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
    throw usageError(`${source} ${file}: ${unreadable(error)}`);
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
 * @returns {Record<string, any>} address, account and TLS, in the form of the drivers of MariaDB
 *   and MySQL
 */
export function sqlLogin(endpoint, { user = 'root', password }) {
  const { host, port, path } = endpoint;
  const place = path === undefined ? { host, port } : { socketPath: path };
  return { ...place, ...sqlTls(endpoint), user, password };
}

/**
 * mysql2 compares the certificate only with the host; a host with another name is connected to
 * here.
 * @template {Record<string, any>} T
 * @param {T} options options in the form of the SQL drivers
 * @returns {T} options in the form of mysql2
 */
export function forMysql2(options) {
  const { ssl, host, port } = options;
  const name = ssl?.servername;
  if (name === undefined || name === host) return options;
  return { ...options, host: name, stream: () => connectPlain({ host, port, noDelay: true }) };
}

/**
 * Without a certificate authority mariadb logs in to any MariaDB from 11.4.1 on and verifies it
 * afterwards, by the password; so the default authorities are passed, as used by Node.
 * @template {Record<string, any>} T
 * @param {T} options options in the form of the SQL drivers
 * @returns {T} options in the form of mariadb
 */
export function forMariadb(options) {
  const { ssl } = options;
  if (ssl === undefined || ssl.ca !== undefined) return options;
  const own = { ca: rootCertificates, secureContext: createSecureContext(ssl) };
  return { ...options, ssl: { ...ssl, ...own } };
}

/**
 * @param {any} error error of OpenSSL, which Node and the drivers pass on with various codes
 * @returns {string | null} its meaning; null: its own text is clear
 */
export function explainTls(error) {
  const isOld = /alert protocol version|:unsupported protocol:/.test(error?.message ?? '');
  return isOld ? 'the server there does not support TLS 1.2 or later' : null;
}

/**
 * @param {Endpoint} endpoint
 * @param {Record<string, unknown>} [more] options of the socket
 * @returns {{ socket: import('node:net').Socket, ready: 'connect' | 'secureConnect' }} ready: the
 *   event after which it is usable
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

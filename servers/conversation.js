/**
 * Exchanges a few bytes with the listener at an address, over a plain socket, to check for the
 * expected server, or to identify the one found.
 */

import { formatEndpoint, hintOfTls } from '../lib/address.js';
import { targetError } from '../lib/errors.js';
import { hintOf } from '../lib/hints.js';
import { explainTls, openSocket } from '../lib/tls.js';

/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

/** Time limit for the reply to a probe. */
export const PROBE_TIMEOUT_MS = 2500;
/** Time after which a server that sends nothing on its own is sent a request. */
const SILENCE_MS = 400;
/** Makes HTTP, Redis and HandlerSocket reply, and is harmless (no line begins with Q or /). */
const NUDGE = 'PING\r\n\r\n';

/**
 * @typedef {object} Answer
 * @property {Buffer} bytes received, possibly none
 * @property {'enough' | 'closed' | 'silent' | 'failed'} end reason for the end
 * @property {NodeJS.ErrnoException} [error] cause of a failure
 */

/**
 * @param {Endpoint} endpoint
 * @param {{ send: string | Buffer | null, enough: (bytes: Buffer) => boolean,
 *   timeoutMs?: number }} talk send: right after connecting; null: the server sends first.
 *   enough: whether no more bytes are needed
 * @returns {Promise<Answer>} never rejects
 */
export function ask(endpoint, { send, enough, timeoutMs = PROBE_TIMEOUT_MS }) {
  return new Promise((done) => {
    const { socket, ready } = openSocket(endpoint);
    let bytes = Buffer.alloc(0);
    /** @param {Answer['end']} end @param {NodeJS.ErrnoException} [error] */
    const finish = (end, error) => {
      clearTimeout(deadline);
      clearTimeout(nudge);
      socket.destroy();
      done({ bytes, end, error });
    };
    const deadline = setTimeout(() => finish('silent'), timeoutMs);
    const nudge = setTimeout(() => {
      if (send === null && bytes.length === 0 && !socket.connecting) socket.write(NUDGE);
    }, SILENCE_MS);
    socket.on(ready, () => {
      if (send !== null) socket.write(send);
    });
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (enough(bytes) || bytes.length > 65_536) finish('enough');
    });
    socket.on('end', () => finish('closed'));
    socket.on('error', (error) => finish(bytes.length > 0 ? 'closed' : 'failed', error));
  });
}

/** Servers by the first bytes of their reply, in order of trial. */
const KINDS = /** @type {const} */ ([
  [/^HTTP\/|^<(!doctype|html)/i, 'an HTTP server'],
  [/^SSH-/, 'an SSH server'],
  [/^Tarantool \d/, 'Tarantool'],
  [/^\+PONG|^[+-](ERR|NOAUTH|DENIED|LOADING|WRONGPASS|NOPERM|OK|MISCONF|BUSY)\b/, 'Redis'],
  [/^...\x00[\x0a\xff]/s, 'MySQL or MariaDB'],
  [/^\d+\t\d+[\t\n]/, 'HandlerSocket'],
  // Version 3 to 6 of CQL, from the server; an error, or SUPPORTED.
  [/^[\x83-\x86].\x00\x00[\x00\x06]/s, 'Cassandra'],
  [/^\x15\x03/, 'a TLS server'],
  [/^220[ -]/, 'a mail or FTP server'],
]);

/**
 * @param {Buffer} bytes the first bytes from a server
 * @returns {string} the kind of server, as a noun
 */
export function nameKind(bytes) {
  const text = bytes.toString('latin1');
  for (const [form, name] of KINDS) if (form.test(text)) return name;
  const start = JSON.stringify(text.slice(0, 20));
  return `an unknown server (first bytes: ${start})`;
}

/**
 * @param {string} wanted the expected server
 * @param {Endpoint} endpoint
 * @param {Answer} answer
 * @param {string} hint
 * @returns {import('../lib/errors.js').DragstripError} E_TARGET with one line with the server found
 */
export function notThere(wanted, endpoint, answer, hint) {
  const label = `${wanted} at ${formatEndpoint(endpoint)}`;
  const { bytes, end, error } = answer;
  const isClosed = end === 'closed' || error?.code === 'ECONNRESET';
  const closedHint = (isClosed ? hintOfTls(endpoint, wanted) : undefined) ?? hint;
  if (end === 'failed') {
    const isCertificate = endpoint.tls !== undefined && /CERT|ALTNAME/.test(error?.code ?? '');
    return targetError(
      `${label}: ${explain(error)}`,
      isCertificate ? hintOfCertificate(error) : (hintOf(error) ?? closedHint),
      error,
    );
  }
  if (bytes.length > 0) return targetError(`${label}: ${nameKind(bytes)} is listening there`, hint);
  const what = end === 'closed' ? 'closes them without a reply' : 'does not reply';
  if (endpoint.tls !== undefined) {
    return targetError(`${label}: the server accepts connections but ${what} to TLS`, PLAIN);
  }
  return targetError(`${label}: the server accepts connections but ${what}`, closedHint);
}

const PLAIN = 'write its address as host:port if it accepts plain connections';

/** @param {NodeJS.ErrnoException | undefined} error */
function hintOfCertificate(error) {
  return error?.code === 'CERT_HAS_EXPIRED'
    ? 'renew the certificate of the server, or check the clock of this machine'
    : 'name its authority with --tls-ca, and the name in its certificate with --tls-server-name';
}

/**
 * @param {NodeJS.ErrnoException | undefined} error error of a connection
 * @returns {string} its description
 */
export function explain(error) {
  if (/CERT|ALTNAME/.test(error?.code ?? '')) {
    return `its certificate is not accepted (${error?.code})`;
  }
  switch (error?.code) {
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return 'the server there does not support TLS';
    case 'ECONNREFUSED':
      return 'connection refused, nothing listens there';
    case 'ENOENT':
      return 'no such socket';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'host name unknown';
    default:
      return explainTls(error) ?? error?.code ?? error?.message ?? 'no connection';
  }
}

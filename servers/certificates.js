/**
 * Certificates of a server that Dragstrip starts with TLS: a new authority per start, one
 * certificate of the server and one of a client. The authority's key is removed afterwards. Not for
 * public servers.
 */

import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { targetError } from '../lib/errors.js';
import { runCommand } from './command.js';
import { writePrivate } from './secrets.js';

/** Longer than clock changes of a machine; no other program trusts the authority. */
const DAYS = '365';
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

// The configuration of the system may be missing or different.
const CONFIGURATION = `[req]
distinguished_name = name
prompt = no
[name]
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = IP:127.0.0.1,DNS:localhost
authorityKeyIdentifier = keyid
[client]
basicConstraints = CA:FALSE
extendedKeyUsage = clientAuth
authorityKeyIdentifier = keyid
`;

/**
 * @typedef {object} Certificates paths of PEM files
 * @property {string} ca
 * @property {{ cert: string, key: string }} server
 * @property {{ cert: string, key: string }} client
 */

/**
 * @param {string} folder folder of the server
 * @returns {Certificates}
 */
export function certificatesIn(folder) {
  const at = (/** @type {string} */ name) => join(folder, 'tls', name);
  const pair = (/** @type {string} */ name) => ({
    cert: at(`${name}.crt`),
    key: at(`${name}.key`),
  });
  return { ca: at('ca.crt'), server: pair('server'), client: pair('client') };
}

/**
 * @param {string} folder folder of the server, private
 * @param {AbortSignal} [signal]
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: openssl is missing or fails
 */
export async function makeCertificates(folder, signal) {
  const inside = join(folder, 'tls');
  rmSync(inside, { recursive: true, force: true });
  mkdirSync(inside, { mode: 0o700 });
  const settings = join(inside, 'openssl.cnf');
  writePrivate(settings, CONFIGURATION);
  const run = (/** @type {string[]} */ ...words) => openssl(inside, words, signal);
  const authority = ['-keyout', 'ca.key', '-out', 'ca.crt', '-extensions', 'authority'];
  await run(
    ...['req', '-x509', '-config', settings, '-subj', '/CN=Dragstrip', '-days', DAYS],
    ...[...KEY, ...authority],
  );
  for (const name of ['server', 'client']) {
    const subject = `/CN=${name === 'server' ? 'localhost' : 'dragstrip'}`;
    const request = ['-keyout', `${name}.key`, '-out', `${name}.csr`];
    await run('req', '-new', '-config', settings, '-subj', subject, ...KEY, ...request);
    await run(
      ...['x509', '-req', '-in', `${name}.csr`, '-out', `${name}.crt`, '-days', DAYS],
      ...['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'],
      ...['-extfile', settings, '-extensions', name],
    );
  }
  for (const name of ['ca.key', 'ca.srl', 'server.csr', 'client.csr', 'openssl.cnf']) {
    rmSync(join(inside, name), { force: true });
  }
  if (existsSync(join(inside, 'server.crt'))) return;
  throw targetError('openssl created no certificate', 'start the server without --tls');
}

/**
 * @param {string} cwd
 * @param {string[]} words
 * @param {AbortSignal} [signal]
 */
async function openssl(cwd, words, signal) {
  const options = { cwd, signal, timeoutMs: 20_000 };
  const { ok, output, reason } = await runCommand('openssl', words, options);
  if (ok) return;
  const why = (output || reason).split('\n').slice(-1)[0];
  throw targetError(
    `openssl ${words[0]}: ${why}`,
    '--tls needs the program openssl (Debian: apt install openssl)',
  );
}

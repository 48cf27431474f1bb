/**
 * Connections to the coordinator. Off loopback they are encrypted, and nothing else is accepted:
 * who reads the token may send orders to all agents.
 */

import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { formatEndpoint, isLoopback } from '../../lib/address.js';
import { targetError, usageError } from '../../lib/errors.js';
import { hideSecrets } from '../../lib/secrets.js';
import { agentsToken } from '../../servers/coordinator.js';

const CONNECT_MS = 5000;
/** While a link is down, it is tried again this often. */
const RETRY_MS = 250;

/**
 * @typedef {object} Coordinator
 * @property {import('../../lib/types.js').Endpoint} endpoint
 * @property {import('../../lib/types.js').Credentials} credentials password: the token of agents,
 *   or the controller's; controller: the latter, where both are known
 * @property {string} [ca] file of the certificate authority; absent: those of Node
 */

/**
 * @param {Coordinator} coordinator
 * @returns also for BullMQ, which makes connections of its own
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: the file of the authority
 *   cannot be read
 */
export function connectionOptions({ endpoint, credentials, ca }) {
  const encrypted = ca !== undefined || !isLoopback(endpoint);
  return {
    ...endpoint,
    ...(encrypted && {
      tls: { ...(ca && { ca: readAuthority(ca) }), servername: nameOf(endpoint) },
    }),
    username: credentials.user,
    password: credentials.password && agentsToken(credentials.password),
    protocol: /** @type {const} */ (2),
    disableClientInfo: true,
    maxRetriesPerRequest: null,
    connectTimeout: CONNECT_MS,
    retryStrategy: () => RETRY_MS,
  };
}

/** @param {string} file */
function readAuthority(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(`--coordinator-ca ${file}: cannot be read (${error.code})`);
  }
}

/** @param {import('../../lib/types.js').Endpoint} endpoint */
function nameOf({ host }) {
  // A name of the server, for its certificate, is no address (RFC 6066, 3).
  return host === undefined || /^[\d.]+$|:/.test(host) ? undefined : host;
}

/**
 * @param {Coordinator} coordinator
 * @returns {Promise<Redis>} logged in
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: it does not answer, or
 *   refuses the token
 */
export async function connectCoordinator(coordinator) {
  const options = connectionOptions(coordinator);
  let first = true;
  /** @type {import('ioredis').RedisOptions} */
  const once = { ...options, lazyConnect: true, retryStrategy: () => (first ? null : RETRY_MS) };
  const client = new Redis(once);
  /** @type {Error | null} */
  let reason = null;
  client.on('error', (error) => {
    reason ??= error;
  });
  try {
    await client.connect();
    await client.ping();
    first = false;
    return client;
  } catch (closed) {
    client.disconnect();
    throw asTargetError(reason ?? closed, coordinator);
  }
}

/**
 * @param {Error} error
 * @param {Coordinator} coordinator
 */
function asTargetError({ message }, { endpoint, credentials }) {
  const where = `coordinator at ${formatEndpoint(endpoint)}`;
  const text = hideSecrets(message, credentials);
  if (/NOAUTH|WRONGPASS|AUTH|NOPERM/.test(text)) {
    return targetError(`${where}: the token is not accepted`, 'name its file by --token-file');
  }
  if (!isLoopback(endpoint) && /certificate|SSL|TLS|wrong version|ECONNRESET/i.test(text)) {
    return targetError(
      `${where}: no encrypted connection (${text}); off loopback there is no other`,
      'give the certificate authority by --coordinator-ca, or forward its port by ssh -L',
    );
  }
  return targetError(`${where}: ${text}`, 'npx dragstrip servers start coordinator');
}

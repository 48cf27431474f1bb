/**
 * Connections to the coordinator. Outside loopback encryption is mandatory, because anyone who
 * reads the token can send orders to all agents.
 */

import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { formatEndpoint, isLoopback } from '../../lib/address.js';
import { targetError, unreadable, usageError } from '../../lib/errors.js';
import { hideSecrets } from '../../lib/secrets.js';
import { explain } from '../../servers/conversation.js';
import { agentsToken } from '../../servers/coordinator.js';

const CONNECT_MS = 5000;
/** Interval of reconnect attempts. */
const RETRY_MS = 250;

/**
 * @typedef {object} Coordinator
 * @property {import('../../lib/types.js').Endpoint} endpoint
 * @property {import('../../lib/types.js').Credentials} credentials password: the token of agents,
 *   or the controller's; controller: use the latter if both are known
 * @property {string} [ca] file of the certificate authority; absent: those of Node
 */

/**
 * @param {Coordinator} coordinator
 * @returns also for BullMQ, which opens further connections
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
    throw usageError(`--coordinator-ca ${file}: ${unreadable(error)}`);
  }
}

/** @param {import('../../lib/types.js').Endpoint} endpoint */
function nameOf({ host }) {
  // The server name for the certificate must not be an IP address (RFC 6066, 3).
  return host === undefined || /^[\d.]+$|:/.test(host) ? undefined : host;
}

/**
 * @param {Coordinator} coordinator
 * @returns {Promise<Redis>} logged in
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: no reply, or it refuses the
 *   token
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
function asTargetError(error, { endpoint, credentials }) {
  const where = `coordinator at ${formatEndpoint(endpoint)}`;
  const text = hideSecrets(error.message, credentials);
  if (/NOAUTH|WRONGPASS|AUTH|NOPERM/.test(text)) {
    return targetError(`${where}: the token was rejected`, 'specify its file with --token-file');
  }
  if (!isLoopback(endpoint) && /certificate|SSL|TLS|wrong version|ECONNRESET/i.test(text)) {
    return targetError(
      `${where}: no encrypted connection (${text}); outside loopback encryption is mandatory`,
      'specify the certificate authority with --coordinator-ca, or forward its port with ssh -L',
    );
  }
  const reason = hideSecrets(explain(error), credentials);
  const hint =
    'start one with `npx dragstrip servers start coordinator`, or add --coordinator HOST:PORT';
  return targetError(`${where}: ${reason}`, hint);
}

/** Connections of Valkey GLIDE, opened by its core in Rust, for all its uses. */

import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { targetError } from '../lib/errors.js';
import { findPackage } from '../lib/packages.js';
import { tlsOptions } from '../lib/tls.js';
import { knownNodes } from './cluster-nodes.js';
import {
  closedError,
  codeClass,
  loseHandle,
  openOrThrow,
  requireEndpoint,
  withCode,
} from './connection.js';
import { REDIS_REPLIES } from './redis-replies.js';

/** @typedef {import('./redis-clients.js').Where} Where */

export const PACKAGE = '@valkey/valkey-glide';
const REQUEST_MS_MIN = 5000;
/** Its time limit per request, which includes unsent requests of a burst. */
export const REQUEST_TIMEOUT = `--timeout, at least ${REQUEST_MS_MIN}`;
const PLATFORM = `${PACKAGE}-${process.platform}-${process.arch}`;
/** RequestErrorType.Disconnect of its protocol between JavaScript and Rust. */
const DISCONNECT = 3;

/** @type {Promise<any> | undefined} */
let loading;

/** @returns {import('../lib/types.js').Unavailable | null} */
export function missingBinary() {
  // On Linux there is one package per C library, and npm installs the matching one.
  const names = [PLATFORM, `${PLATFORM}-gnu`, `${PLATFORM}-musl`];
  if (names.some((name) => findPackage(name) !== null)) return null;
  return {
    reason: `its core, an npm package ${PLATFORM}, is not installed`,
    hint: 'npm install with optional packages, on a platform that it supports',
  };
}

/**
 * @param {Where} where
 * @returns {Promise<any>}
 * @throws {Error} error with a code: it cannot connect
 */
export async function connectGlide(where) {
  const endpoint = requireGlideEndpoint(where, 'valkey-glide');
  const { GlideClient } = await loadGlide();
  const node = { host: endpoint.host, port: endpoint.port };
  const more = { addresses: [node], ...(endpoint.db && { databaseId: endpoint.db }) };
  return connect(GlideClient, where, { storage: 'valkey-glide', endpoint, more });
}

/**
 * Its core connects to every announced node and has no hook to refuse one, so they are checked in
 * advance (engine/targets.js).
 * @param {Where} where
 * @returns {Promise<any>}
 * @throws {Error} error with a code: it cannot connect
 */
export async function connectGlideCluster(where) {
  const storage = 'valkey-glide-cluster';
  const endpoint = requireGlideEndpoint(where, storage);
  const { GlideClusterClient } = await loadGlide();
  const more = { addresses: knownNodes(where.address, storage) };
  return connect(GlideClusterClient, where, { storage, endpoint, more });
}

/**
 * @param {Where} where
 * @param {string} storage
 * @returns {Extract<import('../lib/types.js').Endpoint, { host: string }>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: not supported
 */
function requireGlideEndpoint({ address }, storage) {
  const endpoint = requireEndpoint(address, 'main', storage);
  if (endpoint.path !== undefined) {
    throw targetError(`${storage}: unix sockets are not supported`, 'use host and port');
  }
  if (endpoint.tls?.cert !== undefined) {
    throw targetError(`${storage}: client certificates are not supported`, 'leave out --tls-cert');
  }
  const { serverName = endpoint.host } = endpoint.tls ?? {};
  if (serverName !== endpoint.host) {
    throw targetError(
      `${storage}: --tls-server-name is not supported`,
      'use the name in the certificate as the host, with --allow-target',
    );
  }
  return endpoint;
}

/**
 * @param {any} Client
 * @param {Where} where
 * @param {{ storage: string, endpoint: import('../lib/types.js').Endpoint,
 *   more: Record<string, unknown> }} how
 * @returns {Promise<any>}
 */
async function connect(
  Client,
  { credentials, profile, timeoutMs = 0 },
  { storage, endpoint, more },
) {
  const { user: username, password } = credentials;
  const { logger: _logger, ...options } = /** @type {any} */ (profile.options);
  const connecting = Client.createClient({
    ...options,
    requestTimeout: Math.max(REQUEST_MS_MIN, Math.ceil(timeoutMs)),
    ...more,
    ...(password !== undefined && { credentials: { username, password } }),
    ...tlsOf(endpoint),
  });
  const target = { storage, endpoint, credentials };
  // A connection that opens too late is closed.
  const abandon = () =>
    connecting.then(
      (/** @type {any} */ client) => client.close(),
      () => {},
    );
  return openOrThrow(target, connecting, () => void abandon());
}

/**
 * Its core verifies the host name and has no option for a different one.
 * @param {import('../lib/types.js').Endpoint} endpoint
 */
function tlsOf(endpoint) {
  const tls = tlsOptions(endpoint);
  if (tls === null) return {};
  const { ca: rootCertificates } = tls;
  return {
    useTLS: true,
    ...(rootCertificates && {
      advancedConfiguration: { tlsAdvancedConfiguration: { rootCertificates } },
    }),
  };
}

function loadGlide() {
  loading ??= import('@valkey/valkey-glide').then((glide) => {
    // By default it prints a line to stdout for each lost request.
    glide.Logger.init('off');
    for (const errorClass of [glide.ConnectionError, glide.ClosingError]) codeClass(errorClass);
    codeClass(glide.TimeoutError, 'ETIMEDOUT');
    process.once('exit', removeSocket);
    return glide;
  });
  return loading;
}

/** Its core does not remove its socket to JavaScript, whose folder is independent of TMPDIR. */
function removeSocket() {
  const own = `glide-socket-${process.pid}-`;
  try {
    for (const name of readdirSync('/tmp').filter((one) => one.startsWith(own))) {
      rmSync(path.join('/tmp', name), { force: true });
    }
  } catch {
    // Unreadable folder; results do not depend on it.
  }
}

/** @returns {Promise<any>} its class for several commands in one request */
export async function glideBatch() {
  return (await loadGlide()).Batch;
}

/** @returns {Promise<any>} the same class for a cluster */
export async function glideClusterBatch() {
  return (await loadGlide()).ClusterBatch;
}

/**
 * It reconnects forever and has no option against it: the first request that fails by a lost
 * connection ends the client. If none was in flight at the loss, requests wait for a new connection
 * and fail after the requestTimeout of the profile.
 * @param {any} client
 * @param {(error: Error) => void} lose called once
 */
export function closeWhenLost(client, lose) {
  const { processResponse } = client;
  client.processResponse = (/** @type {any} */ message) => {
    if (message.requestError?.type === DISCONNECT && !client.isClosed) {
      const { message: text } = message.requestError;
      lose(withCode(new Error(text)));
      client.close(text);
    }
    processResponse.call(client, message);
  };
}

/**
 * @param {any} client client of one server or of a cluster
 * @param {string} prefix prefix of the keys
 * @returns {import('../lib/types.js').RowsHandle}
 */
export function glideRows(client, prefix) {
  /** @type {import('../lib/types.js').RowsHandle} */
  const handle = {
    ...REDIS_REPLIES,
    get: (id) => client.get(prefix + id),
    mget: (ids) => client.mget(ids.map((id) => prefix + id)),
    set: (id, text) => client.set(prefix + id, text),
    async close() {
      loseHandle(handle, closedError('the client is closed'));
      if (!client.isClosed) client.close();
    },
  };
  return handle;
}

/** Connections of Valkey GLIDE, whose core in Rust makes the connection, for all that runs over it. */

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
const PLATFORM = `${PACKAGE}-${process.platform}-${process.arch}`;
/** RequestErrorType.Disconnect of its protocol between JavaScript and Rust. */
const DISCONNECT = 3;

/** @type {Promise<any> | undefined} */
let loading;

/** @returns {import('../lib/types.js').Unavailable | null} */
export function missingBinary() {
  // Of Linux there is one for each C library, and npm installs the right one.
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
 * @throws {Error} with a code, where it cannot connect
 */
export async function connectGlide(where) {
  const endpoint = requireGlideEndpoint(where, 'valkey-glide');
  const { GlideClient } = await loadGlide();
  const node = { host: endpoint.host, port: endpoint.port };
  const more = { addresses: [node], ...(endpoint.db && { databaseId: endpoint.db }) };
  return connect(GlideClient, where, { storage: 'valkey-glide', endpoint, more });
}

/**
 * Its core connects to every node that the cluster announces, and takes no function that could
 * refuse one: they are checked before (engine/targets.js).
 * @param {Where} where
 * @returns {Promise<any>}
 * @throws {Error} with a code, where it cannot connect
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
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET for what it does not have
 */
function requireGlideEndpoint({ address }, storage) {
  const endpoint = requireEndpoint(address, 'main', storage);
  if (endpoint.path !== undefined) {
    throw targetError(`${storage}: it has no unix sockets`, 'give an address of host and port');
  }
  if (endpoint.tls?.cert !== undefined) {
    throw targetError(`${storage}: it has no client certificates`, 'leave out --tls-cert');
  }
  const { serverName = endpoint.host } = endpoint.tls ?? {};
  if (serverName !== endpoint.host) {
    throw targetError(
      `${storage}: it compares the certificate with the host, and with no other name`,
      'give the host by the name in its certificate, with --allow-target',
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
async function connect(Client, { credentials, profile }, { storage, endpoint, more }) {
  const { user: username, password } = credentials;
  const { logger: _logger, ...options } = /** @type {any} */ (profile.options);
  const connecting = Client.createClient({
    ...options,
    ...more,
    ...(password !== undefined && { credentials: { username, password } }),
    ...tlsOf(endpoint),
  });
  const target = { storage, endpoint, credentials };
  // One that opens too late is closed.
  const abandon = () =>
    connecting.then(
      (/** @type {any} */ client) => client.close(),
      () => {},
    );
  return openOrThrow(target, connecting, () => void abandon());
}

/**
 * Its core verifies the name of the host and has no option for another.
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
    // By default it prints a line to stdout for each request that is lost.
    glide.Logger.init('off');
    for (const errorClass of [glide.ConnectionError, glide.ClosingError]) codeClass(errorClass);
    codeClass(glide.TimeoutError, 'ETIMEDOUT');
    process.once('exit', removeSocket);
    return glide;
  });
  return loading;
}

/** Its core leaves the socket between it and JavaScript behind, where no TMPDIR changes anything. */
function removeSocket() {
  const own = `glide-socket-${process.pid}-`;
  try {
    for (const name of readdirSync('/tmp').filter((one) => one.startsWith(own))) {
      rmSync(path.join('/tmp', name), { force: true });
    }
  } catch {
    // A folder that may not be read; what was measured does not depend on it.
  }
}

/** @returns {Promise<any>} its class of several commands in one request */
export async function glideBatch() {
  return (await loadGlide()).Batch;
}

/** @returns {Promise<any>} the same of a cluster */
export async function glideClusterBatch() {
  return (await loadGlide()).ClusterBatch;
}

/**
 * It connects again without end and cannot be told not to: the first request that is answered by a
 * lost connection ends the client. Where none was in flight at the loss, requests wait for a new
 * connection, and fail by the requestTimeout of the profile.
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
 * @param {any} client of one server or of a cluster
 * @param {string} prefix of the keys
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

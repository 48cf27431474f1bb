/** How mysql2 connects, for all that runs over it. */

/** Milliseconds; the driver's own 10 s are longer than an open may take here. */
export const CONNECT_TIMEOUT_MS = 5000;

/**
 * @param {import('../lib/types.js').Endpoint} endpoint
 * @param {import('../lib/types.js').Credentials} credentials
 * @param {string} database
 */
export function mysqlOptions(endpoint, { user = 'root', password }, database) {
  const place =
    endpoint.path === undefined
      ? { host: endpoint.host, port: endpoint.port }
      : { socketPath: endpoint.path };
  return { ...place, user, password, database, connectTimeout: CONNECT_TIMEOUT_MS };
}

/** Addresses: `host:port`, `[::1]:port`, `unix:/path` to an Endpoint and back. */

import { usageError } from './errors.js';

/** @typedef {import('./types.js').Endpoint} Endpoint */

/**
 * @param {string} text `host:port`, `port`, `[v6]:port` or `unix:/path`
 * @param {string} [source] the flag or variable it came from, for the message
 * @returns {Endpoint}
 * @throws {import('./errors.js').DragstripError} E_USAGE
 */
export function parseEndpoint(text, source = 'address') {
  if (text.startsWith('unix:') && text.length > 5) return { path: text.slice(5) };
  const match = /^(?:(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]]+)):)?(\d{1,5})$/.exec(text);
  const port = match === null ? Number.NaN : Number(match[3]);
  if (match === null || port < 1 || port > 65535) {
    throw usageError(
      // What stands before an @ may be a password, as in redis://user:password@host.
      `${source} ${JSON.stringify(text.replace(/^.*@/s, '***@'))}: not an address`,
      'write host:port or unix:/path',
    );
  }
  return { host: match[1] ?? match[2] ?? '127.0.0.1', port };
}

/**
 * @param {Endpoint} endpoint
 * @returns {string} the text that parseEndpoint takes
 */
export function formatEndpoint(endpoint) {
  if (endpoint.path !== undefined) return `unix:${endpoint.path}`;
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  return `${host}:${endpoint.port}`;
}

/**
 * Loopback is 127.0.0.0/8 and ::1 (RFC 1122, 3.2.1.3; RFC 4291, 2.5.3), the name localhost, and
 * every unix socket.
 * @param {Endpoint} endpoint
 * @returns {boolean}
 */
export function isLoopback(endpoint) {
  if (endpoint.path !== undefined) return true;
  const { host } = endpoint;
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

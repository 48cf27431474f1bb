/**
 * Fetches, starts, probes and stops real servers without root. Functions return data or throw;
 * `onEvent` reports progress, nothing is printed.
 *
 * @typedef {object} ServerEvent
 * @property {string} server name
 * @property {'found' | 'fetching' | 'fetched' | 'starting' | 'ready' | 'reused' | 'waiting'
 *   | 'stopping' | 'stopped'} step
 * @property {string} text one line
 */

export { commandByHand } from './by-hand.js';
export { fetchServers } from './fetch.js';
export {
  failureOfStart,
  listPids,
  startServers,
  statusServers,
  stopServers,
} from './lifecycle.js';
export { DEFAULT_SERVER_NAMES, loadServer, SERVER_NAMES } from './registry.js';

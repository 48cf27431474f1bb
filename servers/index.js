/**
 * Real servers, without root: fetched, started, asked, stopped. Everything here gives data or
 * throws; progress is told by `onEvent`, nothing is printed.
 *
 * @typedef {object} ServerEvent
 * @property {string} server its name
 * @property {'found' | 'fetching' | 'fetched' | 'starting' | 'ready' | 'reused' | 'waiting'
 *   | 'stopping' | 'stopped'} step
 * @property {string} text one line for people
 */

export { fetchServers } from './fetch.js';
export { startServers, statusServers, stopServers } from './lifecycle.js';
export { DEFAULT_SERVER_NAMES, loadServer, SERVER_NAMES } from './registry.js';

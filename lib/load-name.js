/** Names of loads in sentences. */

import { formatCount, formatThroughput } from './format.js';

/** @typedef {Pick<import('./result.js').Load, 'connections' | 'valueSize'>} Shape */

/**
 * @param {import('./result.js').Load} load
 * @returns {string} `sync`, `window of 100 by 2 processes`, `2,000/s on 4 connections`
 */
export function loadName({ kind, inFlight, rate, processes = 1, ...shape }) {
  const by = `${processes === 1 ? '' : ` by ${processes} processes`}${shapeName(shape)}`;
  if (kind === 'rate') return `${formatThroughput(rate ?? null)}/s${by}`;
  return `${kind === 'window' ? `window of ${formatCount(inFlight)}` : kind}${by}`;
}

/**
 * @param {Shape & Pick<import('./result.js').Load, 'inFlight' | 'processes'> &
 *   { kind?: string, operations?: number | null }} load
 * @returns {string} `100 in flight on 4 connections`, `100 in flight, values of 64 characters`,
 *   `burst of 50,000`
 */
export function flightName({ kind, inFlight, operations = null, processes = 1, ...shape }) {
  const by = processes === 1 ? '' : ` in each of ${processes} processes`;
  const isBurst = kind === 'burst' && operations !== null;
  const flight = isBurst
    ? `burst of ${formatCount(operations)}`
    : `${formatCount(inFlight ?? 1)} in flight`;
  return `${flight}${by}${shapeName(shape)}`;
}

/**
 * @param {Shape} load
 * @returns {string} ` on 4 connections`, `, values of 64 characters`; empty for the default
 */
export function shapeName({ connections, valueSize }) {
  const over = connections === undefined ? '' : ` on ${formatCount(connections)} connections`;
  return valueSize === undefined ? over : `${over}, values of ${formatCount(valueSize)} characters`;
}

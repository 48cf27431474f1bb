/** How a load is called in a sentence. */

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
 * @param {Shape & { inFlight: number | null }} load
 * @returns {string} `100 in flight on 4 connections`, `100 in flight, values of 64 characters`
 */
export function flightName({ inFlight, ...shape }) {
  return `${formatCount(inFlight ?? 1)} in flight${shapeName(shape)}`;
}

/**
 * @param {Shape} load
 * @returns {string} ` on 4 connections`, `, values of 64 characters`; empty: as usual
 */
export function shapeName({ connections, valueSize }) {
  const over = connections === undefined ? '' : ` on ${formatCount(connections)} connections`;
  return valueSize === undefined ? over : `${over}, values of ${formatCount(valueSize)} characters`;
}

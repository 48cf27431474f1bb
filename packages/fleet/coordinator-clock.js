/**
 * The common clock of all machines: the coordinator's time of day. An agent compares its own
 * monotonic clock with it, by exchanges of TIME; the one with the smallest round trip bounds the
 * error by half of that (Cristian, Probabilistic clock synchronization, 1989).
 */

import { systemClock } from '../../measure/clock.js';

export const EXCHANGES = 24;
/** 2026-01-01: nanoseconds since 1970 have a resolution of 256 ns in a double. */
const EPOCH_S = 1_767_225_600;

/**
 * @typedef {object} ClockReading
 * @property {number} offsetNs coordinator's time minus own monotonic clock
 * @property {number} roundTripNs the smallest
 * @property {number} exchanges
 */

/** @returns {number} ns on the system's monotonic clock */
export function monotonicNs() {
  return (systemClock.originNs ?? 0) + systemClock.now();
}

/**
 * @param {{ time(): Promise<any[]> }} client client of the coordinator
 * @param {{ exchanges?: number, now?: () => number }} [options]
 * @returns {Promise<ClockReading>}
 */
export async function compareClocks(client, { exchanges = EXCHANGES, now = monotonicNs } = {}) {
  let best = { offsetNs: 0, roundTripNs: Number.POSITIVE_INFINITY };
  for (let i = 0; i < exchanges; i += 1) {
    const beforeNs = now();
    const reply = await client.time();
    const roundTripNs = now() - beforeNs;
    if (roundTripNs >= best.roundTripNs) continue;
    best = { offsetNs: toNs(reply) - (beforeNs + roundTripNs / 2), roundTripNs };
  }
  return { ...best, exchanges };
}

/** @param {any[]} reply reply to TIME: seconds and microseconds @returns {number} ns */
export function toNs([seconds, micros]) {
  return (Number(seconds) - EPOCH_S) * 1e9 + Number(micros) * 1e3;
}

/**
 * @param {number} offsetNs offset of the monotonic clock
 * @returns {number} the coordinator's time of day minus this machine's, to the millisecond
 */
export function timeOffsetMs(offsetNs) {
  const ownNs = (Date.parse(systemClock.date()) - EPOCH_S * 1e3) * 1e6;
  return Math.round((monotonicNs() + offsetNs - ownNs) / 1e6);
}

const START_MIN_NS = 500e6;
const START_ROUND_TRIPS = 20;

/**
 * @param {number} nowNs current time of the coordinator
 * @param {readonly number[]} roundTripsNs round trips of all agents and the controller
 * @returns {number} common start, late enough for the message to reach all agents
 */
export function commonStart(nowNs, roundTripsNs) {
  return nowNs + Math.max(START_MIN_NS, START_ROUND_TRIPS * Math.max(0, ...roundTripsNs));
}

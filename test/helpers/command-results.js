/**
 * A synthetic result of the command list, for tests of its tables, notes, plots and exit status.
 */

import { buildResult, measuredRound } from './result-builder.js';

/** @type {import('../../lib/result.js').Load} */
const LOAD = { kind: 'window', inFlight: 50, operations: 2000, durationNs: null };
/** Operations per second, direct over TCP with persistent connections. */
const RATES = { PING_INLINE: 50_000, PING_BULK: 52_000, SET: 40_000, LRANGE_600: 2000 };
/** Relative speeds of the routes. */
const WAYS = { 'direct tcp': 1, 'proxied tcp': 0.5, 'direct unix': 1.25, 'proxied unix': 0.75 };
const OWN = 0.1;

/**
 * @param {string} test
 * @param {string} way `proxied tcp`
 * @param {boolean} keepAlive
 * @param {number} n
 * @returns {any} round `n`
 */
function roundOf(test, way, keepAlive, n) {
  const [whose] = way.split(' ');
  const factor = WAYS[/** @type {keyof typeof WAYS} */ (way)] * (keepAlive ? 1 : OWN);
  const throughput = RATES[/** @type {keyof typeof RATES} */ (test)] * factor * (1 + n / 100);
  if (whose === 'proxied' && test === 'PING_INLINE') {
    const failed = { outcomes: { error: 1000, unsent: 1000 } };
    const message = 'the connection was closed without a reply';
    return {
      ...measuredRound(n, LOAD, { throughput, ...failed }),
      samples: [{ outcome: 'error', operation: 0, code: 'REFUSED', message }],
      metrics: {
        refusal: message,
        benchmarkFailure: 'Error: Server closed the connection',
      },
    };
  }
  const isOwn = whose === 'proxied' && test === 'PING_BULK';
  return {
    ...measuredRound(n, LOAD, { throughput, serverCpuNs: isOwn ? 0 : 9000 }),
    ...(whose === 'proxied' && {
      others: { nutcracker: { cpuNs: 14_000 * 2000, rssBytes: 2 ** 22 } },
    }),
    metrics: {
      connectNsMean: 210_000,
      connectNsP50: 200_000,
      connectNsP99: null,
      ...(!keepAlive && { commandNsP50: 400_000, closeNsP50: 90_000 }),
      connectionsMax: 50,
      reached: isOwn ? 0 : 2000,
      benchmarkPerSecond: throughput * 2,
      benchmarkNsMean: 300_000,
      benchmarkNsP50: 290_000,
      benchmarkNsP99: 500_000,
    },
  };
}

/**
 * @param {{ rounds?: number }} [options]
 * @returns {import('../../lib/result.js').Result}
 */
export function commandsResult({ rounds = 3 } = {}) {
  const benchmarks = [true, false].flatMap((keepAlive) =>
    Object.keys(RATES).flatMap((test) =>
      Object.keys(WAYS).map((way) => {
        const [whose, transport] = way.split(' ');
        const parameters = { test, way: whose, transport, keepAlive };
        return {
          id: `ioredis:default/commands[${Object.values(parameters)}]/window-50`,
          storage: 'ioredis',
          profile: 'default',
          workload: 'commands',
          parameters,
          load: LOAD,
          state: 'measured',
          reason: null,
          hint: null,
          rounds: Array.from({ length: rounds }, (_, n) => roundOf(test, way, keepAlive, n)),
        };
      }),
    ),
  );
  const workloadOptions = { commands: { clients: 50, keyspace: 50, dataSize: 3 } };
  return buildResult({
    command: 'commands',
    options: { rounds, workloadOptions },
    benchmarks,
    harnessOverhead: [],
  });
}

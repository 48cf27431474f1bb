/**
 * The command list of redis-benchmark, directly to Redis and through a proxy, over TCP and over a
 * unix socket, with persistent connections and with one per request. A variant is one command on
 * one route; redis-benchmark itself runs on the same route.
 */

import { defineWorkload, metricRules } from '../../lib/define.js';
import { toolName } from './analysis.js';
import { CommandBenchmark } from './command-benchmark.js';
import { namespace, PROXY } from './namespace.js';
import { options, plan, shared } from './plan.js';
import { TESTS } from './tests.js';

/** @typedef {import('../../lib/types.js').Address} Address */
/** @typedef {import('../../lib/types.js').Endpoint} Endpoint */
/** @typedef {import('./command-benchmark.js').CommandParameters} CommandParameters */

/**
 * @param {Address} address
 * @param {string} transport
 * @returns {Endpoint | null}
 */
function endpointOf(address, transport) {
  const fits = (/** @type {Endpoint | undefined} */ endpoint) =>
    endpoint !== undefined && (endpoint.path !== undefined) === (transport === 'unix');
  return [address['main'], address['unix']].find(fits) ?? null;
}

/**
 * @param {CommandParameters} parameters
 * @param {Address} address
 * @param {Record<string, Address>} others
 */
function wayOf({ way, transport }, address, others) {
  return endpointOf(way === 'direct' ? address : (others[PROXY] ?? {}), transport);
}

export const workload = defineWorkload({
  name: 'commands',
  needs: ['command'],
  options,
  shared,
  plan,
  runHooks: () => import('./run-hooks.js'),
  namespace,
  metricRules: metricRules({
    one: [
      'refusal',
      'benchmarkFailure',
      'benchmarkPerSecond',
      'benchmarkNsMean',
      'benchmarkNsP50',
      'benchmarkNsP99',
    ],
    sum: ['connectionsMax', 'reached'],
  }),
  check: false,
  slices: 'default',
  program: {
    name: ({ commands }) => toolName(commands.redisBenchmark),
    perSecond: 'benchmarkPerSecond',
  },
  shares: ({ way, transport }) => `${way} ${transport}`,
  servers: ({ way }) => (way === 'proxied' ? [PROXY] : []),
  route(parameters, address, others) {
    const main = wayOf(/** @type {any} */ (parameters), address, others);
    return { ...(main && { main }), direct: address['main'] };
  },
  offers({ commands = [] }, parameters, reach) {
    const { test, way, transport } = /** @type {CommandParameters} */ (
      /** @type {unknown} */ (parameters)
    );
    if (test === 'PING_INLINE' && !commands.includes('inline')) {
      return {
        reason: 'the driver cannot send inline commands',
        hint: 'ioredis and hiredis can',
      };
    }
    if (reach === undefined) return true;
    const { address, others } = reach;
    if (wayOf(/** @type {any} */ (parameters), address, others) !== null) return true;
    const [what, flag] = way === 'direct' ? ['Redis', '--redis'] : ['the proxy', '--proxy'];
    return transport === 'unix'
      ? {
          reason: `the unix socket of ${what} is unknown`,
          hint: `give both addresses: ${flag} host:port,unix:/path`,
        }
      : {
          reason: `the TCP port of ${what} is unknown`,
          hint: `give its address: ${flag} host:port`,
        };
  },
  prepare({ options, seed, phase, clock, origin, slot }) {
    const { commands, parameters } = /** @type {any} */ (options);
    // Each segment has its own keys; one command is enough for the check.
    const shape = { ...commands, ops: 1, seed, slot: slot?.at };
    const prepared = TESTS[parameters.test].prepare(shape);
    const all = { commands, parameters, shape, prepared, clock, phase, origin, slot };
    return (handle) => new CommandBenchmark({ ...all, handle }).bind();
  },
});

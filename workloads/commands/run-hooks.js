/**
 * Around a run of the command list: servers and a proxy for this run alone, redis-benchmark, and
 * the exit status of a result with refusals.
 */

import { isAbsolute } from 'node:path';
import { readEphemeralPorts } from '../../lib/ephemeral-ports.js';
import { usageError } from '../../lib/errors.js';
import { isRefusedByProxy } from './analysis.js';
import { csvLines, quietLines } from './legacy.js';
import { PROXY } from './namespace.js';
import { rememberProgram } from './redis-benchmark.js';

/** @typedef {import('../../lib/types.js').RunHooks} RunHooks */
/** @typedef {import('../../lib/types.js').SetUpContext} SetUpContext */

/** Of the ports of outgoing connections, where the kernel does not take them again at once. */
const PORTS_SHARE = 0.4;

/**
 * A TCP connection for each request leaves its port in TIME_WAIT for a minute: with as many as this
 * the ports of the machine are enough, also for redis-benchmark, and for others.
 * @param {number | undefined} requests
 * @param {{ keepAlive: readonly boolean[], transports: readonly string[] }} what
 * @param {ReturnType<typeof readEphemeralPorts>} [ports] for tests
 */
export function requirePorts(requests, { keepAlive, transports }, ports = readEphemeralPorts()) {
  if (requests === undefined || ports.reused) return;
  if (!keepAlive.includes(false) || !transports.includes('tcp')) return;
  const most = Math.floor(ports.range * PORTS_SHARE);
  if (requests <= most) return;
  throw usageError(
    `--requests ${requests}: one TCP connection per request would exhaust the ephemeral ports`,
    `at most ${most} with --keep-alive off; or use --keep-alive on, --transport unix, or ` +
      'net.ipv4.tcp_tw_reuse = 1',
  );
}

/** @type {NonNullable<RunHooks['setUp']>} */
export async function setUp({ options, plan, servers, env }) {
  const { requests, keepAlive, transport: transports, proxy, proxyBinary, setup, way } = options;
  const { benchmark: kind } = options;
  requirePorts(requests, { keepAlive, transports });
  if (proxyBinary !== undefined) servers.checkProxy(proxyBinary);
  if (setup) {
    const isOurs = way.includes('proxied') && proxyBinary === undefined;
    await servers.start(['redis', ...(isOurs ? [PROXY] : [])]);
  }
  const { addresses } = plan;
  const started =
    proxyBinary === undefined ? addresses : await servers.startProxy(proxyBinary, 'redis');
  // It was named: that it does not answer is an error, and no reason to leave it out.
  if (proxy !== undefined) await servers.requireAnswer(PROXY, 'the proxy');
  if (options.noRedisBenchmark) return { addresses: started };
  return { addresses: started, ...(await findBenchmark(kind, { plan, servers, env })) };
}

/**
 * @param {'redis' | 'valkey'} kind
 * @param {Pick<SetUpContext, 'plan' | 'servers' | 'env'>} context
 * @returns {Promise<import('../../lib/types.js').SetUp>} its version, or why it is skipped
 */
async function findBenchmark(kind, { plan, servers, env }) {
  const name = `${kind}-benchmark`;
  const found = await servers.findProgram(kind, name);
  if (found === null) {
    return skipped(
      name,
      'it is not here',
      `run \`npx dragstrip servers fetch ${kind}\`, or install ${kind}-tools`,
    );
  }
  const { credentials, credentialVariables } = await servers.resolve('redis');
  const isOurs = Object.values(credentialVariables).every((source) => isAbsolute(source));
  if (credentials.password !== undefined && !isOurs) {
    const why = 'it takes a password only as an argument, which others can read';
    return skipped(name, why, 'try it against a Redis without a password');
  }
  const libraries = found.env['LD_LIBRARY_PATH'];
  rememberProgram({ program: found.program, ...(libraries && { libraries }) }, env);
  const number = await found.version(['--version'], /(\d\S*)/);
  const version = kind === 'redis' ? number : `${number} (${name})`;
  const { commands } = /** @type {any} */ (plan.workloadOptions);
  return { workloadOptions: { commands: { ...commands, redisBenchmark: version } } };
}

/**
 * @param {string} name
 * @param {string} why
 * @param {string} hint
 */
function skipped(name, why, hint) {
  const message = `${name} is skipped: ${why}`;
  return { warnings: [{ code: 'W_REDIS_BENCHMARK', message, hint, benchmark: null }] };
}

/**
 * In redis-benchmark's form, where that is asked for.
 * @type {NonNullable<RunHooks['output']>}
 */
export function output(result, { options }) {
  const lines = [
    ...(options['lines'] ? quietLines(result) : []),
    ...(options['csv'] ? csvLines(result) : []),
  ];
  if (lines.length === 0) return {};
  return { before: `${lines.join('\n')}\n`, tables: 'none' };
}

/**
 * A command that the proxy does not know is no fault of the run.
 * @type {NonNullable<RunHooks['status']>}
 */
export function status(result, usual) {
  if (result.warnings.some(({ code }) => code === 'ROWS_LEFT')) return 4;
  const refused = result.benchmarks.filter(isRefusedByProxy);
  const others = result.benchmarks.filter((benchmark) => !refused.includes(benchmark));
  const ran = others.some(({ rounds }) => rounds.length > 0);
  if (!ran && refused.length > 0) return 0;
  return usual({ ...result, benchmarks: others });
}

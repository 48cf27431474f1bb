/**
 * Hooks of a run of the command list: temporary servers and proxy, redis-benchmark, and the exit
 * status of a result with refusals.
 */

import { isAbsolute } from 'node:path';
import { readEphemeralPorts } from '../../lib/ephemeral-ports.js';
import { usageError } from '../../lib/errors.js';
import { isRefusedByProxy } from './analysis.js';
import { csvLines, quietLines } from './legacy.js';
import { GUEST, PROXY } from './namespace.js';
import { rememberProgram } from './redis-benchmark.js';

/** @typedef {import('../../lib/types.js').RunHooks} RunHooks */
/** @typedef {import('../../lib/types.js').SetUpContext} SetUpContext */

/** Fraction of the ephemeral ports to use, if the kernel does not reuse them at once. */
const PORTS_SHARE = 0.4;

/**
 * A TCP connection per request leaves its port in TIME_WAIT for a minute; this number leaves enough
 * ports for redis-benchmark and other programs.
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
    `--ops ${requests}: one TCP connection per request would exhaust the ephemeral ports`,
    `at most ${most} with --keep-alive off; or use --keep-alive on, --transport unix, or ` +
      'net.ipv4.tcp_tw_reuse = 1',
  );
}

/** @type {NonNullable<RunHooks['setUp']>} */
export async function setUp({ options, plan, servers, env }) {
  const { requests, keepAlive, transport: transports, proxy, proxyBinary, setup, route } = options;
  const { tool } = options;
  requirePorts(requests, { keepAlive, transports });
  if (proxyBinary !== undefined) servers.checkProxy(proxyBinary);
  if (setup) {
    const isProxied = route.includes('proxied');
    const isOurs = isProxied && proxyBinary === undefined;
    // HAProxy forwards everything a client sends, including a login.
    const needsGuest = isProxied && !/(^|\/)haproxy$/.test(proxyBinary ?? '');
    await servers.start(['redis', ...(isOurs ? [PROXY] : [])], needsGuest ? GUEST : undefined);
  }
  const { addresses } = plan;
  const started =
    proxyBinary === undefined ? addresses : await servers.startProxy(proxyBinary, 'redis');
  // It was named by the user, so a missing reply is an error, not a reason to skip it.
  if (proxy !== undefined) await servers.requireAnswer(PROXY, 'the proxy');
  if (tool === 'none') return { addresses: started };
  return { addresses: started, ...(await findBenchmark(tool, { plan, servers, env })) };
}

/**
 * @param {'redis' | 'valkey'} kind
 * @param {Pick<SetUpContext, 'plan' | 'servers' | 'env'>} context
 * @returns {Promise<import('../../lib/types.js').SetUp>} its version, or the reason for skipping it
 */
async function findBenchmark(kind, { plan, servers, env }) {
  const name = `${kind}-benchmark`;
  const program = await servers.findProgram(kind, name);
  if (program === null) {
    return skipped(
      name,
      'it is not installed',
      `run \`npx dragstrip servers fetch ${kind}\`, or install ${kind}-tools`,
    );
  }
  const { credentials, credentialVariables } = await servers.resolve('redis');
  const isOurs = Object.values(credentialVariables).every((source) => isAbsolute(source));
  if (credentials.password !== undefined && !isOurs) {
    const why = 'it accepts a password only as an argument, which other users can read';
    return skipped(name, why, 'use a Redis without a password');
  }
  const libraries = program.env['LD_LIBRARY_PATH'];
  rememberProgram({ program: program.program, ...(libraries && { libraries }) }, env);
  const number = await program.version(['--version'], /(\d\S*)/);
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
 * In redis-benchmark's form, if requested.
 * @type {NonNullable<RunHooks['output']>}
 */
export function output(result, { options }) {
  const lines = [
    ...(options['lines'] ? quietLines(result) : []),
    ...(options['redisCsv'] ? csvLines(result) : []),
  ];
  if (lines.length === 0) return {};
  return { before: `${lines.join('\n')}\n`, tables: 'none' };
}

/**
 * A command unknown to the proxy is not a failure of the run.
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

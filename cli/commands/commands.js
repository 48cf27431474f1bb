/**
 * `dragstrip commands`: the command list of redis-benchmark, direct and through a proxy, over TCP
 * and unix sockets, with connections that are kept and with one for each request.
 */

import { isAbsolute } from 'node:path';
import { resolveAddress } from '../../engine/addresses.js';
import { readEphemeralPorts } from '../../lib/ephemeral-ports.js';
import { usageError } from '../../lib/errors.js';
import { findHome } from '../../lib/home.js';
import { requireLoopback } from '../../lib/safety.js';
import { loadPictures } from '../../report/pictures.js';
import { readProgramVersion } from '../../servers/command.js';
import { loadServer, startServers } from '../../servers/index.js';
import { parseProxyCommand, startProxyCommand } from '../../servers/proxy-command.js';
import { isRefusedByProxy } from '../../workloads/commands/analysis.js';
import { rememberProgram } from '../../workloads/commands/redis-benchmark.js';
import { TEST_NAMES } from '../../workloads/commands/tests.js';
import { commandVariants } from '../../workloads/commands/variants.js';
import { failureLine } from '../failure.js';
import { pictureOutputs, writeOutputs } from '../outputs.js';
import { runCommand, tablesFor } from '../run-command.js';
import { dropUndefined } from '../setup.js';
import { statusOf } from '../status.js';
import { requireWritable } from '../storage.js';

/** @typedef {import('../main.js').CommandContext} CommandContext */
/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../index.js').RunOptions} RunOptions */
/** @typedef {() => Promise<void>} Stop */

const WARMUP = 500;
/** Of the ports of outgoing connections, where the kernel does not take them again at once. */
const PORTS_SHARE = 0.4;

/**
 * @param {CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ options, stdout, stderr }) {
  const runOptions = toRunOptions(options);
  if (options.svg !== undefined) await requireWritable(options.svg, '--svg', options.svg);
  /** @type {Result['warnings']} */
  let warnings = [];
  return runCommand(
    { options, stdout, stderr },
    {
      async begin(session) {
        warnings = await prepare({ runOptions, options, ...session });
        return runOptions;
      },
      show({ progress }) {
        const watch = showProgress(progress);
        return (event) => {
          watch(event);
          if (event.type === 'planned') event.result.warnings.push(...warnings);
        };
      },
      async tell(result) {
        stdout.write(await tablesFor(result, stdout));
        await writePictures(result, options);
      },
      judge: statusAfter,
    },
  );
}

/**
 * @param {Record<string, any>} options parsed
 * @returns {RunOptions}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function toRunOptions(options) {
  const {
    requests,
    clients = 50,
    keyspace = 50,
    dataSize = 3,
    keepAlive = [true, false],
    way: ways = ['direct', 'proxied'],
    transport: transports = ['tcp', 'unix'],
    storages: listed,
    storage = [],
  } = options;
  requireTogether(options, ways);
  requirePorts(requests, { keepAlive, transports });
  if (requests !== undefined && requests < clients) {
    throw usageError(`${requests} requests of ${clients} clients`, 'at least one of each client');
  }
  const tests = testsOf(options.tests);
  return /** @type {RunOptions} */ (
    dropUndefined({
      command: 'commands',
      workload: 'commands',
      storages: [...(listed ?? (storage.length > 0 ? [] : ['ioredis'])), ...storage],
      variants: commandVariants({ tests, ways, transports, keepAlive, clients, requests }),
      clients,
      keyspace,
      dataSize,
      rounds: options.rounds ?? 1,
      warmupOperations: options.warmup ?? WARMUP,
      timeoutMs: options.timeout,
      seed: options.seed,
      addresses: dropUndefined({ redis: options.redis, proxy: options.proxy }),
      allowTargets: options.allowTarget,
    })
  );
}

/**
 * @param {Record<string, any>} options
 * @param {readonly string[]} ways
 */
function requireTogether({ proxy, proxyBinary, setup, redis }, ways) {
  if (proxy !== undefined && proxyBinary !== undefined) {
    throw usageError('--proxy and --proxy-binary: one of them', 'the one is there, the other not');
  }
  if (proxyBinary !== undefined) parseProxyCommand(proxyBinary);
  const named = proxy !== undefined ? '--proxy' : '--proxy-binary';
  if (!ways.includes('proxied') && (proxy ?? proxyBinary) !== undefined) {
    throw usageError(`${named} and --way direct: nothing goes through it`, 'leave one of them out');
  }
  if (setup && (redis ?? proxy) !== undefined) {
    throw usageError('--setup starts servers, and --redis and --proxy name some', 'leave one out');
  }
}

/**
 * @param {readonly string[] | undefined} names
 * @returns {string[]} as they are in the list, in its order
 */
function testsOf(names) {
  if (names === undefined) return [...TEST_NAMES];
  const wanted = new Set(names.map((name) => name.trim().toUpperCase()));
  for (const name of wanted) {
    if (TEST_NAMES.includes(name)) continue;
    throw usageError(
      `--tests ${JSON.stringify(name)}: not in the list`,
      `the tests: ${TEST_NAMES.join(', ')}`,
    );
  }
  if (wanted.size === 0) throw usageError('--tests: none is named', 'leave it out for all');
  return TEST_NAMES.filter((name) => wanted.has(name));
}

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
    `--requests ${requests}: a TCP connection for each would use up this machine’s ports`,
    `at most ${most} with --keep-alive off; or --keep-alive on, --transport unix, or ` +
      'net.ipv4.tcp_tw_reuse of 1',
  );
}

/**
 * Servers and programs that the run needs, before it.
 * @param {{ runOptions: RunOptions, options: Record<string, any>, signal: AbortSignal,
 *   progress: import('../progress.js').Progress, stops: Stop[] }} context stops is added to
 * @returns {Promise<Result['warnings']>} what is left out
 */
async function prepare({ runOptions, options, signal, progress, stops }) {
  const home = findHome();
  const isProxied = runOptions.variants?.some(({ parameters }) => parameters['way'] === 'proxied');
  if (options.setup) {
    const wanted = isProxied && options.proxyBinary === undefined ? ['nutcracker'] : [];
    const { failures, stop } = await startServers(['redis', ...wanted], {
      home,
      owned: true,
      signal,
      onEvent: ({ server, step, text }) => progress.update(`${server} ${step}: ${text}`),
    });
    stops.push(stop);
    for (const { name, error } of failures) {
      progress.done(`${name} is left out: ${failureLine(error)}`);
    }
  }
  if (options.proxyBinary !== undefined) {
    const redis = await resolveAddress('redis', { flags: runOptions.addresses, home });
    const { address: behind, credentials: login } = redis;
    const place = { home, redis: behind, credentials: login, signal };
    const { address, stop } = await startProxyCommand(options.proxyBinary, place);
    stops.push(stop);
    runOptions.addresses = { ...runOptions.addresses, proxy: address };
  }
  if (options.proxy !== undefined) {
    // It was named: that it does not answer is an error, and no reason to leave it out.
    const { probe } = await loadServer('nutcracker');
    const { address, credentials } = await resolveAddress('nutcracker', {
      flags: runOptions.addresses,
      home,
    });
    for (const endpoint of Object.values(address)) {
      await requireLoopback(endpoint, options.allowTarget ?? [], 'the proxy');
    }
    await probe(address, credentials);
  }
  return options.redisBenchmark === false ? [] : prepareBenchmark(runOptions, home);
}

/**
 * @param {RunOptions} runOptions gets the version of redis-benchmark
 * @param {string} home
 * @returns {Promise<Result['warnings']>} why it is skipped
 */
async function prepareBenchmark(runOptions, home) {
  const found = await (await loadServer('redis')).find(home);
  const program = found?.programs['redis-benchmark'];
  if (found === null || program === undefined) {
    return skipped('it is not here', 'run `dragstrip servers fetch redis`, or install redis-tools');
  }
  const flags = runOptions.addresses;
  const { credentials, credentialVariables } = await resolveAddress('redis', { flags, home });
  const isOurs = Object.values(credentialVariables).every((source) => isAbsolute(source));
  if (credentials.password !== undefined && !isOurs) {
    const why = 'it takes a password only as an argument, which others can read';
    return skipped(why, 'try it against a Redis without a password');
  }
  const libraries = found.env['LD_LIBRARY_PATH'];
  rememberProgram({ program, ...(libraries && { libraries }) }, process.env);
  const version = await readProgramVersion(program, ['--version'], /(\d\S*)/, found.env);
  Object.assign(runOptions, { redisBenchmark: version });
  return [];
}

/**
 * @param {string} why
 * @param {string} hint
 */
function skipped(why, hint) {
  const message = `redis-benchmark is skipped: ${why}`;
  return [{ code: 'W_REDIS_BENCHMARK', message, hint, benchmark: null }];
}

/**
 * @param {import('../progress.js').Progress} progress
 * @returns {(event: import('../../index.js').RunEvent) => void}
 */
function showProgress(progress) {
  let done = 0;
  let all = 0;
  return (event) => {
    if (event.type === 'planned') {
      const { benchmarks, options } = event.result;
      all =
        benchmarks.filter(({ state }) => state !== 'skipped').length * Number(options['rounds']);
    }
    if (event.type === 'waiting') progress.update(`waiting for ${event.what}`);
    if (event.type === 'benchmark-start') {
      const { test, way, transport, keepAlive } = event.benchmark.parameters ?? {};
      const kept = keepAlive ? 'kept' : 'a connection each';
      const what = `${event.benchmark.storage}, ${test}, ${way} ${transport}, ${kept}`;
      progress.update(`${what} (${done + 1} of ${all})`, all === 0 ? null : done / all);
    }
    if (event.type === 'benchmark-end') done += 1;
  };
}

/**
 * @param {Result} result
 * @param {Record<string, any>} options
 */
async function writePictures(result, { svg, force }) {
  if (svg === undefined) return;
  const outputs = pictureOutputs((await loadPictures())([result]), { svg }, () => new Uint8Array());
  await writeOutputs(outputs, { force });
}

/**
 * @param {Result} result
 * @returns {number} a command that the proxy does not know is no fault of the run
 */
export function statusAfter(result) {
  if (result.warnings.some(({ code }) => code === 'ROWS_LEFT')) return 4;
  const refused = result.benchmarks.filter(isRefusedByProxy);
  const others = result.benchmarks.filter((benchmark) => !refused.includes(benchmark));
  const ran = others.some(({ rounds }) => rounds.length > 0);
  if (!ran && refused.length > 0) return 0;
  return statusOf({ ...result, benchmarks: others });
}

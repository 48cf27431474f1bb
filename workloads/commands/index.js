/**
 * The command list of redis-benchmark, straight to Redis and through a proxy, over TCP and over a
 * unix socket, with connections that are kept and with one for each request. A variant is one
 * command on one way. Beside it, over the same connections, redis-benchmark itself.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { defineWorkload } from '../../lib/define.js';
import { readEphemeralPorts } from '../../lib/ephemeral-ports.js';
import { MISMATCH } from '../../lib/outcome.js';
import { Clients } from './clients.js';
import { MARKER, namespace, PREFIX, PROXY } from './namespace.js';
import { options, plan, shared } from './plan.js';
import { PASSWORD_NEEDED, programOf, runBenchmark, withTemporaryUser } from './redis-benchmark.js';
import { TESTS } from './tests.js';

/** @typedef {import('../../lib/types.js').Address} Address */
/** @typedef {import('../../lib/types.js').Endpoint} Endpoint */
/** @typedef {import('../../lib/types.js').CommandConnection} CommandConnection */
/** @typedef {import('./tests.js').Prepared} Prepared */

/**
 * @typedef {object} CommandParameters
 * @property {string} test of TESTS
 * @property {'direct' | 'proxied'} way
 * @property {'tcp' | 'unix'} transport
 * @property {boolean} keepAlive
 * @property {number} [pipeline] requests in flight per connection; absent: 1
 *
 * @typedef {object} CommandsOptions
 * @property {number} clients
 * @property {number} keyspace
 * @property {number} dataSize
 * @property {string} [redisBenchmark] its version; absent: it does not run
 */

/** Of the ports that outgoing connections have: the others may need some. */
const PORTS_SHARE = 0.8;
const PORTS_POLL_MS = 500;
/** TIME_WAIT is a minute in Linux. */
const PORTS_WAIT_MS = 65_000;

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
  check: false,
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
  prepare({ options, ops, seed, phase, clock, origin }) {
    const { commands, parameters } = /** @type {any} */ (options);
    const { test } = parameters;
    const prepared = TESTS[test].prepare({ ops, seed, ...commands });
    return (handle) =>
      new CommandBenchmark({
        commands,
        parameters,
        prepared,
        handle,
        clock,
        ops,
        phase,
        origin,
      }).bind();
  },
});

/** Clients belong to the handle: the warm-up warms the connections that are measured. */
/** @type {WeakMap<import('../../lib/types.js').CommandHandle, Clients>} */
const clientsOf = new WeakMap();

class CommandBenchmark {
  /** @param {any} context of prepare */
  constructor({ commands, parameters, prepared, handle, clock, ops, phase, origin }) {
    /** @type {CommandsOptions} */
    this.options = commands;
    /** @type {CommandParameters} */
    this.parameters = parameters;
    /** @type {Prepared} */
    this.prepared = prepared;
    this.handle = handle;
    this.origin = origin;
    this.ops = ops;
    this.isMeasured = phase === 'measure';
    const clients = clientsOf.get(handle) ?? new Clients(handle.connect, clock);
    if (!clientsOf.has(handle)) closeWith(handle, clients);
    clientsOf.set(handle, clients);
    this.clients = clients;
    this.issued = 0;
    this.answered = 0;
    /** @type {Error | null} */
    this.refusal = null;
    this.reachedBefore = 0;
    /** @type {CommandConnection | null} to Redis itself */
    this.admin = null;
  }

  /** @returns {import('../../lib/types.js').BoundWorkload} */
  bind() {
    const { clients, prepared, parameters } = this;
    const { words, inline, verify } = prepared;
    const compared = { replies: 0, bytes: 0 };
    const run = parameters.keepAlive ? clients.onKept.bind(clients) : clients.onOwn.bind(clients);
    const askLine = (/** @type {CommandConnection} */ connection) =>
      /** @type {any} */ (connection).inline(inline);
    return {
      calls: 'promise',
      op: (index) => {
        if (this.refusal !== null) return Promise.reject(this.refusal);
        this.issued += 1;
        if (inline !== undefined) return run(askLine);
        const command = words(index);
        return run((connection) => connection.send(command));
      },
      verify: (index, reply) => {
        this.answered += 1;
        compared.replies += 1;
        compared.bytes += lengthOf(reply);
        return index < this.ops ? verify(index, reply) : MISMATCH;
      },
      compared,
      before: () => this.before(),
      after: () => this.after(),
    };
  }

  async before() {
    const { keepAlive, transport, pipeline } = this.parameters;
    /** @type {CommandConnection} */
    const admin = await this.handle.connect('direct');
    this.admin = admin;
    this.refusal = await this.tryOnce();
    if (this.refusal !== null) return;
    await this.prepared.fill(admin.send);
    if (keepAlive) await this.clients.keep(this.options.clients, pipeline);
    else if (transport === 'tcp') await waitForPorts(2 * this.ops);
    this.clients.restart(keepAlive);
    if (this.isMeasured) this.reachedBefore = await this.countReached();
  }

  /**
   * The command once, before anything is counted: a proxy may not know it.
   * @returns {Promise<Error | null>} why it is refused, in the words of who refuses it
   * @throws what is wrong where other commands do not pass either
   */
  async tryOnce() {
    const { inline, words } = this.prepared;
    const ask = (/** @type {readonly string[] | null} */ command) =>
      this.clients.onOwn((connection) =>
        command === null
          ? /** @type {any} */ (connection).inline(inline)
          : connection.send(command),
      );
    try {
      await ask(inline === undefined ? words(0) : null);
      return null;
    } catch (error) {
      await ask(['GET', MARKER]);
      return refused(error);
    }
  }

  /** @returns {Promise<number>} how often Redis itself has been asked; -1: it does not tell */
  async countReached() {
    const { command } = TESTS[this.parameters.test];
    try {
      const text = await this.admin?.send(['INFO', 'commandstats']);
      const form = new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm');
      return Number(form.exec(text)?.[1] ?? 0);
    } catch {
      return -1;
    }
  }

  async after() {
    const { admin, issued, answered, clients, refusal } = this;
    if (admin === null) return undefined;
    try {
      if (!this.isMeasured) return undefined;
      if (refusal !== null) return { refusal: refusal.message, ...(await this.benchmark()) };
      const reached = await this.countReached();
      const wrong = await this.prepared.settle(admin.send, { issued, answered });
      if (wrong !== null)
        throw Object.assign(new Error(`wrong data: ${wrong}`), { code: 'E_DATA' });
      return {
        ...clients.connecting.metrics('connect'),
        ...(!this.parameters.keepAlive && {
          ...clients.commanding.metrics('command'),
          ...clients.closing.metrics('close'),
        }),
        connectionsMax: clients.openMax,
        reached: reached < 0 || this.reachedBefore < 0 ? null : reached - this.reachedBefore,
        ...(issued === answered ? await this.benchmark() : {}),
      };
    } finally {
      this.admin = null;
      if (this.isMeasured) await clients.close();
      await admin.close();
    }
  }

  /**
   * redis-benchmark on the same way, after what was measured is settled.
   * @returns {Promise<import('../../lib/types.js').WorkloadMetrics>}
   */
  async benchmark() {
    const { redisBenchmark, clients, keyspace } = this.options;
    const { keepAlive, pipeline } = this.parameters;
    const tool = redisBenchmark === undefined ? null : programOf(process.env);
    if (tool === null) return {};
    await this.clients.close();
    if (this.refusal === null) await this.prepared.fill(/** @type {any} */ (this.admin).send);
    const shape = {
      endpoint: this.origin.address.main,
      requests: this.ops,
      clients,
      keyspace,
      keepAlive,
      pipeline,
      words: this.prepared.baseline,
    };
    const { figures, failure } = await this.runBeside(tool, shape);
    if (figures === null) return { benchmarkFailure: failure };
    const { perSecond, meanNs, p50Ns, p99Ns } = figures;
    return {
      benchmarkPerSecond: perSecond,
      benchmarkNsMean: meanNs,
      benchmarkNsP50: p50Ns,
      benchmarkNsP99: p99Ns,
    };
  }

  /**
   * @param {import('./redis-benchmark.js').BenchmarkProgram} tool
   * @param {import('./redis-benchmark.js').BenchmarkShape} shape
   */
  async runBeside(tool, shape) {
    if (this.origin.credentials.password === undefined) return runBenchmark(tool, shape);
    if (this.parameters.way === 'proxied') return { figures: null, failure: PASSWORD_NEEDED };
    const { send } = /** @type {CommandConnection} */ (this.admin);
    return withTemporaryUser(send, PREFIX, (login) => runBenchmark(tool, { ...shape, login }));
  }
}

/**
 * @param {any} reply compared in full
 * @returns {number} letters, of a number its digits
 */
function lengthOf(reply) {
  if (!Array.isArray(reply)) return String(reply).length;
  return reply.reduce((sum, element) => sum + String(element).length, 0);
}

/**
 * @param {any} handle
 * @param {Clients} clients
 */
function closeWith(handle, clients) {
  const { close } = handle;
  handle.close = async () => {
    await clients.close();
    await close();
  };
}

/**
 * @param {any} error of the driver
 * @returns {Error} with the code REFUSED
 */
function refused(error) {
  const closed = /ECONNRESET|EPIPE/.test(String(error.code));
  const words = closed ? 'it closes the connection without an answer' : error.message;
  return Object.assign(new Error(words), { code: 'REFUSED' });
}

/**
 * Where the kernel does not take a port again after a second, a connection for each request must
 * wait until there are enough.
 * @param {number} needed
 */
async function waitForPorts(needed) {
  for (let waitedMs = 0; waitedMs < PORTS_WAIT_MS; waitedMs += PORTS_POLL_MS) {
    const { range, reused, waiting } = readEphemeralPorts();
    if (reused || waiting + needed <= range * PORTS_SHARE) return;
    await sleep(PORTS_POLL_MS);
  }
}

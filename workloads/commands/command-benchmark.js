/**
 * One command on one route, for one storage: connections, separate keys, detection of refusals, and
 * redis-benchmark on the same route.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { readEphemeralPorts } from '../../lib/ephemeral-ports.js';
import { dataError } from '../../lib/errors.js';
import { MISMATCH } from '../../lib/outcome.js';
import { medianOf } from './analysis.js';
import { Clients } from './clients.js';
import { MARKER, PREFIX } from './namespace.js';
import { requestsOf } from './plan.js';
import { PASSWORD_NEEDED, programOf, runBenchmark, withTemporaryUser } from './redis-benchmark.js';
import { TESTS } from './tests.js';

/** @typedef {import('../../lib/types.js').CommandConnection} CommandConnection */
/** @typedef {import('./tests.js').Prepared} Prepared */
/** @typedef {import('./redis-benchmark.js').BenchmarkFigures} BenchmarkFigures */

/**
 * @typedef {object} CommandParameters
 * @property {string} test test of TESTS
 * @property {'direct' | 'proxied'} way
 * @property {'tcp' | 'unix'} transport
 * @property {boolean} keepAlive
 * @property {number} [pipeline] requests in flight per connection; absent: 1
 *
 * @typedef {object} CommandsOptions
 * @property {number} clients
 * @property {number} keyspace
 * @property {number} dataSize
 * @property {string} [redisBenchmark] its version; absent: not run
 */

/** Fraction of the ephemeral ports to use; other programs may need some. */
const PORTS_SHARE = 0.8;
const PORTS_POLL_MS = 500;
/** Share of the requests of a test that redis-benchmark sends per block. */
const BESIDE_PART = 4;
/** TIME_WAIT lasts a minute in Linux. */
const PORTS_WAIT_MS = 65_000;

/** Clients belong to the handle, so the warm-up uses the connections that are measured. */
/** @type {WeakMap<import('../../lib/types.js').CommandHandle, Clients>} */
const clientsOf = new WeakMap();
/** Variants of one handle share its connection to Redis itself. */
/** @type {WeakMap<import('../../lib/types.js').CommandHandle, Promise<CommandConnection>>} */
const adminOf = new WeakMap();

export class CommandBenchmark {
  /** @param {any} context context of prepare */
  constructor({ commands, parameters, shape, prepared, handle, clock, phase, origin, slot }) {
    /** @type {CommandsOptions} */
    this.options = commands;
    /** @type {CommandParameters} */
    this.parameters = parameters;
    /** @type {Prepared} */
    this.prepared = prepared;
    this.handle = handle;
    this.origin = origin;
    this.shape = shape;
    this.ops = shape.ops;
    this.isMeasured = phase === 'measure';
    this.isProgram = slot?.isProgram ?? false;
    this.isFilled = false;
    const shared = clientsOf.get(handle) ?? new Clients(handle.connect, clock);
    if (!clientsOf.has(handle)) closeWith(handle, shared);
    clientsOf.set(handle, shared);
    // Connection times are recorded per variant.
    this.clients = parameters.keepAlive ? shared : new Clients(handle.connect, clock);
    this.reached = 0;
    this.issued = 0;
    this.answered = 0;
    /** @type {Error | null} */
    this.refusal = null;
    this.reachedBefore = 0;
    /** @type {CommandConnection | null} connection to Redis itself */
    this.admin = null;
    /** Figures of each run of redis-benchmark. @type {BenchmarkFigures[]} */
    this.toolFigures = [];
    /** @type {string | null} */
    this.toolFailure = null;
  }

  /** @returns {import('../../lib/types.js').BoundWorkload} */
  bind() {
    const { clients, parameters } = this;
    const { inline } = this.prepared;
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
        const command = this.prepared.words(index);
        return run((connection) => connection.send(command));
      },
      verify: (index, reply) => {
        this.answered += 1;
        compared.replies += 1;
        compared.bytes += lengthOf(reply);
        return index < this.ops ? this.prepared.verify(index, reply) : MISMATCH;
      },
      compared,
      begin: () => this.begin(),
      end: async () => this.end(),
      before: (operations) => this.before(operations),
      after: () => this.after(),
      restart: () => this.restart(),
      refused: () => this.refusal !== null,
      ...(this.isProgram && {
        program: { run: this.runTool.bind(this), metrics: () => this.toolMetrics() },
      }),
    };
  }

  async begin() {
    const { keepAlive, pipeline } = this.parameters;
    this.admin = await this.connectAdmin();
    this.refusal = await this.tryOnce();
    if (this.refusal !== null || this.isProgram || !keepAlive) return;
    await this.clients.keep(this.options.clients, pipeline);
  }

  /** @returns {Promise<CommandConnection>} */
  connectAdmin() {
    const { handle } = this;
    const shared = adminOf.get(handle) ?? handle.connect('direct');
    if (!adminOf.has(handle)) {
      adminOf.set(handle, shared);
      closeWith(handle, { close: async () => (await shared).close() });
    }
    return shared;
  }

  /**
   * Resets its keys to their state before the first segment, so that changes do not accumulate.
   * @param {number} operations
   */
  async before(operations) {
    if (this.refusal !== null) return;
    const { send } = /** @type {CommandConnection} */ (this.admin);
    const { keepAlive, transport } = this.parameters;
    const { prepare, lasts } = TESTS[this.parameters.test];
    this.ops = operations;
    this.shape = { ...this.shape, ops: operations, seed: this.shape.seed + 1 };
    this.prepared = prepare(this.shape);
    if (!this.isFilled || !lasts) await this.prepared.fill(send);
    this.isFilled = true;
    if (!keepAlive && transport === 'tcp') await waitForPorts(2 * operations);
    [this.issued, this.answered] = [0, 0];
    this.reachedBefore = await this.countReached();
  }

  async after() {
    if (this.refusal !== null) return;
    const reached = await this.countReached();
    this.reached += reached - this.reachedBefore;
    await this.settle();
  }

  restart() {
    this.reached = 0;
    this.clients.restart(this.parameters.keepAlive);
  }

  /** @throws the keys are wrong after the operations */
  async settle() {
    const { issued, answered, prepared } = this;
    const { send } = /** @type {CommandConnection} */ (this.admin);
    const wrong = await prepared.settle(send, { issued, answered });
    if (wrong !== null) throw dataError(`wrong data: ${wrong}`);
  }

  /**
   * Executes the command once before counting, since a proxy may not know it.
   * @returns {Promise<Error | null>} reason of the refusal: the message of the proxy or server
   * @throws the error, if other commands fail as well
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

  /** @returns {Promise<number>} number of commands executed by Redis itself; -1: unknown */
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

  /** @returns {import('../../lib/types.js').WorkloadMetrics | undefined} */
  end() {
    const { clients, refusal } = this;
    if (!this.isMeasured || this.isProgram) return undefined;
    if (refusal !== null) return { refusal: refusal.message };
    return {
      ...clients.connecting.metrics('connect'),
      ...(!this.parameters.keepAlive && {
        ...clients.commanding.metrics('command'),
        ...clients.closing.metrics('close'),
      }),
      connectionsMax: clients.openMax,
      reached: this.reachedBefore < 0 ? null : this.reached,
    };
  }

  /** @returns {import('./redis-benchmark.js').BenchmarkProgram | null} */
  tool() {
    return this.isProgram && this.options.redisBenchmark !== undefined
      ? programOf(process.env)
      : null;
  }

  /**
   * One run on the same route, with freshly filled keys.
   * @param {number} [of] requests; absent: a fraction of those of the test
   * @returns {Promise<import('../../lib/types.js').ProgramFigures | null>}
   */
  async runTool(of) {
    const tool = this.tool();
    if (tool === null) return null;
    const { clients, keyspace } = this.options;
    const { keepAlive, pipeline, test } = this.parameters;
    const requests = of ?? requestsBeside(this.parameters, clients);
    const prepared = TESTS[test].prepare({ ...this.shape, ops: requests });
    const endpoint = this.origin.address.main;
    const words = prepared.baseline;
    const shape = { endpoint, requests, clients, keyspace, keepAlive, pipeline, words };
    if (this.refusal === null) await prepared.fill(/** @type {any} */ (this.admin).send);
    const { figures, failure } = await this.runBeside(tool, shape);
    this.toolFailure = failure;
    if (figures === null) return null;
    this.toolFigures.push(figures);
    return { operations: requests, perSecond: figures.perSecond, p50Ns: figures.p50Ns };
  }

  /** @returns {import('../../lib/types.js').WorkloadMetrics} medians of its runs */
  toolMetrics() {
    const { toolFigures, toolFailure } = this;
    if (toolFigures.length === 0) {
      return toolFailure === null ? {} : { benchmarkFailure: toolFailure };
    }
    const of = (/** @type {keyof BenchmarkFigures} */ name) =>
      medianOf(toolFigures.map((one) => one[name]));
    return {
      benchmarkPerSecond: of('perSecond'),
      benchmarkNsMean: of('meanNs'),
      benchmarkNsP50: of('p50Ns'),
      benchmarkNsP99: of('p99Ns'),
    };
  }

  /**
   * @param {import('./redis-benchmark.js').BenchmarkProgram} tool
   * @param {import('./redis-benchmark.js').BenchmarkShape} shape
   */
  async runBeside(tool, shape) {
    const { credentials, logins } = this.origin;
    const own = logins['main'] ?? credentials;
    if (own.password === undefined) return runBenchmark(tool, shape);
    const { send } = /** @type {CommandConnection} */ (this.admin);
    return withTemporaryUser(send, PREFIX, async (login) =>
      this.parameters.way === 'direct' || (await this.takesLogin(login))
        ? runBenchmark(tool, { ...shape, login })
        : { figures: null, failure: PASSWORD_NEEDED },
    );
  }

  /**
   * redis-benchmark counts error replies as requests, so the login is tested first.
   * @param {{ user: string, password: string }} login
   * @returns {Promise<boolean>} whether the proxy forwards it and Redis replies
   */
  async takesLogin(login) {
    try {
      const { send, close } = await this.handle.connect('main', login);
      await send(['GET', MARKER]).finally(close);
      return true;
    } catch {
      return false;
    }
  }
}

/**
 * Corrects a run of redis-benchmark, which counts in whole milliseconds and, with several requests
 * in flight per connection, ends that much earlier.
 * @param {CommandParameters} parameters
 * @param {number} clients
 */
function requestsBeside({ test, keepAlive, pipeline = 1 }, clients) {
  return pipeline * Math.max(requestsOf(test, keepAlive) / BESIDE_PART, clients);
}

/**
 * @param {any} reply compared in full
 * @returns {number} text, for a number its digits
 */
function lengthOf(reply) {
  if (!Array.isArray(reply)) return String(reply).length;
  return reply.reduce((sum, element) => sum + String(element).length, 0);
}

/**
 * @param {any} handle
 * @param {{ close: () => Promise<unknown> }} clients
 */
function closeWith(handle, clients) {
  const { close } = handle;
  handle.close = async () => {
    await clients.close();
    await close();
  };
}

/**
 * @param {any} error error of the driver
 * @returns {Error} error with the code REFUSED
 */
function refused(error) {
  const closed = /ECONNRESET|EPIPE/.test(String(error.code));
  const words = closed ? 'the connection was closed without a reply' : error.message;
  return Object.assign(new Error(words), { code: 'REFUSED' });
}

/**
 * If the kernel does not reuse a port after a second, a connection per request must wait for free
 * ports.
 * @param {number} needed
 */
async function waitForPorts(needed) {
  for (let waitedMs = 0; waitedMs < PORTS_WAIT_MS; waitedMs += PORTS_POLL_MS) {
    const { range, reused, waiting } = readEphemeralPorts();
    if (reused || waiting + needed <= range * PORTS_SHARE) return;
    await sleep(PORTS_POLL_MS);
  }
}

/**
 * The clients of a benchmark: persistent connections, each with one request at a time, or one
 * connection per request. The times to connect, to execute the command and to close are recorded
 * separately.
 */

import { printablePercentile } from '../../stats/percentile.js';

/** @typedef {import('../../lib/types.js').CommandConnection} CommandConnection */
/** @typedef {(connection: CommandConnection) => Promise<any>} Ask */

/** Maximum number of recorded times; later ones are not recorded. */
const TIMES_MAX = 1_000_000;

/** Exact times of one step; a benchmark has some thousands. */
export class Times {
  constructor() {
    /** @type {number[]} */
    this.ns = [];
  }

  /** @param {number} ns */
  add(ns) {
    if (this.ns.length < TIMES_MAX) this.ns.push(ns);
  }

  /**
   * @param {string} name
   * @returns {Record<string, number | null>} mean, p50 and p99 by nearest rank; null if fewer than
   *   ten values lie above
   */
  metrics(name) {
    const sorted = Float64Array.from(this.ns).sort();
    const { length } = sorted;
    const sum = sorted.reduce((total, ns) => total + ns, 0);
    return {
      [`${name}NsMean`]: length === 0 ? null : sum / length,
      [`${name}NsP50`]: printablePercentile(sorted, 0.5),
      [`${name}NsP99`]: printablePercentile(sorted, 0.99),
    };
  }
}

export class Clients {
  /**
   * @param {(endpoint: string) => Promise<CommandConnection>} connect
   * @param {{ now(): number }} clock
   */
  constructor(connect, clock) {
    this.connect = connect;
    this.clock = clock;
    /** @type {{ connection: CommandConnection, free: () => void }[]} */
    this.kept = [];
    /** @type {{ connection: CommandConnection, free: () => void }[]} */
    this.idle = [];
    this.turn = 0;
    this.open = 0;
    this.openMax = 0;
    this.connecting = new Times();
    this.commanding = new Times();
    this.closing = new Times();
  }

  /** @param {boolean} keep keep the times of the persistent connections */
  restart(keep) {
    this.openMax = this.open;
    if (keep) return;
    this.connecting = new Times();
    this.commanding = new Times();
    this.closing = new Times();
  }

  /** @returns {Promise<CommandConnection>} a connection, counted until `leave` closes it */
  async enter() {
    const startNs = this.clock.now();
    this.open += 1;
    if (this.open > this.openMax) this.openMax = this.open;
    try {
      const connection = await this.connect('main');
      this.connecting.add(this.clock.now() - startNs);
      return connection;
    } catch (error) {
      this.open -= 1;
      throw error;
    }
  }

  /** @param {CommandConnection} connection */
  async leave(connection) {
    const startNs = this.clock.now();
    try {
      await connection.close();
    } finally {
      this.open -= 1;
      this.closing.add(this.clock.now() - startNs);
    }
  }

  /**
   * @param {number} count number of connections from now on, all idle
   * @param {number} [pipeline] requests in flight per connection
   */
  async keep(count, pipeline = 1) {
    while (this.kept.length < count) {
      const connection = await this.enter();
      const one = { connection, free: () => void this.idle.push(one) };
      this.kept.push(one);
    }
    this.idle = Array.from({ length: pipeline }, () => this.kept).flat();
  }

  /**
   * On a persistent connection. If none is idle (the warm-up has more in flight), they are shared
   * in turn.
   * @param {Ask} ask
   * @returns {Promise<any>} the return value of `ask`, unchanged
   */
  onKept(ask) {
    const { kept } = this;
    const one = this.idle.pop() ?? kept[(this.turn = (this.turn + 1) % kept.length)];
    const reply = ask(one.connection);
    // Runs before the caller resumes, so the connection is idle when the next request is issued.
    reply.then(one.free, one.free);
    return reply;
  }

  /**
   * On a new connection, which is closed before the reply is returned, so there are never more
   * connections than requests in flight.
   * @param {Ask} ask
   */
  async onOwn(ask) {
    const connection = await this.enter();
    const startNs = this.clock.now();
    try {
      const reply = await ask(connection);
      this.commanding.add(this.clock.now() - startNs);
      return reply;
    } finally {
      await this.leave(connection);
    }
  }

  async close() {
    const connections = this.kept.splice(0);
    this.idle = [];
    await Promise.all(connections.map(({ connection }) => this.leave(connection)));
  }
}

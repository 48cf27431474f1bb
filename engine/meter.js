/**
 * What a segment used: processor time of the client and of its servers, threads, memory. Brief
 * segments are read with clocks that stay open, which takes microseconds; long ones with all
 * threads of the servers, also those that were started meanwhile.
 */

/** @typedef {import('../measure/usage.js').Instruments} Instruments */
/** @typedef {import('./segment.js').Segment} Segment */
/** @typedef {import('./contender.js').ContenderSpec} ContenderSpec */
/** @typedef {ReturnType<Instruments['threadClocks']>} Clocks */

/** The server of the storage, among the names of further ones. */
const OWN = '';

export class Meter {
  /** @type {Map<string, Clocks>} */
  #servers = new Map();

  /**
   * @param {ContenderSpec} spec
   * @param {Instruments} instruments
   */
  constructor({ storage }, instruments) {
    this.instruments = instruments;
    /** @type {Map<string, readonly number[]>} */
    this.pids = new Map([[OWN, storage.serverPids]]);
    for (const { name, pids } of storage.others ?? []) this.pids.set(name, pids);
    this.thread = instruments.threadClocks([process.pid], { mainOnly: true });
  }

  /** When its connections are open, and with them the servers' threads. */
  open() {
    for (const [name, pids] of this.pids) {
      if (this.#servers.has(name) || pids.length === 0) continue;
      this.#servers.set(name, this.instruments.threadClocks(pids, {}));
    }
  }

  /**
   * @param {readonly string[]} others names of further servers that the load needs
   * @param {boolean} isBrief
   * @returns {Use}
   */
  begin(others, isBrief) {
    const clocks = [OWN, ...others].flatMap((name) => {
      const clock = this.#servers.get(name);
      return clock === undefined ? [] : [{ name, clock, pids: this.pids.get(name) ?? [] }];
    });
    return new Use(this, clocks, isBrief);
  }

  close() {
    this.thread.close();
    for (const clock of this.#servers.values()) clock.close();
  }
}

/** Readings before and after a segment. */
class Use {
  /** @type {{ bytes: number, operations: number } | null} */
  #pending = null;

  /**
   * @param {Meter} meter
   * @param {readonly { name: string, clock: Clocks, pids: readonly number[] }[]} servers
   * @param {boolean} isBrief
   */
  constructor(meter, servers, isBrief) {
    this.meter = meter;
    this.servers = servers;
    this.isBrief = isBrief;
    this.serversBefore = servers.map((one) => this.#readServer(one));
    this.client = this.#readClient();
    this.thread = meter.thread.read();
    this.startNs = meter.instruments.clock.now();
  }

  /** @param {Use['servers'][number]} server */
  #readServer({ clock, pids }) {
    const { instruments } = this.meter;
    return { threads: clock.read(), whole: this.isBrief ? null : instruments.servers(pids) };
  }

  #readClient() {
    const { instruments } = this.meter;
    return this.isBrief ? { ...instruments.cpu(), memory: null } : wholeClient(instruments);
  }

  /** The segment begins now: what was read before waited for its start. */
  restart() {
    this.client = this.#readClient();
    this.thread = this.meter.thread.read();
    this.startNs = this.meter.instruments.clock.now();
  }

  /** @param {number} operations of a burst, all of which are outstanding now */
  markIssued(operations) {
    const { memory } = this.#readClient();
    if (memory === null || this.client.memory === null) return;
    this.#pending = { bytes: memory.heapBytes - this.client.memory.heapBytes, operations };
  }

  /** @returns {Pick<Segment, 'client' | 'servers' | 'occupation' | 'pending'>} since it began */
  end() {
    const { memory: memoryBefore, ...before } = this.client;
    const { memory, ...after } = this.#readClient();
    // After it: schedstat of a thread that runs is as old as the last tick of the scheduler, unless
    // the CPU time has been asked for.
    const thread = this.meter.thread.read();
    const wallNs = this.meter.instruments.clock.now() - this.startNs;
    /** @type {Segment['servers']} */
    const servers = {};
    let own = null;
    for (const [i, server] of this.servers.entries()) {
      const now = this.#readServer(server);
      const earlier = this.serversBefore[i];
      const use = this.isBrief
        ? byClocks(earlier.threads, now.threads)
        : between(earlier.whole, now.whole);
      if (use !== null) servers[server.name] = use;
      if (server.name === OWN) own = threadsBetween(earlier.threads, now.threads);
    }
    return {
      client: {
        ...Object.fromEntries(
          Object.entries(after).map(([name, value]) => [
            name,
            value - /** @type {Record<string, number>} */ (before)[name],
          ]),
        ),
        ...(memory && {
          rssBytesBefore: memoryBefore?.rssBytes ?? null,
          rssBytesAfter: memory.rssBytes,
        }),
      },
      servers,
      occupation: {
        wallNs,
        runNs: thread && this.thread && thread.runNs - this.thread.runNs,
        waitNs: thread && this.thread && thread.waitNs - this.thread.waitNs,
        server: own ?? [],
      },
      pending: this.#pending,
    };
  }
}

/** @param {Instruments} instruments */
function wholeClient(instruments) {
  const { rssBytes, rssBytesMax: _peak, heapBytes, ...cpu } = instruments.client();
  return { ...cpu, memory: { rssBytes, heapBytes } };
}

/** @typedef {import('../measure/schedstat.js').ThreadTimes | null} Times */

/** @param {Times} before @param {Times} after @returns {import('./segment.js').ServerUse | null} */
function byClocks(before, after) {
  if (before === null || after === null) return null;
  return { cpu: [[before.runNs, after.runNs]], rssBytes: null, threads: {} };
}

/**
 * @param {Times} before
 * @param {Times} after
 * @returns {number[] | null} run and wait time of each thread; one that has ended is read as 0
 */
function threadsBetween(before, after) {
  if (before === null || after === null) return null;
  return Array.from(after.threads, (value, i) => Math.max(0, value - before.threads[i]));
}

/**
 * @param {import('../measure/usage.js').ServerUsage | null} before
 * @param {import('../measure/usage.js').ServerUsage | null} after
 * @returns {import('./segment.js').ServerUse | null} null: not readable
 */
function between(before, after) {
  if (before === null || after === null) return null;
  const threads = Object.entries(after.threadNs ?? {}).map(([thread, ns]) => [
    thread,
    [[before.threadNs?.[thread] ?? 0, ns]],
  ]);
  return {
    cpu: [[before.cpuNs, Math.max(before.cpuNs, after.cpuNs)]],
    rssBytes: after.rssBytes,
    threads: Object.fromEntries(threads),
  };
}

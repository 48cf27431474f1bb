/**
 * Resources used by a segment: CPU time of the client and of its servers, threads, memory. Brief
 * segments are read with clocks that stay open, which takes microseconds; long ones with all
 * threads of the servers, including threads started meanwhile.
 */

/** @typedef {import('../measure/usage.js').Instruments} Instruments */
/** @typedef {import('./segment.js').Segment} Segment */
/** @typedef {import('./contender.js').ContenderSpec} ContenderSpec */
/** @typedef {ReturnType<Instruments['threadClocks']>} Clocks */

/** Key of the storage's server among the names of further servers. */
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
    this.transfers = instruments.transferClock();
  }

  /** Opens the clocks after the connections, and thus the servers' threads, exist. */
  open() {
    for (const [name, pids] of this.pids) {
      if (this.#servers.has(name) || pids.length === 0) continue;
      this.#servers.set(name, this.instruments.threadClocks(pids, {}));
    }
  }

  /**
   * @param {readonly string[]} others names of further servers that the load uses
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
    this.transfers.close();
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
    this.transfers = meter.transfers.read();
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

  /** Restarts the segment now, without the time waited for its start. */
  restart() {
    this.client = this.#readClient();
    this.thread = this.meter.thread.read();
    this.transfers = this.meter.transfers.read();
    this.startNs = this.meter.instruments.clock.now();
  }

  /** @param {number} operations operations of a burst, all of them outstanding now */
  markIssued(operations) {
    const before = this.meter.transfers.read();
    const { memory } = this.#readClient();
    // Files read to determine the memory.
    this.transfers = sum(this.transfers, difference(before, this.meter.transfers.read()));
    if (memory === null || this.client.memory === null) return;
    this.#pending = { bytes: memory.heapBytes - this.client.memory.heapBytes, operations };
  }

  /**
   * @returns {Pick<Segment, 'client' | 'servers' | 'occupation' | 'pending'>} usage since its start
   */
  end() {
    // Reading memory opens files, unlike reading the CPU time, which therefore comes first.
    const early = this.isBrief ? null : this.meter.transfers.read();
    const { memory: memoryBefore, ...before } = this.client;
    const { memory, ...after } = this.#readClient();
    const transfers = difference(this.transfers, early ?? this.meter.transfers.read());
    // Read afterwards: schedstat of a running thread is as old as the last tick of the scheduler,
    // unless the CPU time has been requested.
    const thread = this.meter.thread.read();
    const wallNs = this.meter.instruments.clock.now() - this.startNs;
    /** @type {Segment['servers']} */
    const servers = {};
    let threads = null;
    for (const [i, server] of this.servers.entries()) {
      const now = this.#readServer(server);
      const earlier = this.serversBefore[i];
      const use = this.isBrief
        ? byClocks(earlier.threads, now.threads)
        : between(earlier.whole, now.whole);
      if (use !== null) servers[server.name] = use;
      if (server.name === OWN) threads = threadsBetween(earlier.threads, now.threads);
    }
    return {
      client: {
        ...difference(before, after),
        ...transfers,
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
        server: threads ?? [],
      },
      pending: this.#pending,
    };
  }
}

/**
 * @template {object} T
 * @param {T | null} before
 * @param {T | null} after
 * @returns {T | null} null: unreadable
 */
function difference(before, after) {
  return sum(after, before, -1);
}

/**
 * @template {object} T
 * @param {T | null} a
 * @param {T | null} b
 * @param {1 | -1} [sign] sign of b
 * @returns {T | null}
 */
function sum(a, b, sign = 1) {
  if (a === null || b === null) return null;
  const others = /** @type {Record<string, number>} */ (b);
  const sums = Object.entries(a).map(([name, value]) => [name, value + sign * others[name]]);
  return Object.fromEntries(sums);
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
 * @returns {number[] | null} run and wait time of each thread; 0 for a thread that has ended
 */
function threadsBetween(before, after) {
  if (before === null || after === null) return null;
  return Array.from(after.threads, (value, i) => Math.max(0, value - before.threads[i]));
}

/**
 * @param {import('../measure/usage.js').ServerUsage | null} before
 * @param {import('../measure/usage.js').ServerUsage | null} after
 * @returns {import('./segment.js').ServerUse | null} null: unreadable
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

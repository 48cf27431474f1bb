/**
 * CPU time of further servers, a proxy for instance, in the slices of one contender: of each load
 * those that it needs.
 */

import { ThreadClocks } from '../../measure/schedstat.js';

export class OtherServers {
  /** @type {Map<string, ThreadClocks>} */
  #clocks = new Map();
  /** @type {Map<string, number>} */
  #before = new Map();

  /**
   * @param {import('./storage-contender.js').SliceSpec} spec
   * @param {readonly import('./storage-contender.js').SliceLoad[]} loads
   */
  constructor({ benchmark }, loads) {
    this.servers = benchmark.others ?? [];
    this.names = loads.map(({ others = [] }) => others);
    /** @type {Record<string, { cpuNs: number }>[]} by load */
    this.sums = loads.map(() => ({}));
  }

  /** When their connections are open, and with them their threads. */
  open() {
    for (const { name, pids } of this.servers) this.#clocks.set(name, new ThreadClocks(pids));
  }

  /** @param {number} load whose slice begins */
  begin(load) {
    this.#before.clear();
    for (const name of this.names[load]) {
      const times = this.#clocks.get(name)?.read() ?? null;
      if (times !== null) this.#before.set(name, times.runNs);
    }
  }

  /** @param {number} load whose slice is over */
  add(load) {
    const sums = this.sums[load];
    for (const [name, before] of this.#before) {
      const times = this.#clocks.get(name)?.read() ?? null;
      if (times === null) continue;
      sums[name] = { cpuNs: (sums[name]?.cpuNs ?? 0) + times.runNs - before };
    }
  }

  close() {
    for (const clocks of this.#clocks.values()) clocks.close();
  }
}

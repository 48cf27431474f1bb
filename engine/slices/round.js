/**
 * One round of a comparison by slices: a fresh process per contender, all started together, opened,
 * checked and warmed up once; then blocks, in each of which every contender runs one slice of every
 * load, in an order drawn anew. Only one contender runs at a time: the parent hands the slices out.
 */

import { availableParallelism } from 'node:os';
import { createRandom, drawBelow, shuffled } from '../../lib/random.js';
import { systemClock } from '../../measure/clock.js';
import { ThreadClocks } from '../../measure/schedstat.js';
import { OccupancySum } from './occupancy.js';
import { OtherServers } from './other-servers.js';
import { Remote } from './remote.js';

/**
 * Blocks that are not counted. Contenders warm up side by side, which takes a third of the time but
 * says little of how fast each is alone: these blocks do, and set the length of the slices.
 */
export const LEAD_BLOCKS = 3;
/** A slice of a window has this many windows at least. */
const WINDOWS_MIN = 4;

/** After so many slices with failed operations a contender is asked no more: each may time out. */
const INVALID_MAX = 2;
/** Of a round whose time is limited. */
const BLOCKS_LEAST = 4;

/** @typedef {import('./storage-contender.js').SliceSpec} SliceSpec */
/** @typedef {import('./storage-contender.js').SliceRecord} SliceRecord */
/** @typedef {import('./storage-contender.js').SeriesRecord} SeriesRecord */
/** @typedef {import('./storage-contender.js').SliceLoad} SliceLoad */

/**
 * @typedef {object} Entrant
 * @property {string} name
 * @property {SliceSpec} spec
 * @property {number[]} serverPids
 * @property {number} every how many blocks it runs: 1 in each, 4 where a coarse figure is enough
 *
 * @typedef {SliceRecord & { serverCpuNs: number | null,
 *   serverWaitNs: number | null, gapNs: number }} Slice gapNs: since the end
 *   of the slice before it
 *
 * @typedef {object} ContenderRound
 * @property {(Slice | null)[][]} slices by load and block; null: not in this block
 * @property {SeriesRecord[]} series by load
 * @property {number[]} warmNs ns per operation after the warm-up, by load
 * @property {Record<string, { cpuNs: number }>[]} [others] CPU time of further servers, by load
 * @property {({ cpuNs: number } | null)[]} [servers] CPU time of its server in all slices, by load
 * @property {{ client: number | null, server: number | null }[]} [occupancy] of the main thread and
 *   of the busiest thread of its server, by load
 * @property {import('../../lib/fleet.js').RoundAgent[][]} [agents] of several machines, by load
 * @property {{ code: string, message: string } | null} failure
 *
 * @typedef {object} RoundOptions
 * @property {number} round
 * @property {number} blocks
 * @property {number} orderSeed
 * @property {number} sliceNs
 * @property {number} [leadBlocks] where a block takes long, fewer than three
 * @property {(leadNs: number) => number} [fitBlocks] of the first round: how many blocks fit, by
 *   what the last of the lead blocks took; no more than `blocks`
 * @property {number} [warmNsMax] of a process
 * @property {() => boolean} [isOver] its time is: no further block begins, but four run in any case
 * @property {readonly number[]} [cpus] where the main threads of the contenders stay once they are
 *   warm; absent: anywhere
 * @property {AbortSignal} [signal]
 * @property {import('./placement.js').Placement} [placement] of client and servers, by load
 * @property {(phase: string, share: number) => void} [onPhase] share of the round
 * @property {(blocks: number, done: ContenderRound[]) => unknown} [onBlock] after each block that
 *   counts, with so many of them; awaited, so that no slice runs meanwhile
 */

/**
 * @param {readonly Entrant[]} entrants
 * @param {readonly SliceLoad[]} loads
 * @param {RoundOptions} options
 * @returns {Promise<ContenderRound[]>} in the order of the entrants
 */
export async function runRound(entrants, loads, options) {
  const { round, orderSeed, signal, sliceNs, placement, onPhase } = options;
  const { leadBlocks = LEAD_BLOCKS } = options;
  const cpus = placement?.client ?? options.cpus;
  const random = createRandom(orderSeed, 0x626c0000 + round);
  const seats = entrants.map((entrant) => new Seat(entrant, loads, sliceNs));
  const onAbort = () => {
    for (const seat of seats) seat.remote.kill();
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    onPhase?.('opening', 0);
    // In a new order in every round: the last ones to warm up have the machine to themselves.
    const start = shuffled(seats, random);
    await Promise.all(start.map((seat) => seat.open(options.warmNsMax)));
    onPhase?.('warming up', 0.1);
    await warmAll(start);
    if (cpus !== undefined) await Promise.all(seats.map((seat) => seat.remote.pin(cpus)));
    let leadNs = 0;
    for (let block = 0; block < leadBlocks; block += 1) {
      const startNs = systemClock.now();
      await runBlocks(seats, loads, 1, { ...options, random, lead: true });
      leadNs = systemClock.now() - startNs;
      for (const seat of seats) seat.calibrate();
    }
    for (const seat of seats) seat.lead = false;
    const blocks = Math.min(options.blocks, options.fitBlocks?.(leadNs) ?? options.blocks);
    await runBlocks(seats, loads, blocks, { ...options, random, lead: false });
    // One after the other: a workload may still measure something beside, alone.
    for (const seat of seats) await seat.end();
  } finally {
    signal?.removeEventListener('abort', onAbort);
    for (const seat of seats) seat.close();
  }
  return seats.map(({ result }) => result);
}

/**
 * As many at a time as there are processors: more would warm up no faster.
 * @param {readonly Seat[]} seats
 */
export async function warmAll(seats) {
  let next = 0;
  const worker = async () => {
    while (next < seats.length) {
      next += 1;
      await seats[next - 1].warm();
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/**
 * Load by load within a block, so that the slices that are compared are next to each other. A load
 * that cannot be sliced runs once, all contenders one after the other in a block that is drawn.
 * @param {readonly Seat[]} seats
 * @param {readonly SliceLoad[]} loads
 * @param {number} blocks
 * @param {RoundOptions & { random: () => number, lead: boolean }} options
 */
async function runBlocks(seats, loads, blocks, options) {
  const { random, lead, signal, placement, onPhase } = options;
  /** @type {number[]} */
  let order = [];
  let endNs = 0;
  const wholeAt = loads.map(() => drawBelow(random, blocks));
  for (let block = 0; block < blocks; block += 1) {
    if (signal?.aborted) return;
    if (!lead && block >= BLOCKS_LEAST && options.isOver?.()) return;
    if (!lead) onPhase?.(`block ${block + 1} of ${blocks}`, 0.3 + (0.7 * block) / blocks);
    order = orderOfLoads(order, loads.length, random, placement);
    for (const load of order) {
      await placement?.apply(load);
      const { whole = false } = loads[load];
      if (whole && lead) continue;
      for (const seat of shuffled(seats, random)) {
        if (seat.isOut()) continue;
        if (!seat.has(load)) {
          if (!lead) seat.result.slices[load].push(null);
          continue;
        }
        const due = whole ? block === wholeAt[load] : seat.isDue(load, block);
        if (due) endNs = await seat.slice(load, endNs);
        else seat.result.slices[load].push(null);
      }
    }
    const done = seats.map(({ result }) => result);
    if (!lead) await options.onBlock?.(block + 1, done);
  }
}

/**
 * Where servers have to be moved between loads, those of one place follow each other, and a block
 * begins at the place where the one before ended: they are moved once per block.
 * @param {number[]} before of the block before; empty: there is none
 * @param {number} loads
 * @param {() => number} random
 * @param {import('./placement.js').Placement} [placement]
 * @returns {number[]}
 */
export function orderOfLoads(before, loads, random, placement) {
  const order = shuffled(
    Array.from({ length: loads }, (_, i) => i),
    random,
  );
  if (!placement?.moves) return order;
  const placeOf = (/** @type {number} */ load) => placement.stored[load].kind;
  const places = [...new Set((before.length > 0 ? before.toReversed() : order).map(placeOf))];
  return places.flatMap((place) => order.filter((load) => placeOf(load) === place));
}

/** A contender in a round: its process and its outcome. */
export class Seat {
  /**
   * @param {Entrant} entrant
   * @param {readonly SliceLoad[]} loads
   * @param {number} sliceNs
   */
  constructor({ spec, serverPids, every }, loads, sliceNs) {
    this.every = every;
    this.sliceNs = sliceNs;
    this.spec = spec;
    this.loads = loads;
    this.serverPids = serverPids;
    this.remote = new Remote({ runtime: spec.benchmark.runtime });
    /** @type {ThreadClocks | null} */
    this.server = null;
    this.lead = true;
    /** ns per operation by load, the least of the lead blocks. @type {number[]} */
    this.costs = loads.map(() => Number.NaN);
    /** @type {{ operations: number, repetitions: number }[]} */
    this.sizes = [];
    /** @type {ContenderRound} */
    this.result = { slices: loads.map(() => []), series: [], warmNs: [], failure: null };
    this.invalid = 0;
    this.occupancy = loads.map(() => new OccupancySum());
    this.others = new OtherServers(spec, loads);
    /** Each slice is prepared and settled, by load. @type {boolean[]} */
    this.renews = [];
    /** @type {boolean[]} by load */
    this.refused = [];
    /** CPU time in all slices, by load. */
    this.serverNs = loads.map(() => 0);
  }

  /** @param {number} load */
  has(load) {
    return this.spec.loads[load] !== null && !this.refused[load];
  }

  /** @returns {boolean} it takes no further part in the round */
  isOut() {
    return this.result.failure !== null || this.invalid >= INVALID_MAX;
  }

  /**
   * A program takes longer than a slice: its loads are spread over the blocks.
   * @param {number} load
   * @param {number} block
   */
  isDue(load, block) {
    if (this.spec.kind === 'program') return !this.lead && (block + load) % this.every === 0;
    return this.lead || block % this.every === 0;
  }

  /** @param {number} [warmNsMax] */
  async open(warmNsMax) {
    await this.guard(async () => {
      await this.remote.ask({ type: 'open', spec: { ...this.spec, warmNsMax } });
    });
  }

  async warm() {
    await this.guard(async () => {
      /** @type {import('./storage-contender.js').WarmRecord[]} */
      const warm = await this.remote.ask({ type: 'warm' });
      this.result.warmNs = warm.map(({ costNs }) => costNs);
      this.renews = warm.map(({ renews = false }) => renews);
      this.refused = warm.map(({ refused = false }) => refused);
      this.sizes = this.loads.map((load, i) => sizeOf(load, this.result.warmNs[i], this.sliceNs));
      // Its connections are open now, and with them the server's threads.
      this.server = new ThreadClocks(this.serverPids);
      this.others.open();
    });
  }

  calibrate() {
    this.sizes = this.loads.map((load, i) =>
      load.whole ? this.sizes[i] : sizeOf(load, this.costs[i], this.sliceNs),
    );
  }

  /**
   * @param {number} load
   * @param {number} beforeNs when the slice before it ended
   * @returns {Promise<number>} when this one ended
   */
  async slice(load, beforeNs) {
    let endNs = beforeNs;
    await this.guard(async () => {
      const size = this.sizes[load];
      if (this.renews[load]) await this.remote.ask({ type: 'prepare', load, ...size });
      const before = this.server?.read() ?? null;
      this.others.begin(load);
      const slice = await this.remote.ask({ type: 'slice', load, ...size });
      const after = this.server?.read() ?? null;
      this.others.add(load);
      if (this.renews[load]) await this.remote.ask({ type: 'settle', load });
      endNs = slice.endNs;
      if (slice.refused) {
        this.refused[load] = true;
        this.result.slices[load].push(null);
        return;
      }
      if (!slice.valid) this.invalid += 1;
      if (before !== null && after !== null) this.serverNs[load] += after.runNs - before.runNs;
      if (this.lead) {
        const cost = slice.spanNs / slice.spanOperations;
        // The least: a slice that lost its processor would make all of them too short.
        this.costs[load] = Number.isNaN(this.costs[load]) ? cost : Math.min(this.costs[load], cost);
        return;
      }
      const serverCpuNs = before === null || after === null ? null : after.runNs - before.runNs;
      const serverWaitNs = before === null || after === null ? null : after.waitNs - before.waitNs;
      if (slice.valid) this.occupancy[load].add(slice, before, after);
      const gapNs = beforeNs === 0 ? 0 : slice.startNs - beforeNs;
      this.result.slices[load].push({ ...slice, serverCpuNs, serverWaitNs, gapNs });
    });
    return endNs;
  }

  async end() {
    if (this.result.failure !== null) return;
    await this.guard(async () => {
      this.result.series = await this.remote.ask({ type: 'end' });
      this.result.occupancy = this.occupancy.map((one) => one.figures());
      this.result.servers = this.serverNs.map((cpuNs) => (cpuNs > 0 ? { cpuNs } : null));
      this.result.others = this.others.sums;
    });
  }

  close() {
    this.server?.close();
    this.others.close();
    this.remote.kill();
  }

  /** @param {() => Promise<void>} work */
  async guard(work) {
    if (this.result.failure !== null) return;
    try {
      await work();
    } catch (error) {
      this.result.failure = { code: String(error.code ?? 'ERROR'), message: String(error.message) };
    }
  }
}

/**
 * @param {SliceLoad} load
 * @param {number} costNs per operation
 * @param {number} sliceNs
 * @returns {{ operations: number, repetitions: number }} of a slice that takes about that long
 */
function sizeOf({ kind, inFlight, whole, sliceOperations }, costNs, sliceNs) {
  if (sliceOperations !== undefined) return { operations: sliceOperations, repetitions: 1 };
  if (whole) return { operations: inFlight, repetitions: 1 };
  const operations = Math.max(1, sliceNs / costNs);
  if (kind === 'burst') {
    return { operations: inFlight, repetitions: Math.max(1, Math.round(operations / inFlight)) };
  }
  const least = kind === 'sync' ? 1 : WINDOWS_MIN;
  const windows = Math.max(least, Math.round(operations / inFlight));
  return { operations: windows * inFlight, repetitions: 1 };
}

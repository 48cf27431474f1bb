/**
 * One round of a comparison by slices on one of several load machines: its contenders are opened
 * and warmed up as in a round on one machine (round.js), and each runs its slices at the times of
 * the timetable, which all machines have.
 */

import { createRandom, shuffled } from '../../lib/random.js';
import { Seat, warmAll } from './round.js';

/** @typedef {import('./timetable.js').Slot} Slot */
/** @typedef {import('./storage-contender.js').SliceSpec} SliceSpec */

/**
 * @typedef {object} TimedContender what one machine did of one contender
 * @property {import('./timed-process.js').TimedRecord[]} records
 * @property {import('./timed-process.js').TimedRun['occupancy']} occupancy
 * @property {import('./storage-contender.js').SeriesRecord[]} series by load
 * @property {number[]} warmNs
 * @property {{ code: string, message: string } | null} failure
 *
 * @typedef {object} TimedOptions
 * @property {readonly import('./storage-contender.js').SliceLoad[]} loads
 * @property {number} round
 * @property {number} orderSeed
 * @property {number} [warmNsMax]
 * @property {number} sliceNs
 * @property {number} rampNs of a slice, until all machines have begun it
 * @property {AbortSignal} signal
 * @property {() => Promise<number>} atStart when all are warm: the time at which the round begins,
 *   on the system's monotonic clock
 */

/**
 * @param {readonly (SliceSpec | null)[]} specs null: it runs on another machine
 * @param {readonly Slot[]} slots
 * @param {TimedOptions} options
 * @returns {Promise<(TimedContender | null)[]>} in their order
 */
export async function runTimedRound(specs, slots, options) {
  const { round, orderSeed, warmNsMax, signal, atStart } = options;
  const seats = specs.map((spec) => (spec === null ? null : new TimedSeat(spec, options.loads)));
  const own = seats.filter((seat) => seat !== null);
  const onAbort = () => {
    for (const seat of own) seat.remote.kill();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const order = shuffled(own, createRandom(orderSeed, 0x626c0000 + round));
    await Promise.all(order.map((seat) => seat.open(warmNsMax)));
    await warmAll(order);
    const startNs = await atStart();
    await Promise.all(
      seats.map((seat, i) => {
        const mine = [...slots.entries()].filter(([, { entrant }]) => entrant === i);
        return seat?.run(mine, startNs, options);
      }),
    );
    for (const seat of own) await seat.end();
  } finally {
    signal.removeEventListener('abort', onAbort);
    for (const seat of own) seat.close();
  }
  return seats.map((seat) => seat?.made ?? null);
}

class TimedSeat extends Seat {
  /** @param {SliceSpec} spec @param {TimedOptions['loads']} loads */
  constructor(spec, loads) {
    // The server's threads are read by the process that runs the slices.
    super({ name: '', spec, serverPids: [], every: 1 }, loads, 0);
    /** @type {import('./timed-process.js').TimedRun} */
    this.timed = { records: [], occupancy: [] };
  }

  /**
   * @param {readonly [number, Slot][]} slots with their indices
   * @param {number} startNs
   * @param {Pick<TimedOptions, 'sliceNs' | 'rampNs'>} length
   */
  async run(slots, startNs, { sliceNs, rampNs }) {
    await this.guard(async () => {
      this.timed = await this.remote.ask({
        type: 'timetable',
        timetable: {
          slots: slots.map(([slot, { load, lead, atNs }]) => {
            const from = startNs + atNs;
            const times = { startNs: from, fromNs: from + rampNs, endNs: from + sliceNs };
            return { slot, load, lead, times };
          }),
          loads: this.spec.loads.length,
          serverPids: this.spec.benchmark.serverPids ?? [],
        },
      });
    });
  }

  /** @returns {TimedContender} */
  get made() {
    const { warmNs, series, failure } = this.result;
    return { ...this.timed, warmNs, series, failure };
  }
}

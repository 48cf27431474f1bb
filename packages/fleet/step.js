/**
 * One step of a run on several machines: executed by all its agents at the same time, with the
 * upload of each.
 */

import { DragstripError } from '../../lib/errors.js';

/** @typedef {import('../../engine/segment.js').Failure} Failure */
/** @typedef {import('./leases.js').Lease} Lease */
/** @typedef {import('./upload.js').Upload} Upload */

export class Step {
  /** Start on the coordinator's clock; 0: not started. */
  atNs = 0;
  /** Seats that are ready. @type {Set<number>} */
  barrier = new Set();
  /** By seat. @type {Map<number, Upload>} */
  uploads = new Map();

  /**
   * @param {number} number counted from 1
   * @param {readonly Lease[]} leases participating leases
   * @param {import('./fleet-rounds.js').Order} order
   */
  constructor(number, leases, order) {
    this.number = number;
    this.leases = leases;
    this.order = order;
    // One contender: if it fails on one agent, the step fails.
    this.isWhole = order.timetable === undefined;
  }

  get isReady() {
    return this.barrier.size === this.leases.length;
  }

  /** @param {Lease[]} [of] */
  isUploaded(of = [...this.leases]) {
    return of.every(({ seat }) => this.uploads.has(seat));
  }

  /**
   * Stops waiting for agents that have not uploaded.
   * @param {Failure} failure
   */
  stopWaiting(failure) {
    for (const { seat, clock, state } of this.leases) {
      if (state === 'lost' || this.uploads.has(seat)) continue;
      this.uploads.set(seat, { seats: [], failure, clock, targets: {} });
    }
  }

  /** @returns {import('./merge-agents.js').Contribution[]} by agent, if uploaded */
  contributions() {
    return this.leases.flatMap(({ seat, agent, clock }) => {
      const { seats = [] } = this.uploads.get(seat) ?? {};
      return seats.length === 0 ? [] : [{ agent, seats, offsetNs: clock.offsetNs }];
    });
  }

  /**
   * @returns {Failure | null} failure of the first agent with an incomplete measurement
   * @throws {DragstripError} E_REFUSED: an agent refuses the server
   */
  failure() {
    /** @type {Failure | null} */
    let first = null;
    for (const { seat, agent } of this.leases) {
      const { failure = null, seats = [] } = this.uploads.get(seat) ?? {};
      if (failure?.code === 'E_REFUSED') {
        throw new DragstripError('E_REFUSED', `agent ${agent}: ${failure.message}`);
      }
      const found = failure ?? (this.isWhole ? failureOf(seats) : null);
      if (!found) continue;
      // Being stopped because of another failure is not a failure.
      if (first !== null && first.code !== 'E_ABORTED') continue;
      first = { code: found.code, message: `agent ${agent}: ${found.message}` };
    }
    return first;
  }
}

/** @param {Upload['seats']} seats */
function failureOf([seat]) {
  const failed = seat?.segments.flat().find((one) => one?.state === 'failed');
  return seat?.failure ?? failed?.failure;
}

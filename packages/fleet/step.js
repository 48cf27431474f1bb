/**
 * One step of a run on several machines: what all agents of it do at the same time, and what each
 * has uploaded.
 */

import { DragstripError } from '../../lib/errors.js';

/** @typedef {import('../../engine/segment.js').Failure} Failure */
/** @typedef {import('./leases.js').Lease} Lease */
/** @typedef {import('./upload.js').Upload} Upload */

export class Step {
  /** When it began, on the coordinator's clock; 0: it did not. */
  atNs = 0;
  /** Seats that are ready to begin. @type {Set<number>} */
  barrier = new Set();
  /** By seat. @type {Map<number, Upload>} */
  uploads = new Map();

  /**
   * @param {number} number counted from 1
   * @param {readonly Lease[]} leases that take part
   * @param {import('./fleet-rounds.js').Order} order
   */
  constructor(number, leases, order) {
    this.number = number;
    this.leases = leases;
    this.order = order;
    // One contender: where it fails on one agent, the step has failed.
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
   * Who has not uploaded is waited for no longer.
   * @param {Failure} failure
   */
  giveUp(failure) {
    for (const { seat, clock, state } of this.leases) {
      if (state === 'lost' || this.uploads.has(seat)) continue;
      this.uploads.set(seat, { seats: [], failure, clock, targets: {} });
    }
  }

  /** @returns {import('./merge-agents.js').Contribution[]} by agent, of those that uploaded */
  contributions() {
    return this.leases.flatMap(({ seat, agent, clock }) => {
      const { seats = [] } = this.uploads.get(seat) ?? {};
      return seats.length === 0 ? [] : [{ agent, seats, offsetNs: clock.offsetNs }];
    });
  }

  /**
   * @returns {Failure | null} of the first agent that has not measured all
   * @throws {DragstripError} E_REFUSED: an agent does not load the server
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
      // Stopped because another one failed is no reason.
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

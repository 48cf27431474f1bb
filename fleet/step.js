/**
 * One step of a run on several machines: what all agents of it do at the same time, and what each
 * has uploaded.
 */

import { DragstripError } from '../lib/errors.js';

/** @typedef {import('../engine/executor.js').Execution} Execution */
/** @typedef {import('./seats.js').Seat} Seat */
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
   * @param {readonly Seat[]} seats that take part
   */
  constructor(number, seats) {
    this.number = number;
    this.seats = seats;
  }

  get isReady() {
    return this.barrier.size === this.seats.length;
  }

  /** @param {Seat[]} [of] */
  isUploaded(of = [...this.seats]) {
    return of.every(({ seat }) => this.uploads.has(seat));
  }

  /** @returns {import('./merge.js').Contribution[]} by seat, of those that uploaded */
  contributions() {
    return this.seats.flatMap(({ seat, agent, clock }) => {
      const { executions = [] } = this.uploads.get(seat) ?? {};
      const records = executions.flatMap(({ record }) => record ?? []);
      return records.length === 0 ? [] : [{ agent, records, offsetNs: clock.offsetNs }];
    });
  }

  /** @returns {import('./merge-slices.js').SlicesOfAgent[]} likewise, of a round of slices */
  slices() {
    return this.seats.flatMap(({ seat, agent, clock }) => {
      const { contenders = [] } = this.uploads.get(seat) ?? {};
      return contenders.length === 0 ? [] : [{ agent, contenders, offsetNs: clock.offsetNs }];
    });
  }

  /**
   * @returns {Execution | null} of the first agent that has no whole record
   * @throws {DragstripError} E_REFUSED: an agent does not load the server
   */
  failure() {
    /** @type {{ code: string, message: string } | null} */
    let first = null;
    for (const { seat, agent } of this.seats) {
      const { failure = null, executions = [] } = this.uploads.get(seat) ?? {};
      if (failure?.code === 'E_REFUSED') {
        throw new DragstripError('E_REFUSED', `agent ${agent}: ${failure.message}`);
      }
      const found =
        failure ??
        executions.find(({ record }) => record === null)?.failure ??
        executions.find(({ record }) => record?.state === 'failed')?.record?.failure;
      if (!found) continue;
      const said = { code: found.code, message: `agent ${agent}: ${found.message}` };
      // Stopped because another one failed is no reason.
      if (first === null || first.code === 'E_ABORTED') first = said;
    }
    return first === null ? null : { record: null, failure: first, processNs: null };
  }
}

/**
 * Progress of a load: reported at most ten times per second, and added to the error when
 * the load breaks off.
 */

import { DragstripError } from '../../lib/errors.js';

const INTERVAL_MS = 100;

/** Counts rows; a timer reports, so that no clock is read per batch. */
export class Progress {
  /**
   * @param {import('../../lib/types.js').SeedContext} context
   * @param {string} command that continues the load, for the hint
   */
  constructor({ dataset, onProgress }, command) {
    this.rows = dataset.rows;
    /** rows that the server has acknowledged */
    this.rowsDone = 0;
    /** rows that were handed to the connection, where acknowledgements are far apart */
    this.rowsSent = 0;
    this.command = command;
    let reported = -1;
    this.report = () => {
      const rows = Math.max(this.rowsDone, this.rowsSent);
      if (rows === reported) return;
      reported = rows;
      onProgress?.(rows);
    };
    this.timer = setInterval(this.report, INTERVAL_MS);
    this.timer.unref();
  }

  /** Stops reporting, after a last report. */
  stop() {
    clearInterval(this.timer);
    this.report();
  }

  /**
   * @param {any} error what broke the load off
   * @returns {any} the same, with how far it came and how it goes on
   */
  interrupted(error) {
    if (!(error instanceof DragstripError)) return error;
    if (error.code !== 'E_TARGET' && error.code !== 'E_ABORTED') return error;
    const { rows, rowsDone, command } = this;
    const again = `\`${command}\` again continues from there`;
    return new DragstripError(error.code, `${error.message}, after ${rowsDone} of ${rows} rows`, {
      hint: error.hint === undefined ? again : `${error.hint}; ${again}`,
      cause: error.cause ?? error,
    });
  }
}

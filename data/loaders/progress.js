/**
 * Progress of a load: reported at most ten times per second, and added to the error if the load is
 * interrupted.
 */

import { DragstripError } from '../../lib/errors.js';

const INTERVAL_MS = 100;

/** Counts rows; a timer reports, so that no clock is read per batch. */
export class Progress {
  /**
   * @param {import('../../lib/types.js').SeedContext} context
   * @param {string} command command that continues the load, for the hint
   */
  constructor({ dataset, onProgress }, command) {
    this.rows = dataset.rows;
    /** rows acknowledged by the server */
    this.rowsDone = 0;
    /** rows passed to the connection, if acknowledgements are infrequent */
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
   * @param {any} error cause of the interruption
   * @returns {any} the same error with the progress, and with a hint on how to continue
   */
  interrupted(error) {
    if (!(error instanceof DragstripError)) return error;
    if (error.code !== 'E_TARGET' && error.code !== 'E_ABORTED') return error;
    const { rows, rowsDone, command } = this;
    const again = `run \`${command}\` again to continue`;
    return new DragstripError(error.code, `${error.message}, after ${rowsDone} of ${rows} rows`, {
      hint: error.hint === undefined ? again : `${error.hint}; ${again}`,
      cause: error.cause ?? error,
    });
  }
}

/**
 * What a person sees while work goes on: on a terminal one line that is drawn again, at most four
 * times a second; elsewhere a plain line every few seconds. Only the parent process draws.
 */

import { createLogUpdate } from 'log-update';
import pc from 'picocolors';
import { systemClock } from '../measure/clock.js';

const DRAW_EVERY_NS = 250e6;
const LINE_EVERY_NS = 5e9;
const BAR_WIDTH = 24;

/**
 * @typedef {object} Progress
 * @property {(text: string, share?: number | null) => void} update text and, where known, how much
 *   of the work is done, 0 to 1
 * @property {(line?: string) => void} done removes the line, and leaves another where one is given
 */

/**
 * @param {NodeJS.WriteStream} stream
 * @param {{ quiet?: boolean }} [options]
 * @returns {Progress}
 */
export function createProgress(stream, { quiet = false } = {}) {
  if (quiet) {
    return { update() {}, done() {} };
  }
  return stream.isTTY ? terminalProgress(stream) : plainProgress(stream);
}

/**
 * @param {NodeJS.WriteStream} stream
 * @returns {Progress}
 */
function terminalProgress(stream) {
  const draw = createLogUpdate(stream, { showCursor: true });
  let drawnNs = Number.NEGATIVE_INFINITY;
  return {
    update(text, share = null) {
      const nowNs = systemClock.now();
      if (nowNs - drawnNs < DRAW_EVERY_NS) return;
      drawnNs = nowNs;
      draw(share === null ? text : `${bar(share)} ${text}`);
    },
    done(line) {
      draw.clear();
      draw.done();
      drawnNs = Number.NEGATIVE_INFINITY;
      if (line !== undefined) stream.write(`${line}\n`);
    },
  };
}

/**
 * @param {NodeJS.WriteStream} stream
 * @returns {Progress}
 */
function plainProgress(stream) {
  let writtenNs = systemClock.now();
  return {
    update(text, share = null) {
      const nowNs = systemClock.now();
      if (nowNs - writtenNs < LINE_EVERY_NS) return;
      writtenNs = nowNs;
      stream.write(share === null ? `${text}\n` : `${text} (${Math.floor(share * 100)} %)\n`);
    },
    done(line) {
      writtenNs = systemClock.now();
      if (line !== undefined) stream.write(`${line}\n`);
    },
  };
}

/** @param {number} share 0 to 1 */
function bar(share) {
  const full = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH);
  return `${pc.cyan('█'.repeat(full))}${pc.dim('░'.repeat(BAR_WIDTH - full))}`;
}

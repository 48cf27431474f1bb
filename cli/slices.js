/**
 * Which runs of the race and the two runners are measured by slices: those whose amount is not
 * fixed by hand, under loads that can be sliced.
 */

import { usageError } from '../lib/errors.js';

/** @typedef {Record<string, any>} Given parsed options by their names in OPTIONS */

const DEFAULTS = Object.freeze({ precision: 0.03, budget: 120_000 });
/** In flight in the second load of a race. */
export const WINDOW_OF_RACE = 100;

/**
 * @param {string} command `race`, `async` or `sync`
 * @param {Given} given
 * @returns {{ precision: number, budget: number, placement?: string } | null} null: by whole
 *   benchmarks
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where they are asked for in vain
 */
export function slicesOf(command, given) {
  const { precision, budget, placement, rounds } = given;
  const isAsked = (precision ?? budget ?? placement) !== undefined;
  const reason = whyWhole(command, given);
  if (isAsked && reason !== null) {
    throw usageError(
      `--precision, --budget and --placement cannot be used here: ${reason}`,
      'leave them out, or the option that fixes the amount',
    );
  }
  const byDefault = command === 'race' ? rounds !== 1 : rounds > 1;
  if (reason !== null || !(isAsked || byDefault)) return null;
  return {
    precision: precision ?? DEFAULTS.precision,
    budget: budget ?? DEFAULTS.budget,
    ...(placement && { placement }),
  };
}

/**
 * @param {string} command
 * @param {Given} given
 * @returns {string | null} why it runs whole
 */
function whyWhole(command, given) {
  const { load, inFlight, rounds, agents, processes = [1] } = given;
  if (agents !== undefined) return 'several machines share whole loads';
  for (const name of ['ops', 'duration', 'warmup']) {
    if (given[name] !== undefined) return `--${name} fixes the amount`;
  }
  if (given['findMax'] || given['p99'] !== undefined) return 'a search has trials of its own';
  const isOpen = (given['ramp'] ?? given['rate']) !== undefined || load === 'rate';
  if (isOpen) return 'an open loop cannot be sliced';
  if (load === 'burst' || (command === 'async' && load === undefined && inFlight === undefined)) {
    return 'a burst cannot be sliced';
  }
  if (given['mix'] !== undefined) return 'a mix cannot be sliced';
  if (processes.some((/** @type {number} */ n) => n > 1)) return 'several processes share a load';
  return rounds === 1 ? 'slices take two rounds or more' : null;
}

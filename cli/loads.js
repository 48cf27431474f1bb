/**
 * From the options of the command line to the loads of a run, or to a search of the greatest rate.
 * What cannot go together is refused here in one line, before anything is opened.
 */

import { BURST_MAX } from '../engine/plan.js';
import { usageError } from '../lib/errors.js';
import { RACE_DEFAULTS } from './options.js';
import { WINDOW_OF_RACE } from './slices.js';

/** @typedef {import('../index.js').RunOptions} RunOptions */
/** @typedef {NonNullable<RunOptions['loads']>[number]} LoadOption */
/** @typedef {Record<string, any>} Given parsed options by their names in OPTIONS */

/** Options of an open loop alone, and their flags. */
const BELONGS = Object.freeze({
  arrivals: '--arrivals',
  maxInFlight: '--max-in-flight',
});

/**
 * @param {string} command `race`, `async` or `sync`
 * @param {Given} given
 * @returns {Pick<RunOptions, 'loads' | 'findMax'>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function loadsOf(command, given) {
  if (given.findMax || given.p99 !== undefined) return { findMax: toSearch(given) };
  if (given.ramp !== undefined) return { loads: toRamp(given) };
  if (given.rate !== undefined || given.load === 'rate') return { loads: [toRate(given)] };
  for (const [name, flag] of Object.entries(BELONGS)) {
    if (given[name] !== undefined) {
      throw usageError(`${flag}: it belongs to an open loop`, 'add --rate 10k, or a --ramp');
    }
  }
  if (given.load !== undefined) return { loads: [toClosed(command, given)] };
  return { loads: toDefaults(command, given) };
}

/**
 * @param {Given} given
 * @returns {NonNullable<RunOptions['findMax']>}
 */
function toSearch({ findMax, p99, rate, load, ramp, inFlight, ops, rounds, ...given }) {
  if (!findMax) throw usageError('--p99 requires --find-max', 'add --find-max');
  if (p99 === undefined) throw usageError('--find-max requires a limit', 'add --p99 5ms');
  refuseBeside('--find-max', { '--ramp': ramp, '--in-flight': inFlight, '--rounds': rounds });
  if (ops !== undefined) {
    throw usageError('--find-max and --ops: its trials last for a time', 'use --duration 3s');
  }
  refuseOtherLoad('--find-max', load);
  return {
    percentile: 0.99,
    limitMs: p99,
    start: rate,
    durationMs: given.duration,
    arrivals: given.arrivals,
    maxInFlight: given.maxInFlight,
  };
}

/**
 * @param {Given} given
 * @returns {LoadOption[]}
 */
function toRamp({ ramp, rate, load, inFlight, ...given }) {
  refuseBeside('--ramp', { '--rate': rate, '--in-flight': inFlight });
  refuseOtherLoad('--ramp', load);
  return ramp.map((/** @type {number} */ step) => toRate({ ...given, rate: step }));
}

/**
 * @param {Given} given
 * @returns {LoadOption}
 */
function toRate({ rate, load, inFlight, ops, duration, arrivals, maxInFlight }) {
  if (rate === undefined) {
    throw usageError('--load rate: how many a second?', 'add --rate 10k, or use --ramp');
  }
  refuseOtherLoad('--rate', load);
  if (inFlight !== undefined) {
    throw usageError(
      '--in-flight cannot be used with an open loop',
      'limit them by --max-in-flight, or leave out --rate',
    );
  }
  return { kind: 'rate', rate, arrivals, maxInFlight, operations: ops, durationMs: duration };
}

/**
 * @param {string} command
 * @param {Given} given
 * @returns {LoadOption}
 */
function toClosed(command, { load, inFlight, ops, duration }) {
  if (load !== 'window' && inFlight !== undefined) {
    throw usageError(`--in-flight: it belongs to a window, not to ${load}`, 'use --load window');
  }
  if (load === 'burst') return toBurst(command, { ops, duration });
  return { kind: load, inFlight, operations: ops, durationMs: duration };
}

/**
 * Without --load: one in flight, then all at once or a window, as the original program's two
 * runners.
 * @param {string} command
 * @param {Given} given
 * @returns {LoadOption[]}
 */
function toDefaults(command, { ops, duration, inFlight, slices }) {
  if (slices && command === 'race') {
    return [{ kind: 'sync' }, { kind: 'window', inFlight: inFlight ?? WINDOW_OF_RACE }];
  }
  const timed = duration !== undefined;
  const operations = command === 'race' && !timed ? (ops ?? RACE_DEFAULTS['syncOperations']) : ops;
  /** @type {LoadOption} */
  const sync = { kind: 'sync', operations, durationMs: duration };
  if (command === 'sync') return [sync];
  /** @type {LoadOption} */
  const many =
    inFlight === undefined
      ? toBurst(command, { ops, duration })
      : { kind: 'window', inFlight, operations: ops, durationMs: duration };
  return command === 'async' ? [many] : [sync, many];
}

/**
 * @param {string} command
 * @param {Given} given
 * @returns {LoadOption}
 */
function toBurst(command, { ops, duration }) {
  if (duration !== undefined) {
    throw usageError(
      '--duration cannot be used with a burst, which has a fixed number of requests',
      'add --in-flight 100 for a window, or use --ops',
    );
  }
  if (ops > BURST_MAX) {
    throw usageError(
      `--ops ${ops}: all requests at once are ${BURST_MAX} at most`,
      'add --in-flight 100 for a window',
    );
  }
  const byDefault = command === 'race' ? RACE_DEFAULTS['burstOperations'] : undefined;
  return { kind: 'burst', operations: ops ?? byDefault };
}

/**
 * @param {string} flag
 * @param {Record<string, unknown>} others by flag
 */
function refuseBeside(flag, others) {
  for (const [other, value] of Object.entries(others)) {
    if (value !== undefined) throw usageError(`${flag} and ${other} do not go together`);
  }
}

/**
 * @param {string} flag
 * @param {string | undefined} load
 */
function refuseOtherLoad(flag, load) {
  if (load === undefined || load === 'rate') return;
  throw usageError(`${flag} is an open loop, --load ${load} is not`, 'leave out one of them');
}

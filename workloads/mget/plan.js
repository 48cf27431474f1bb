/** Plan of `dragstrip mget concurrency` and `mget scatter`: series of fetches. */

import { usageError } from '../../lib/errors.js';
import { count, counts, flag, reading, text, texts } from '../../lib/options.js';
import { addressOptions, redisAddress } from '../redis-address.js';
import { rowsNamespace } from '../rows-namespace.js';
import { HELD_KEYS, KEY_COUNTS, KEYS_MAX, operationsOf } from './fetches.js';

/** @typedef {import('../../lib/types.js').LoadOption} LoadOption */

const OPERATIONS_MAX = 50_000_000;
const IN_FLIGHT_MAX = 10_000;
const CYCLES = 100;
/** Fetches in flight: doubled from the minimum to the maximum. */
const IN_FLIGHT = Object.freeze({ min: 1, max: 16 });
const CONCURRENCY = Object.freeze({ tests: ['concurrency'] });
const SCATTER = Object.freeze({ tests: ['scatter'] });

/** Namespace of the keys during a run. */
export const namespace = rowsNamespace('mget');

export const tests = Object.freeze({
  concurrency: 'a table of medians, numbers of keys by fetches in flight',
  scatter: 'one line per fetch: number of keys and duration; or a gnuplot script',
});

/** @type {import('../../lib/options.js').OptionTable} */
export const options = Object.freeze({
  ...addressOptions,
  password: reading(refusePassword, {
    also: ['-a'],
    help: 'refused: others can read it; see --password-from-env',
  }),
  passwordFromEnv: text({
    value: '<name>',
    help: 'environment variable with Redis’ password',
    shown: 'DRAGSTRIP_REDIS_PASSWORD',
  }),
  db: count(0, 2 ** 31 - 1, 0, { also: ['-n'], help: 'Redis’ database' }),
  counts: counts(1, KEYS_MAX, KEY_COUNTS, {
    ...CONCURRENCY,
    help: 'keys per fetch; several: each number in turn',
    shown: '1, 1, 5, 10 … 100',
  }),
  cycles: count(1, 1_000_000, undefined, {
    help: 'fetches per number of keys',
    shown: String(CYCLES),
  }),
  inFlight: counts(1, IN_FLIGHT_MAX, undefined, {
    also: ['-c', '--concurrency'],
    help: 'fetches in flight; several (1,4,16): each in turn',
    shown: `doubled from ${IN_FLIGHT.min} to ${IN_FLIGHT.max}; scatter: ${IN_FLIGHT.min}`,
  }),
  minConc: count(1, IN_FLIGHT_MAX, undefined, {
    ...CONCURRENCY,
    help: 'fewest fetches in flight',
    shown: String(IN_FLIGHT.min),
  }),
  maxConc: count(1, IN_FLIGHT_MAX, undefined, {
    ...CONCURRENCY,
    help: 'most fetches in flight; doubled up to this',
    shown: String(IN_FLIGHT.max),
  }),
  minKeys: count(1, KEYS_MAX, 1, { ...SCATTER, help: 'fewest keys per fetch' }),
  maxKeys: count(1, KEYS_MAX, 100, { ...SCATTER, help: 'most keys per fetch' }),
  gnuplot: flag({ ...SCATTER, help: 'print a gnuplot script that writes a PNG' }),
  gnuplotExtra: texts({
    ...SCATTER,
    value: '<line>',
    help: 'line to add to the gnuplot script; may be repeated',
  }),
  pool: flag({ help: 'one connection per fetch in flight, like a pooled client' }),
  pipelined: flag({ help: 'also read the same keys by pipelined single reads' }),
});

export const shared = Object.freeze({
  storages: {
    default: ['ioredis'],
  },
  rows: { default: HELD_KEYS, help: 'number of stored keys' },
  // Its figures are bytes per second for values of equal length.
  valueSize: count(8, 2 ** 24, 2048, { flag: 'data-size', help: 'characters per value' }),
  warmupOperations: 500,
  against: null,
});

/**
 * Arguments are visible to every user of the machine.
 * @param {string} _text
 * @param {string} label
 * @returns {never}
 */
function refusePassword(_text, label) {
  throw usageError(
    `${label}: passwords are not accepted on the command line, where other users can read them`,
    'set DRAGSTRIP_REDIS_PASSWORD or DRAGSTRIP_REDIS_PASSWORD_FILE, or name a variable: ' +
      '--password-from-env NAME',
  );
}

/**
 * @param {Record<string, any>} planOptions
 * @param {import('../../lib/types.js').PlanContext} context
 * @returns {import('../../lib/types.js').WorkloadPlan}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function plan(planOptions, { test, storages, loads: asked, addresses = {} }) {
  const {
    counts: sizes,
    cycles,
    pipelined = false,
    pool = false,
    minKeys,
    maxKeys,
    rows,
  } = planOptions;
  requirePlottable(planOptions, storages);
  const scatter = test === 'scatter' ? { minKeys, maxKeys } : undefined;
  requireHeld(scatter ?? { minKeys: 1, maxKeys: Math.max(...sizes) }, rows);
  /** @type {readonly LoadOption[]} */
  const loads =
    asked ?? inFlightOf(test, planOptions).map((inFlight) => ({ kind: 'window', inFlight }));
  for (const { kind, processes = 1 } of loads) {
    if ((kind === 'window' || kind === 'sync') && processes === 1) continue;
    throw usageError('mget is a closed loop in one process', 'give a window, or one in flight');
  }
  const lead = Math.max(...loads.map(({ inFlight = 1 }) => inFlight));
  const mget = {
    ...(scatter === undefined ? { counts: [...sizes] } : { scatter }),
    cycles: cycles ?? CYCLES,
    lead,
  };
  const operations = operationsOf(mget);
  const reason = scatter
    ? 'each fetch of a scatter has its own number of keys'
    : cycles && '--cycles fixes the amount';
  if (operations > OPERATIONS_MAX) {
    const what = `${operations} fetches in one test: ${OPERATIONS_MAX} at most`;
    throw usageError(what, 'fewer cycles');
  }
  return {
    loads: loads.map(({ kind, inFlight }) => ({
      kind,
      inFlight,
      operations,
      ...(reason !== undefined && { whole: reason }),
    })),
    shared: { redisDb: planOptions['db'], addresses: redisAddress(planOptions, addresses) },
    workload: {
      workloads: pipelined ? ['mget', 'mget-single'] : ['mget'],
      workloadOptions: { mget, ...(pool && { pool }) },
    },
  };
}

/**
 * @param {{ minKeys: number, maxKeys: number }} range
 * @param {number} rows
 */
function requireHeld({ minKeys, maxKeys }, rows) {
  if (minKeys > maxKeys) {
    throw usageError(`--min-keys ${minKeys} is more than --max-keys ${maxKeys}`, 'exchange them');
  }
  if (maxKeys <= rows) return;
  throw usageError(
    `a fetch of ${maxKeys} keys, but only ${rows} are stored`,
    'raise --rows, or fetch fewer',
  );
}

/**
 * @param {Record<string, any>} given
 * @param {readonly import('../../lib/types.js').ChosenStorage[]} storages
 */
function requirePlottable({ gnuplot, gnuplotExtra, pipelined }, storages) {
  if (gnuplotExtra !== undefined && !gnuplot) {
    throw usageError('--gnuplot-extra needs --gnuplot', 'add --gnuplot');
  }
  const alone = storages.length === 1 && storages[0].definition !== null && !pipelined;
  if (gnuplot && !alone) {
    throw usageError('--gnuplot plots one storage', 'name one by --storages, without --pipelined');
  }
}

/**
 * @param {string | undefined} test
 * @param {Record<string, any>} given
 * @returns {number[]} fetches in flight: doubled from the minimum to the maximum
 */
function inFlightOf(test, { inFlight, minConc, maxConc }) {
  if (test === 'scatter' && inFlight?.length > 1) {
    throw usageError('--in-flight: scatter accepts one number', 'such as --in-flight 4');
  }
  if (inFlight !== undefined) {
    if ((minConc ?? maxConc) === undefined) return inFlight;
    throw usageError(
      '--in-flight and --min-conc or --max-conc cannot be combined',
      'leave one out',
    );
  }
  if (test === 'scatter') return [IN_FLIGHT.min];
  const { min, max } = { min: minConc ?? IN_FLIGHT.min, max: maxConc ?? IN_FLIGHT.max };
  if (min > max) {
    throw usageError(`--min-conc ${min} is more than --max-conc ${max}`, 'exchange them');
  }
  const steps = [];
  for (let k = min; k <= max; k *= 2) steps.push(k);
  return steps;
}

/**
 * The point read as commands: the race, and the two runners of the original program. Each is the
 * workload with different defaults.
 */

import { flag } from '../../lib/options.js';
import { options } from './plan.js';

/** @typedef {import('../../lib/types.js').LoadOption} LoadOption */
/** @typedef {import('../../lib/types.js').WorkloadDefinition} WorkloadDefinition */

/**
 * The race is short enough for `npm start` to end within three minutes, including its first set-up.
 */
const RACE = Object.freeze({ rounds: 5, warmup: 2000, sync: 2000, inFlight: 100 });
/** Options that require several requests in flight. */
const ONE_IN_FLIGHT = Object.freeze({
  inFlight: null,
  load: null,
  rate: null,
  arrivals: null,
  maxInFlight: null,
  onOutage: null,
  ramp: null,
  search: null,
  p99: null,
  connections: null,
});
/** One in flight is sync. */
const RACE_IN_FLIGHT = 'one, then k in flight (--load window: only k); several: each in turn';
const ASYNC_IN_FLIGHT =
  'keep k requests in flight instead of sending all at once; several: each in turn';

/** Defaults in the source of both runners of the original program. */
const ORIGINAL = Object.freeze({
  ...options,
  likeOriginal: flag({
    help: 'as the original program: 1,000,000 rows, 500,000 operations, its storages and order',
    implies: {
      rows: 1_000_000,
      ops: [500_000],
      storages: ['redis', 'ioredis', 'node-handlersocket', 'manual-hs'],
    },
  }),
});

const windows = (/** @type {readonly number[]} */ inFlight) =>
  inFlight.map((k) => /** @type {LoadOption} */ ({ kind: 'window', inFlight: k }));
const sync = /** @type {LoadOption} */ ({ kind: 'sync' });
const runHooks = () => import('./original.js');

/** @type {Readonly<Record<string, Partial<WorkloadDefinition>>>} */
export const presets = Object.freeze({
  race: {
    slices: 'default',
    isRace: true,
    shared: {
      rounds: {
        default: RACE.rounds,
        shown: `as --precision requires; without it ${RACE.rounds}`,
      },
      warmupOperations: {
        default: RACE.warmup,
        shown: `until steady; open loops and bursts ${RACE.warmup}`,
      },
      ops: {
        shown: `as --precision requires; without it sync ${RACE.sync}, others 50000`,
      },
      inFlight: { help: RACE_IN_FLIGHT, shown: String(RACE.inFlight) },
      precision: { shown: '3%' },
      budget: { shown: '75s; with --fail-if 2m' },
    },
    loads: ({ inFlight = [RACE.inFlight] }) => [
      { ...sync, operations: RACE.sync },
      ...windows(inFlight.filter((/** @type {number} */ k) => k > 1)),
    ],
  },
  async: {
    slices: 'default',
    options: ORIGINAL,
    runHooks,
    shared: { inFlight: { help: ASYNC_IN_FLIGHT } },
    loads: ({ inFlight }) => (inFlight ? windows(inFlight) : [{ kind: 'burst' }]),
  },
  sync: {
    slices: 'default',
    options: ORIGINAL,
    runHooks,
    shared: ONE_IN_FLIGHT,
    loads: () => [sync],
  },
});

/**
 * The point read as commands: the race, and the two runners of the original program. Each is the
 * workload with other defaults.
 */

/** @typedef {import('../../lib/types.js').LoadOption} LoadOption */
/** @typedef {import('../../lib/types.js').WorkloadDefinition} WorkloadDefinition */

/** The race is short enough that `npm start` ends within three minutes, with its first set-up. */
const RACE = Object.freeze({ rounds: 5, warmup: 2000, sync: 2000, inFlight: 100 });
/** What is only asked for where there may be more than one request in flight. */
const ONE_IN_FLIGHT = Object.freeze({
  inFlight: null,
  load: null,
  rate: null,
  arrivals: null,
  maxInFlight: null,
  ramp: null,
  search: null,
  p99: null,
  connections: null,
});
/** One in flight is sync. */
const RACE_IN_FLIGHT = 'keep k requests in flight, beside one in flight; several: each in turn';
const ASYNC_IN_FLIGHT =
  'keep k requests in flight instead of sending all at once; several: each in turn';

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
      budget: { shown: '2m' },
    },
    loads: ({ inFlight = [RACE.inFlight] }) => [
      { ...sync, operations: RACE.sync },
      ...windows(inFlight.filter((/** @type {number} */ k) => k > 1)),
    ],
  },
  async: {
    slices: 'default',
    runHooks,
    shared: { inFlight: { help: ASYNC_IN_FLIGHT } },
    loads: ({ inFlight }) => (inFlight ? windows(inFlight) : [{ kind: 'burst' }]),
  },
  sync: { slices: 'default', runHooks, shared: ONE_IN_FLIGHT, loads: () => [sync] },
});

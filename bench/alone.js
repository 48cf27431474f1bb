/**
 * One storage under one load in a separate process, with the engine's parts for loads of a fixed
 * amount.
 */

import { createProcesses } from '../engine/contender-process.js';
import { playRound } from '../engine/round.js';
import { wholeSegment } from '../engine/schedule/index.js';
import { toRound } from '../engine/to-round.js';

/**
 * @typedef {object} AloneSpec
 * @property {string} storage
 * @property {string} [workload] absent: `get`
 * @property {Record<string, unknown>} [workloadOptions]
 * @property {import('../lib/result.js').Load} load
 * @property {import('../lib/types.js').Address} [address]
 * @property {Record<string, string> | null} [credentialVariables]
 * @property {import('../lib/types.js').DatasetOptions} dataset
 * @property {number} seed
 * @property {number} warmup operations
 * @property {number} [stallNs]
 *
 * @typedef {import('../lib/result.js').Round
 *   & { client: NonNullable<import('../lib/result.js').Round['client']> }} AloneRound
 */

/**
 * @param {AloneSpec} about
 * @param {import('../engine/contender-process.js').ProcessFactory} [processes]
 * @returns {Promise<AloneRound>}
 * @throws {Error} if it failed, or a reply was wrong
 */
export async function playAlone(about, processes = createProcesses()) {
  const { storage, workload = 'get', workloadOptions = {}, load, warmup } = about;
  const { address = {}, credentialVariables = null, dataset, seed, stallNs = 10e9 } = about;
  /** @type {import('../engine/contender.js').ContenderSpec} */
  const spec = {
    opener: 'storage',
    storage: {
      storage,
      profile: 'default',
      address,
      credentialVariables,
      serverPids: [],
      dataset,
      folder: '',
      seed,
    },
    tasks: [
      {
        id: storage,
        load,
        workload,
        workloadOptions,
        warm: warmup === 0 ? { kind: 'none' } : { kind: 'operations', operations: warmup },
        slot: 0,
        others: [],
        stallNs,
      },
    ],
  };
  const { seats } = await playRound({
    seats: [{ name: storage, spec }],
    schedule: (seen) =>
      wholeSegment(0, { operations: load.operations, durationNs: load.durationNs }, seen),
    processes,
  });
  const [seat] = seats;
  const { processNs } = seat;
  const failure = seat.failureOf(0);
  const round = await toRound(seat.merged([0]), { round: 0, position: 0, processNs, failure });
  const { client } = round;
  if (failure !== null || client === null || round.outcomes.ok === 0) {
    throw new Error(`${storage}: ${failure?.message ?? 'nothing was measured'}`);
  }
  return { ...round, client };
}

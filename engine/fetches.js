/**
 * What a run of many-key fetches is asked for, and what is taken where nothing is said. Pure; what
 * a fetch is, is workloads/mget/index.js.
 */

import { z } from 'zod';
import { usageError } from '../lib/errors.js';
import { HELD_KEYS, KEY_COUNTS, KEYS_MAX, operationsOf } from '../workloads/mget/index.js';

/** @typedef {import('../lib/result.js').Load} Load */

/** What is held where nothing is said; as the seed's. */
export const FETCH_DATASET = Object.freeze({ rows: HELD_KEYS, valueSize: 2048 });
export const CYCLES_DEFAULT = 100;
export const CYCLES_MAX = 1_000_000;
const OPERATIONS_MAX = 50_000_000;

const keys = z.number().int().min(1).max(KEYS_MAX);

export const mgetOption = z.strictObject({
  counts: z.array(keys).min(1).optional(),
  scatter: z.strictObject({ minKeys: keys, maxKeys: keys }).optional(),
  cycles: z.number().int().min(1).max(CYCLES_MAX).optional(),
  /** also the same fetches as single reads */
  pipelined: z.boolean().optional(),
});

/** @typedef {z.infer<typeof mgetOption>} MgetOption */

/**
 * @param {MgetOption} given
 * @param {Load[]} loads closed loops
 * @param {number} [rows] that are held
 * @returns {{ workload: string, workloads: string[], loads: Load[],
 *   workloadOptions: { mget: import('../workloads/mget/index.js').MgetOptions } }}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function planFetchRun(given, loads, rows = HELD_KEYS) {
  const { counts, scatter, cycles = CYCLES_DEFAULT, pipelined } = given;
  if (scatter !== undefined && scatter.minKeys > scatter.maxKeys) {
    throw usageError(
      `--min-keys ${scatter.minKeys} is more than --max-keys ${scatter.maxKeys}`,
      'exchange them',
    );
  }
  const most = scatter?.maxKeys ?? Math.max(...(counts ?? KEY_COUNTS));
  if (most > rows) {
    throw usageError(
      `a fetch of ${most} keys, of ${rows} that are held`,
      'hold more by --rows, or fetch fewer',
    );
  }
  for (const { kind, processes = 1 } of loads) {
    if ((kind === 'window' || kind === 'sync') && processes === 1) continue;
    throw usageError('mget is a closed loop in one process', 'give a window, or one in flight');
  }
  const lead = Math.max(...loads.map(({ inFlight }) => inFlight ?? 1));
  const mget = {
    ...(scatter === undefined ? { counts: counts ?? [...KEY_COUNTS] } : { scatter }),
    cycles,
    lead,
  };
  const operations = operationsOf(mget);
  if (operations > OPERATIONS_MAX) {
    throw usageError(
      `${operations} fetches in one test: ${OPERATIONS_MAX} at most`,
      'fewer cycles',
    );
  }
  return {
    workload: 'mget',
    workloads: pipelined ? ['mget', 'mget-single'] : ['mget'],
    loads: loads.map((load) => ({ ...load, operations, durationNs: null })),
    workloadOptions: { mget },
  };
}

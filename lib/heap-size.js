/**
 * Sizes of V8's heap and threads of its collections, the same in every measured process. By default
 * the sizes depend on the memory that survives the first collections, and thus on the imported
 * modules, so that the same code was faster in a file with more imports (docs/methodology.md):
 *
 * - the young generation starts at 1 MiB and grows; from Node 22 on it settles at several sizes;
 * - the limit at which the old generation is first collected shrinks after each scavenge.
 */

import { availableParallelism } from 'node:os';

/**
 * Size of each half (semi-space) of the young generation: the default maximum of Node 20 and 22.
 */
const SEMI_SPACE_MIB = 16;
/** Size of the old generation before its first collection. */
const OLD_SPACE_MIB = 256;
/**
 * With fewer processors the main thread waits in collections for helper threads that have none,
 * because client and server use them: 23 % of the collections took 2.5 to 15 ms instead of 1.3.
 */
const PROCESSORS_FOR_HELPERS = 4;

/**
 * @param {NodeJS.ProcessEnv} [env]
 * @param {number} [processors]
 * @returns {{ semiSpaceMib: number | null, oldSpaceMib: number | null, scavengeHelpers: boolean |
 *   null }} null: the user's own NODE_OPTIONS decide
 */
export function heapSettings(
  { NODE_OPTIONS: own = '' } = process.env,
  processors = availableParallelism(),
) {
  return {
    semiSpaceMib: /semi[-_]space/.test(own) ? null : SEMI_SPACE_MIB,
    oldSpaceMib: /old[-_]space/.test(own) ? null : OLD_SPACE_MIB,
    scavengeHelpers: /parallel[-_]scavenge/.test(own) ? null : processors >= PROCESSORS_FOR_HELPERS,
  };
}

/**
 * @param {NodeJS.ProcessEnv} [env]
 * @param {number} [processors]
 * @returns {string[]} V8 options
 */
export function heapFlags(env, processors) {
  const { semiSpaceMib: semi, oldSpaceMib: old, scavengeHelpers } = heapSettings(env, processors);
  return [
    ...(scavengeHelpers === false ? ['--no-parallel-scavenge'] : []),
    ...(semi === null ? [] : [`--min-semi-space-size=${semi}`, `--max-semi-space-size=${semi}`]),
    ...(old === null ? [] : [`--initial-old-space-size=${old}`]),
  ];
}

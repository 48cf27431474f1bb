/**
 * Sizes of V8's heap, the same in every measured process. By default they depend on the memory that
 * survives the first collections, and thus on the imported modules, so that the same code was
 * faster in a file with more imports (docs/methodology.md):
 *
 * - the young generation starts at 1 MiB and grows; from Node 22 on it settles at several sizes;
 * - the limit at which the old generation is first collected shrinks after each scavenge.
 */

/**
 * Size of each half (semi-space) of the young generation: the default maximum of Node 20 and 22.
 */
const SEMI_SPACE_MIB = 16;
/** Size of the old generation before its first collection. */
const OLD_SPACE_MIB = 256;

/**
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {{ semiSpaceMib: number | null, oldSpaceMib: number | null }} null: the user's own
 *   NODE_OPTIONS decide
 */
export function heapSizes({ NODE_OPTIONS: own = '' } = process.env) {
  return {
    semiSpaceMib: /semi[-_]space/.test(own) ? null : SEMI_SPACE_MIB,
    oldSpaceMib: /old[-_]space/.test(own) ? null : OLD_SPACE_MIB,
  };
}

/**
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {string[]} V8 options
 */
export function heapFlags(env) {
  const { semiSpaceMib: semi, oldSpaceMib: old } = heapSizes(env);
  return [
    ...(semi === null ? [] : [`--min-semi-space-size=${semi}`, `--max-semi-space-size=${semi}`]),
    ...(old === null ? [] : [`--initial-old-space-size=${old}`]),
  ];
}

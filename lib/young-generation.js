/**
 * The young generation of V8's heap, of one size in every process that is measured. By default it
 * starts at 1 MiB and grows by what survives its collections; from Node 22 on the size that it
 * settles at depends on what a process has imported, so that the same code was 6 to 12 % faster
 * from a file that imports more (docs/methodology.md).
 */

/** Of each of its two halves (semi-spaces): the default maximum of Node 20 and 22. */
const SEMI_SPACE_MIB = 16;

/**
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {number | null} MiB; null: the user's own NODE_OPTIONS decide
 */
export function semiSpaceMib(env = process.env) {
  return /semi[-_]space/.test(env['NODE_OPTIONS'] ?? '') ? null : SEMI_SPACE_MIB;
}

/**
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {string[]} flags of V8
 */
export function semiSpaceFlags(env) {
  const size = semiSpaceMib(env);
  return size === null ? [] : [`--min-semi-space-size=${size}`, `--max-semi-space-size=${size}`];
}

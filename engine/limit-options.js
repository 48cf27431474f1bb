/** Defaults of `dragstrip limit`, for its help and its runs. */

/** @typedef {import('../lib/types.js').LoadOption} LoadOption */

export const LIMIT_DEFAULTS = Object.freeze({
  rounds: 5,
  /** Operations of a burst, measured whole, once per round and driver. */
  burst: 10_000,
  /** The window of the race, and a deep one. */
  inFlight: Object.freeze([100, 1000]),
});

/**
 * @param {{ ops?: number, inFlight?: readonly number[] }} [options]
 * @returns {LoadOption[]} loads for the drivers
 */
export function limitLoads({ ops, inFlight } = {}) {
  const windows = inFlight ?? LIMIT_DEFAULTS.inFlight;
  const amount = ops === undefined ? {} : { operations: ops };
  return [
    { kind: 'sync', ...amount },
    ...windows.map((k) => ({ kind: /** @type {const} */ ('window'), inFlight: k, ...amount })),
    ...(inFlight === undefined
      ? [{ kind: /** @type {const} */ ('burst'), operations: ops ?? LIMIT_DEFAULTS.burst }]
      : []),
  ];
}

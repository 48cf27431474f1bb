/** What `dragstrip limit` measures where nothing else is asked for: for its help and its runs. */

/** @typedef {import('../lib/types.js').LoadOption} LoadOption */

export const LIMIT_DEFAULTS = Object.freeze({
  rounds: 5,
  /** Of a burst that is measured whole, once per round and driver. */
  burst: 10_000,
  /** The window of the race, and a deep one. */
  inFlight: Object.freeze([100, 1000]),
});

/**
 * @param {{ ops?: number, inFlight?: readonly number[] }} [options]
 * @returns {LoadOption[]} loads under which the drivers are measured
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

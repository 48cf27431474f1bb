/** The original program's line of each benchmark. */

/** @type {NonNullable<import('../../lib/types.js').RunHooks['legacyLines']>} */
export const legacyLines =
  ({ quiet }) =>
  (event) =>
    event.type === 'benchmark-end' && !quiet ? [benchmarkLine(event.benchmark, event.round)] : [];

/**
 * Legacy output, `ecql_batch_pure 50000 inserts: 0.84848 seconds`, with the parameters.
 * @param {import('../../lib/result.js').Benchmark} benchmark
 * @param {import('../../lib/result.js').Round} round
 */
function benchmarkLine({ storage, profile, parameters = {}, load }, round) {
  const { strategy, batch } = parameters;
  const name = `${storage}${profile === 'default' ? '' : `:${profile}`}_${strategy}`;
  if (round.state !== 'measured' || round.metrics === undefined) {
    return `${name}: ${round.state}${round.failure === null ? '' : `, ${round.failure.message}`}`;
  }
  const { rows, durability } = round.metrics;
  const size = batch === undefined ? '' : `batches of ${batch}, `;
  return (
    `${name} ${rows} inserts: ${(round.durationNs / 1e9).toFixed(6)} seconds ` +
    `(${size}${load.inFlight} in flight; ${durability})`
  );
}

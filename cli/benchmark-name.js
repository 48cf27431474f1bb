/** Names of benchmarks and loads in the lines of a run. */

import { shapeName } from '../lib/load-name.js';

/** @typedef {import('../lib/result.js').Benchmark} Benchmark */

/** @param {Benchmark['load']} load */
export function loadText({ kind, inFlight, rate = 0, processes = 1, ...shape }) {
  const by = `${processes === 1 ? '' : ` by ${processes} processes`}${shapeName(shape)}`;
  if (kind === 'burst') return `all at once${by}`;
  if (kind === 'rate') return `${rate.toLocaleString('en-US')}/s${by}`;
  return `${inFlight} in flight${by}`;
}

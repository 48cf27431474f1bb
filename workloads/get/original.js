/**
 * The original program's lines, per storage and in its order: `Test 'x' started`, `Storage created
 * in … ms`, `Test finished: n ops, … ms, … ops/sec`, an empty line; then `Done`.
 */

import { labelOf } from '../../lib/label.js';
import { wrongOutcomes } from '../../lib/outcome.js';

/** @typedef {import('../../lib/types.js').RunHooks} RunHooks */

/** @type {NonNullable<RunHooks['legacyLines']>} */
export function legacyLines({ quiet }) {
  return (event) => {
    if (quiet) return [];
    if (event.type === 'benchmark-start') return [`Test '${labelOf(event.benchmark)}' started`];
    if (event.type === 'benchmark-end') return [...roundLines(event.round), ''];
    return event.type === 'finished' ? ['Done'] : [];
  };
}

/**
 * @param {import('../../lib/result.js').Round} round
 * @returns {string[]}
 */
function roundLines(round) {
  const lines = [];
  if (round.createdNs !== null) lines.push(`Storage created in ${round.createdNs / 1e6} ms`);
  if (round.state === 'failed') return [...lines, `Test failed: ${round.failure?.message}`];
  const { ok } = round.outcomes;
  const ms = round.durationNs / 1e6;
  lines.push(`Test finished: ${ok} ops, ${ms} ms, ${round.throughput} ops/sec`);
  const wrong = wrongOutcomes(round);
  if (wrong !== '') lines.push(`Not counted: ${wrong}`);
  return lines;
}

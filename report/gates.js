/**
 * The gates of a run in words: what failed, what passed, and what was not decided, with the rounds
 * that would decide. Pure.
 */

import {
  formatBytes,
  formatDuration,
  formatRatio,
  formatThroughput,
  plainText,
} from '../lib/format.js';
import { GATE_METRICS } from '../lib/gate.js';
import { labelOf } from '../lib/label.js';
import { loadName } from '../lib/load-name.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/gate.js').GateResult} GateResult */

/**
 * @param {Result} result
 * @returns {string[]} the outcome of all first, then a line for each gate and benchmark
 */
export function gateLines(result) {
  const { gates = [] } = result;
  if (gates.length === 0) return [];
  return [`Gate ${outcomeOf(gates)}.`, ...gates.map((gate) => lineOf(gate, result))];
}

/**
 * @param {readonly GateResult[]} gates
 * @returns {'failed' | 'passed' | 'undecided'} of all of them
 */
export function outcomeOf(gates) {
  const has = (/** @type {string} */ one) => gates.some(({ outcome }) => outcome === one);
  return has('failed') ? 'failed' : has('undecided') ? 'undecided' : 'passed';
}

/**
 * @param {GateResult} one
 * @param {Result} result
 */
function lineOf(one, result) {
  const { gate, benchmark, reference, outcome, roundsNeeded, reason, n, confidence } = one;
  const found = result.benchmarks.find(({ id }) => id === benchmark);
  const where = found === undefined ? benchmark : `${labelOf(found)}, ${loadName(found.load)}`;
  const held = result.benchmarks.find(({ id }) => id === reference);
  const of = held === undefined ? '' : ` of ${labelOf(held)}`;
  const figure =
    one.value === null
      ? `no figure: ${reason}`
      : `${shown(one, one.value)}${of} (${shown(one, one.low)} to ${shown(one, one.high)}, ` +
        `${(100 * confidence).toFixed(1)} %, n ${n})`;
  const needed =
    outcome !== 'undecided' || one.value === null
      ? ''
      : roundsNeeded === null
        ? '; more than 1000 rounds would be needed'
        : `; ${roundsNeeded} rounds would decide (--rounds ${roundsNeeded}, or a longer --budget)`;
  return plainText(`${outcome}: ${gate}, ${where}: ${figure}${needed}`);
}

/**
 * @param {GateResult} gate
 * @param {number | null} value
 */
function shown({ isRatio, metric }, value) {
  if (value === null) return '?';
  if (isRatio) return formatRatio(value);
  const { unit } = GATE_METRICS[metric];
  if (unit === 'ns') return formatDuration(value);
  return unit === 'B' ? formatBytes(value) : `${formatThroughput(value)} ops/s`;
}

/**
 * Texts of the gates of a run: failed, passed and undecided ones, with the rounds needed for a
 * decision. Pure.
 */

import {
  formatBytes,
  formatDuration,
  formatRatio,
  formatSignificant,
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
 * @returns {string[]} the overall outcome, then one line per gate and benchmark
 */
export function gateLines(result) {
  const { gates = [] } = result;
  if (gates.length === 0) return [];
  return [`Gate ${outcomeOf(gates)}.`, ...gates.map((gate) => lineOf(gate, result))];
}

/**
 * @param {readonly GateResult[]} gates
 * @returns {'failed' | 'passed' | 'undecided'} overall outcome
 */
export function outcomeOf(gates) {
  const has = (/** @type {string} */ one) => gates.some(({ outcome }) => outcome === one);
  return has('failed') ? 'failed' : has('undecided') ? 'undecided' : 'passed';
}

/**
 * @param {GateResult} entry
 * @param {Result} result
 */
function lineOf(entry, result) {
  const { gate, benchmark, reference, outcome, roundsNeeded, reason, n, confidence } = entry;
  const measured = result.benchmarks.find(({ id }) => id === benchmark);
  const where =
    measured === undefined ? benchmark : `${labelOf(measured)}, ${loadName(measured.load)}`;
  const held = result.benchmarks.find(({ id }) => id === reference);
  const of = held === undefined ? '' : ` of ${labelOf(held)}`;
  const figure =
    entry.value === null
      ? `no figure: ${reason}`
      : confidence === 1
        ? `${shown(entry, entry.value)}${of} (counted, n ${n})`
        : `${shown(entry, entry.value)}${of} (${shown(entry, entry.low)} to ${shown(entry, entry.high)}, ` +
          `${(100 * confidence).toFixed(1)} %, n ${n})`;
  const needed =
    outcome !== 'undecided' || entry.value === null
      ? ''
      : reason !== null
        ? `; ${reason}`
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
  if (unit === 'count') return `${formatSignificant(value)} ${metric} per operation`;
  return unit === 'B' ? formatBytes(value) : `${formatThroughput(value)} ops/s`;
}

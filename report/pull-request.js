/**
 * A result as a comment on a pull request: the outcome in a sentence, one table of ratios, and all
 * else folded. Results of several runs are listed with what differs between them, since figures of
 * other conditions mean something else. Pure.
 */

import { logsOf } from '../engine/gates.js';
import {
  formatCount,
  formatRatio,
  formatShare,
  formatThroughput,
  plainText,
} from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { loadName } from '../lib/load-name.js';
import { estimateOf } from '../stats/gate.js';
import { circumstancesOf, differencesOf } from './analysis/conditions.js';
import { outcomeOf } from './gates.js';
import markdown, { escapeMarkdown } from './markdown.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/report-types.js').Document} Document */

/** By it a later run finds the comment to replace. */
export const MARKER = '<!-- dragstrip -->';

const MARKS = Object.freeze({ failed: '❌', passed: '✅', undecided: '➖' });
const CONFIDENCE = 0.95;

/**
 * @param {readonly Result[]} results
 * @param {readonly Document[]} documents of these
 * @returns {string} markdown
 */
export function pullRequestText(results, documents) {
  const blocks = results.flatMap((result, i) => [
    headingOf(result),
    ...sentences(result, documents[i]).map(escapeMarkdown),
    tableOf(result, escapeMarkdown),
    ...(i === 0 ? [] : [differencesText(results[0], result, escapeMarkdown)]),
    escapeMarkdown(conditionsOf(result)),
    folded('All figures', markdown.render([documents[i]])),
  ]);
  return `${[MARKER, ...blocks.filter((block) => block !== '')].join('\n\n')}\n`;
}

/** @param {Result} result */
function headingOf({ gates = [] }) {
  if (gates.length === 0) return '### Dragstrip';
  const outcome = outcomeOf(gates);
  return `### ${MARKS[outcome]} Dragstrip: gate ${outcome}`;
}

/**
 * @param {Result} result
 * @param {Document} document
 * @returns {string[]} its gates, else its verdict
 */
function sentences({ gates = [] }, { verdict }) {
  return gates.length === 0 ? verdict : verdict.slice(1, 1 + gates.length);
}

/**
 * @param {Result} result
 * @param {(text: string) => string} mark
 * @returns {string}
 */
function tableOf(result, mark) {
  const reference = referenceOf(result);
  const benchmarks = result.benchmarks.filter(({ state }) => state === 'measured');
  if (benchmarks.length === 0) return 'Nothing was measured.';
  const of = reference === null ? '' : ` vs ${labelOf(reference)}`;
  const head = ['driver', 'load', 'ops/s', `speed${of}`, `client CPU${of}`];
  const rows = benchmarks.map((benchmark) => {
    const partner = partnerOf(result, benchmark, reference);
    return [
      mark(plainText(`${labelOf(benchmark)}${roleOf(result, benchmark)}`)),
      mark(loadName(benchmark.load)),
      ...[throughputText(result, benchmark), ratioText(result, 'throughput', benchmark, partner)],
      ratioText(result, 'client-cpu', benchmark, partner),
    ];
  });
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`;
  return [
    line(head.map(mark)),
    line(['---', '---', '---:', '---:', '---:']),
    ...rows.map(line),
  ].join('\n');
}

/**
 * Labels are versions and hashes: they do not say which of two checkouts is which.
 * @param {Result} result
 * @param {Benchmark} benchmark
 */
function roleOf({ gates = [] }, { id }) {
  if (gates.some(({ reference }) => reference === id)) return ' (reference)';
  return gates.some((gate) => gate.isRatio && gate.benchmark === id) ? ' (candidate)' : '';
}

/**
 * @param {Result} result
 * @returns {{ storage: string, profile: string } | null} what ratios of the table refer to
 */
function referenceOf({ gates = [], benchmarks, storages }) {
  const ofGate = benchmarks.find(({ id }) => gates.some(({ reference }) => reference === id));
  if (ofGate !== undefined) return ofGate;
  const contender = storages.find(({ base }) => base !== undefined);
  if (contender === undefined) return null;
  return { storage: String(contender.base), profile: contender.profile };
}

/**
 * @param {Result} result
 * @param {Benchmark} benchmark
 * @param {{ storage: string, profile: string } | null} reference
 * @returns {Benchmark | null} null: there is none, or it is the reference itself
 */
function partnerOf({ benchmarks }, { id, workload, parameters, load }, reference) {
  if (reference === null) return null;
  const key = JSON.stringify([workload, parameters, load]);
  const found = benchmarks.find(
    (one) =>
      labelOf(one) === labelOf(reference) &&
      JSON.stringify([one.workload, one.parameters, one.load]) === key,
  );
  return found === undefined || found.id === id ? null : found;
}

/**
 * @param {Result} result
 * @param {Benchmark} benchmark
 */
function throughputText(result, benchmark) {
  const logs = logsOf(result, 'throughput', benchmark, null);
  const estimate = estimateOf(logs, { confidence: CONFIDENCE, isRatio: false });
  if (estimate === null) return formatThroughput(benchmark.rounds[0]?.throughput ?? null);
  const interval = formatShare(Math.expm1(estimate.half));
  return `${formatThroughput(Math.exp(estimate.value))} ± ${interval}`;
}

/**
 * @param {Result} result
 * @param {'throughput' | 'client-cpu'} metric
 * @param {Benchmark} benchmark
 * @param {Benchmark | null} partner
 */
function ratioText(result, metric, benchmark, partner) {
  if (partner === null) return '';
  const logs = logsOf(result, metric, benchmark, partner);
  const estimate = estimateOf(logs, { confidence: CONFIDENCE, isRatio: true });
  if (estimate === null) return '';
  return `${formatRatio(Math.exp(estimate.value))} ± ${formatShare(Math.expm1(estimate.half))}`;
}

/**
 * @param {Result} first
 * @param {Result} result
 * @param {(text: string) => string} mark
 */
function differencesText(first, result, mark) {
  const found = [...differencesOf(first, result), ...circumstancesOf(first, result)];
  if (found.length === 0) return '';
  const lines = found.map(({ what, base, other }) =>
    mark(plainText(`${what}: ${other}, in the first result ${base}`)),
  );
  return [
    'Measured under other conditions than the first result:',
    '',
    ...lines.map((one) => `- ${one}`),
  ].join('\n');
}

/** @param {Result} result */
function conditionsOf({ environment, storages, servers, warnings }) {
  const { node, cpu, cores, loadAverage } = environment;
  const drivers = storages.flatMap(({ name, package: driver, version, driver: code }) => {
    if (driver === null) return [];
    const commit = code?.commit
      ? ` (commit ${code.commit.slice(0, 7)}${code.changed ? '+' : ''})`
      : '';
    return `${name}: ${driver} ${version ?? '?'}${commit}`;
  });
  const parts = [
    `Node ${node}`,
    `${cpu}, ${formatCount(cores)} processors`,
    ...(loadAverage === null ? [] : [`load average ${loadAverage[0].toFixed(1)} before`]),
    ...servers.map(({ name, version }) => `${name} ${version ?? '?'}`),
    ...drivers,
    ...(warnings.length === 0
      ? []
      : [`${formatCount(warnings.length)} warning${warnings.length === 1 ? '' : 's'}`]),
  ];
  return plainText(`${parts.join('; ')}.`);
}

/**
 * @param {string} summary
 * @param {string} text
 */
function folded(summary, text) {
  return `<details>\n<summary>${summary}</summary>\n\n${text.trim()}\n\n</details>`;
}

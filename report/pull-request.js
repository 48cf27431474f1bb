/**
 * A result as a comment on a pull request: the outcome in a sentence, one table of ratios, and the
 * rest folded. Several results are listed with their differing conditions, which make figures
 * incomparable. Pure.
 */

import { defineReport } from '../lib/define.js';
import { formatCount, formatThroughput, formatWidth, plainText } from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { loadName } from '../lib/load-name.js';
import { circumstancesOf, differencesOf } from './analysis/conditions.js';
import { toGroups, variantRows } from './analysis/rows.js';
import { ratioText } from './answers.js';
import { outcomeOf } from './gates.js';
import markdown, { escapeMarkdown } from './markdown.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/report-types.js').Document} Document */

/** Identifies the comment for later runs, which replace it. */
export const MARKER = '<!-- dragstrip -->';

const MARKS = Object.freeze({ failed: '❌', passed: '✅', undecided: '➖' });

export default defineReport({
  name: 'pr',
  summary: 'markdown for a comment on a pull request: the verdict, one table, the rest folded',
  render(documents) {
    const [first] = documents;
    const blocks = documents.flatMap((document) => blocksOf(document, first));
    return `${[MARKER, ...blocks.filter((block) => block !== '')].join('\n\n')}\n`;
  },
});

/**
 * @param {Document} document
 * @param {Document} first
 * @returns {string[]}
 */
function blocksOf(document, first) {
  const { result } = document;
  if (result === null || first.result === null) return [markdown.render([document])];
  return [
    headingOf(result),
    ...sentences(result, document).map(escapeMarkdown),
    tableOf(result, escapeMarkdown),
    ...(document === first ? [] : [differencesText(first.result, result, escapeMarkdown)]),
    escapeMarkdown(conditionsOf(result)),
    folded('All figures', markdown.render([document])),
  ];
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
  const groups = toGroups(result);
  const pairs = groups.flatMap((group) => group.pairs);
  const measured = groups.flatMap(({ rows }) => rows.filter(({ state }) => state === 'measured'));
  const rows = [...measured, ...variantRows(result).filter(({ state }) => state === 'measured')];
  if (rows.length === 0) return '';
  const order = result.benchmarks.map(({ id }) => id);
  rows.sort((a, b) => order.indexOf(a.source.id) - order.indexOf(b.source.id));
  const of = reference === null ? '' : ` vs ${labelOf(reference)}`;
  const head = ['driver', 'load', 'ops/s', `speed${of}`, `client CPU${of}`];
  const lines = rows.map(({ source, label, throughput }) => {
    const pair = pairs.find(
      ({ a, b }) => a.source === source && reference !== null && b.label === labelOf(reference),
    );
    const { speed, witnesses = {} } = pair?.ratios ?? {};
    const cpu = witnesses['clientCpu'];
    return [
      mark(plainText(`${label}${roleOf(result, source)}`)),
      mark(loadName(source.load)),
      throughputText(throughput),
      speed === undefined ? '' : ratioText(speed),
      cpu === undefined ? '' : ratioText({ ...cpu, ratio: 1 / cpu.ratio }),
    ];
  });
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`;
  return [
    line(head.map(mark)),
    line(['---', '---', '---:', '---:', '---:']),
    ...lines.map(line),
  ].join('\n');
}

/** @param {import('../stats/interval.js').Figure | null} figure */
function throughputText(figure) {
  const { value = null, spread = null } = figure ?? {};
  return `${formatThroughput(value)}${formatWidth(spread, value ?? 0, formatThroughput)}`;
}

/**
 * Labels are versions and hashes, which do not identify a checkout.
 * @param {Result} result
 * @param {Benchmark} benchmark
 */
function roleOf({ gates = [] }, { id }) {
  if (gates.some(({ reference }) => reference === id)) return ' (reference)';
  return gates.some((gate) => gate.isRatio && gate.benchmark === id) ? ' (candidate)' : '';
}

/**
 * @param {Result} result
 * @returns {{ storage: string, profile: string } | null} the reference of the ratios
 */
function referenceOf({ gates = [], benchmarks, storages }) {
  const ofGate = benchmarks.find(({ id }) => gates.some(({ reference }) => reference === id));
  if (ofGate !== undefined) return ofGate;
  const contender = storages.find(({ base }) => base !== undefined);
  if (contender === undefined) return null;
  return { storage: String(contender.base), profile: contender.profile };
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
    'Measured under different conditions from the first result:',
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

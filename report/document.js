/**
 * The document of a result: the content of a report as plain data, the only input of every format
 * and plot. Pure: reports of workloads are arguments.
 */

import { formatDuration, plainText } from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { agentLines, agentTables } from './agents.js';
import { groupBy } from './analysis/groups.js';
import { toGroups, variantRows } from './analysis/rows.js';
import { sweepsOf } from './analysis/sweeps.js';
import { limitLegend, limitTables } from './ceilings.js';
import { checkTables } from './checks.js';
import { closingLines } from './closing.js';
import { gateLines } from './gates.js';
import { headLines } from './head.js';
import { failedList, skippedList, warningList, wrongList } from './lists.js';
import { tabulate } from './model.js';
import { noteLines } from './notes.js';
import { pairTables, pairVerdicts } from './pairs.js';
import { roundTableOf, roundTextsOf } from './rounds.js';
import { searchTables } from './searches.js';
import { setupOf } from './setup.js';
import { specOf } from './specs.js';
import { KNEE_EXPLAINED, kneeColumns, sweepParts, sweepTables, sweepVerdicts } from './sweeps.js';
import { processorText } from './text.js';
import { unfinishedList } from './unfinished.js';
import { comparisonNotes } from './verdict.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/report-types.js').Document} Document */
/** @typedef {import('../lib/report-types.js').Table} Table */
/** @typedef {import('../lib/report-types.js').ReportSpec} ReportSpec */
/** @typedef {import('./specs.js').ReportSpecs} ReportSpecs */
/** @typedef {import('./analysis/rows.js').Row} Row */

/**
 * @param {Result} result
 * @param {ReportSpecs} specs
 * @returns {Document}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: the result is damaged
 */
export function documentOf(result, specs) {
  const specIn = (/** @type {Row} */ { source }) => specOf(specs, source.workload);
  const groups = toGroups(result);
  const rows = [...groups.flatMap((group) => group.rows), ...variantRows(result)];
  const all = [...groups.flatMap((group) => group.rows), ...variantRows(result, { skipped: true })];
  const parts = partsOf(result, all, specs);
  const pairs = groups.flatMap((group) => group.pairs);
  const gates = gateLines(result);
  const swept = rows.filter((row) => specIn(row).sweeps);
  const sweeps = sweepsOf(swept, result);
  const variants = parts.filter(({ benchmarks }) =>
    benchmarks.every(({ source }) => source.parameters !== undefined),
  );
  const ceilings = result.command === 'limit' ? [limitTables(result)] : [];
  const others = [...variants.map(({ tables }) => tables), ...ceilings];
  const closing = closingLines(result, groups, others);
  return {
    title: `Dragstrip ${plainText(result.dragstrip)}: ${plainText(result.command)}`,
    verdict: [...gates, ...pairVerdicts(pairs), ...closing, ...sweepVerdicts(sweeps)],
    head: headLines(result, specs),
    tables: [
      ...searchTables(result),
      ...parts.flatMap(({ tables }) => tables),
      ...sweepTables(sweeps),
      ...pairTables(pairs),
      ...checkTables(groups, result),
      ...limitTables(result),
    ],
    notes: [
      ...(hasOverheadRow(result, groups) ? [] : [overheadLine(result.harnessOverhead)]),
      ...comparisonNotes(groups),
      ...noteLines(result, groups),
      ...agentLines(result),
      ...parts.flatMap(({ spec, benchmarks }) => spec.notes?.(benchmarks, result) ?? []),
    ],
    lists: [
      ...[failedList(rows), wrongList(rows.filter((row) => !specIn(row).refused?.(row)))],
      ...parts.flatMap(({ spec, benchmarks }) => spec.lists?.(benchmarks, result) ?? []),
      ...[skippedList(result), unfinishedList(result), warningList(result)],
    ].filter(({ items }) => items.length > 0),
    legend: [
      ...new Set([...parts.flatMap((part) => legendOf(part, result)), ...limitLegend(result)]),
    ],
    explanation: [
      ...parts.flatMap(({ spec, benchmarks }) => [...(spec.explain?.(benchmarks, result) ?? [])]),
      ...(sweeps.length > 0 ? [KNEE_EXPLAINED] : []),
    ],
    settings: settingsOf(result),
    parts: [
      ...sweepParts(sweeps),
      ...parts.map(({ spec, tables }) => ({ plots: spec.plots ?? [], tables })),
    ],
    id: plainText(result.id),
    subtitle: subtitleOf(result),
    contenders: contendersIn(result, parts),
    result,
    agents: agentTables(result),
    setup: setupOf(result),
    roundTexts: () => roundTextsOf(result),
    rounds: () => roundTableOf(result, specs, kneeColumns(sweeps)),
  };
}

/** @typedef {{ spec: ReportSpec, benchmarks: any[], tables: Table[] }} Part */

/**
 * @param {Result} result
 * @param {readonly any[]} benchmarks
 * @param {ReportSpecs} specs
 * @returns {Part[]} by workload; workloads with a common report are one group
 */
function partsOf(result, benchmarks, specs) {
  const specIn = (/** @type {any} */ { source }) => specOf(specs, source.workload);
  const shown = benchmarks.filter((one) => one.state !== 'skipped' || specIn(one).skipped);
  return [...groupBy(shown, specIn)].map(([spec, own]) => ({
    spec,
    benchmarks: own,
    tables: tabulate(result, spec, own),
  }));
}

/**
 * @param {Result} result
 * @param {readonly Part[]} parts
 * @returns {string[]} contenders in tables, storages first, in the order of the command line
 */
function contendersIn({ benchmarks }, parts) {
  const shown = new Set(
    parts.flatMap(({ tables }) =>
      tables.flatMap(({ rows, plotted = rows }) =>
        plotted.flatMap(({ contender, quiet }) => (contender === null || quiet ? [] : contender)),
      ),
    ),
  );
  const storages = benchmarks.map(labelOf).filter((label) => shown.has(label));
  return [...new Set([...storages, ...shown])];
}

/** @param {Result} result */
function subtitleOf({ environment, startedAt, dragstrip }) {
  const { node } = environment;
  const parts = [`Dragstrip ${dragstrip}`, startedAt.slice(0, 10), `Node ${node}`];
  return plainText([...parts, processorText(environment)].join(', '));
}

/**
 * @param {Part} part
 * @param {Result} result
 * @returns {readonly string[]}
 */
function legendOf({ spec: { legend = [] }, benchmarks }, result) {
  return typeof legend === 'function' ? legend(benchmarks, result) : legend;
}

/**
 * @param {Result} result
 * @param {readonly import('./analysis/rows.js').Group[]} groups
 * @returns {boolean} no separate remark, or it is in the table of checks
 */
function hasOverheadRow({ command }, groups) {
  return (
    command === 'limit' || (groups.length > 0 && groups.every((group) => group.comparison?.stored))
  );
}

/** @param {Result['harnessOverhead']} harnessOverhead */
function overheadLine(harnessOverhead) {
  if (harnessOverhead.length === 0) return 'harness overhead: not measured in this run';
  const parts = harnessOverhead.map(({ load, inFlight, nsPerOperation, n }, i) => {
    const value = `${formatDuration(nsPerOperation)}${i === 0 ? ' per operation' : ''}`;
    return `${value} (${load}${inFlight === undefined ? '' : ` of ${inFlight}`}, n ${n})`;
  });
  return `harness overhead: ${parts.join(', ')}`;
}

/**
 * @param {Result} result
 * @returns {[string, string][]} non-default driver options, by storage
 */
function settingsOf({ storages }) {
  return storages
    .filter(({ options }) => Object.keys(options).length > 0)
    .map(({ name, profile, options }) => [
      plainText(labelOf({ storage: name, profile })),
      plainText(JSON.stringify(options)),
    ]);
}

/**
 * Inserts as figures: rows a second by storage, strategy and load. A request is an operation of the
 * engine and holds one row or many, so rates and costs of rows are made here, of the facts of each
 * round. Pure.
 */

import { summarizeRounds } from '../../stats/summary.js';
import { labelOf, variantRows } from './rows.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Round} Round */

/**
 * @typedef {object} InsertLine one cell
 * @property {import('./rows.js').Row} row
 * @property {string} strategy
 * @property {string} how the storage does it; empty where nothing was measured
 * @property {number | null} batch rows of a request, where it was chosen
 * @property {number | null} inFlight requests
 * @property {number | null} rowsPerRequest mean
 * @property {import('../../stats/summary.js').RoundSummary} rate rows a second
 * @property {number | null} secondsMedian for all rows
 * @property {number | null} ratio of the median rate to that of the storage's plainest strategy
 * @property {number | null} clientCpuNs for each row
 * @property {number | null} serverCpuNs for each row; null: embedded or not readable
 * @property {string} durability as the store says it; empty where nothing was measured
 */

/**
 * @typedef {object} InsertGroup
 * @property {string} label of the storage
 * @property {number} rows
 * @property {string[]} durability each once
 * @property {InsertLine[]} lines in the order of the cells
 */

/** What the others of a storage are held against: the first of them that was measured. */
const PLAINEST = ['async', 'one'];

/**
 * @param {Result} result
 * @returns {InsertGroup[]} by storage, in the order of the cells; none where nothing was inserted
 */
export function toInsertGroups(result) {
  /** @type {Map<string, InsertGroup>} */
  const groups = new Map();
  for (const row of variantRows(result)) {
    if (row.cell.workload !== 'insert') continue;
    const label = labelOf(row.cell);
    const group = groups.get(label) ?? newGroup(label, result);
    groups.set(label, group);
    group.lines.push(toLine(row));
  }
  for (const group of groups.values()) {
    const all = group.lines.map(({ durability }) => durability).filter((text) => text !== '');
    group.durability = [...new Set(all)];
    const base = PLAINEST.map((name) => rateOf(group.lines, name)).find((rate) => rate !== null);
    for (const line of group.lines) {
      const own = line.rate.median;
      line.ratio = base === undefined || base === null || own === null ? null : own / base;
    }
  }
  return [...groups.values()];
}

/**
 * @param {string} label
 * @param {Result} result
 * @returns {InsertGroup}
 */
function newGroup(label, { dataset }) {
  return { label, rows: dataset.rows, durability: [], lines: [] };
}

/**
 * @param {InsertLine[]} lines
 * @param {string} name
 */
function rateOf(lines, name) {
  return lines.find(({ strategy }) => strategy === name)?.rate.median ?? null;
}

/**
 * @param {import('./rows.js').Row} row
 * @returns {InsertLine}
 */
function toLine(row) {
  const { cell } = row;
  const { strategy, batch } = cell.parameters ?? {};
  const measured = cell.rounds.filter(({ state, facts }) => state === 'measured' && facts);
  const facts = measured[0]?.facts;
  const perRequest = facts === undefined ? null : Number(facts['rows']) / Number(facts['requests']);
  const rate = summarizeRounds(measured.map(rowsPerSecond));
  const each = (/** @type {number | null} */ ns) =>
    ns === null || perRequest === null ? null : ns / perRequest;
  return {
    row,
    strategy: String(strategy),
    how: String(facts?.['how'] ?? ''),
    batch: typeof batch === 'number' ? batch : null,
    inFlight: cell.load.inFlight,
    rowsPerRequest: perRequest,
    rate,
    secondsMedian:
      rate.median === null || facts === undefined ? null : Number(facts['rows']) / rate.median,
    ratio: null,
    clientCpuNs: each(row.clientCpuNs),
    serverCpuNs: each(row.serverCpuNs),
    durability: String(facts?.['durability'] ?? ''),
  };
}

/**
 * @param {Round} round
 * @returns {number} rows that were read back and right, in the time from the first request to the
 *   last acknowledgement
 */
export function rowsPerSecond({ facts, durationNs }) {
  return durationNs > 0 ? (Number(facts?.['right'] ?? 0) / durationNs) * 1e9 : 0;
}

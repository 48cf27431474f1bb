/** What plots take from the tables of the model: rows, and the texts of a metric. */

import { NONE } from '../../lib/format.js';
import { valueText } from '../text.js';

/** @typedef {import('../../lib/report-types.js').Table} Table */
/** @typedef {import('../../lib/report-types.js').TableRow} TableRow */

/**
 * @param {readonly Table[]} tables
 * @param {(row: TableRow) => boolean} has
 * @returns {TableRow[]} also those that no table shows
 */
export function rowsOf(tables, has) {
  return tables.flatMap(({ rows, plotted = rows }) => plotted).filter(has);
}

/**
 * @param {readonly Table[]} tables
 * @param {string} metric its key
 * @returns {(value: number | null) => string} in the unit of its column
 */
export function formatOf(tables, metric) {
  const column = tables
    .flatMap(({ columns }) => columns)
    .find(({ key, role }) => key === metric && role === 'metric');
  return (value) =>
    column === undefined || value === null
      ? NONE
      : valueText({ ...column, shows: [] }, { value, low: null, high: null, n: 1 });
}

/**
 * @param {string} text
 * @returns {string} for files and identifiers: letters, digits and hyphens only
 */
export function plotName(text) {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

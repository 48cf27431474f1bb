/**
 * The tables of a report as JSON, for programs: keys, values with intervals and units, and lists.
 * The result itself is a different file.
 */

import { defineReport } from '../lib/define.js';
import { plainText } from '../lib/format.js';

/** @typedef {import('../lib/report-types.js').Document} Document */

export default defineReport({
  name: 'json',
  summary: 'the tables with units and intervals, for programs',
  render: (documents) => `${JSON.stringify(documents.map(plain), printable, 2)}\n`,
});

/** @param {Document} document */
function plain(document) {
  const {
    title,
    verdict,
    head,
    tables,
    details = [],
    notes,
    lists,
    legend,
    explanation,
  } = document;
  return {
    title,
    verdict,
    head: Object.fromEntries(head),
    tables: [...tables, ...details].map(({ title: name, columns, inFiles, rows }) => ({
      title: name,
      columns: [...columns, ...inFiles].map(({ key, name: text, unit, better, role }) => ({
        key,
        name: text,
        unit,
        better,
        role,
      })),
      rows: rows.map(({ keys, values, mark, remark }) => ({ keys, values, mark, remark })),
    })),
    rounds: roundsOf(document),
    notes,
    lists,
    legend,
    explanation: Object.fromEntries(explanation),
  };
}

/**
 * @param {Document} document
 * @returns {Record<string, unknown>[]} each round by the columns of the CSV, without empty ones
 */
function roundsOf({ rounds }) {
  if (rounds === null) return [];
  const { columns, lines } = rounds();
  return lines.map((values) =>
    Object.fromEntries(
      columns.map((name, i) => [name, values[i]]).filter(([, value]) => value !== null),
    ),
  );
}

/**
 * @param {string} _
 * @param {unknown} value
 * @returns {unknown} texts as one printable line each, since some come from servers
 */
function printable(_, value) {
  return typeof value === 'string' ? plainText(value) : value;
}

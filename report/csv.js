/**
 * The report for spreadsheets and scripts: one row for each benchmark and round, one for a
 * benchmark without rounds. Plain numbers, units in the names, empty where there is no value. RFC
 * 4180: lines end in CRLF, quotes are doubled. Several results are one table, with one head.
 *
 * A spreadsheet runs a text that begins with = + - @ as a formula, and server messages are foreign
 * text: such a text gets an apostrophe in front (OWASP, CSV injection), which shows it as text. Of
 * each text there is one printable line. Who needs the exact words of a message takes the JSON.
 */

import { defineReport } from '../lib/define.js';
import { plainText } from '../lib/format.js';

/** @typedef {string | number | boolean | null | undefined} Value */

export default defineReport({
  name: 'csv',
  summary: 'one row for each benchmark and round, for spreadsheets and scripts',
  render(documents) {
    const tables = documents.flatMap(({ rounds }) => rounds?.() ?? []);
    const columns = [...new Set(tables.flatMap((table) => table.columns))];
    const lines = tables.flatMap((table) => {
      const places = columns.map((name) => table.columns.indexOf(name));
      return table.lines.map((values) => places.map((i) => field(values[i])).join(','));
    });
    return [columns.map(field).join(','), ...lines].map((line) => `${line}\r\n`).join('');
  },
});

/**
 * @param {Value} value
 * @returns {string} a field by RFC 4180, harmless in a spreadsheet
 */
export function field(value) {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = plainText(value);
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Formats the model's values by unit, for every text format. */

import {
  formatBytes,
  formatCount,
  formatDuration,
  formatInterval,
  formatMicroseconds,
  formatPercent,
  formatRatio,
  formatThroughput,
  NONE,
  plainText,
} from '../lib/format.js';

/** @typedef {import('../lib/report-types.js').Column} Column */
/** @typedef {import('../lib/report-types.js').Table} Table */
/** @typedef {import('../lib/report-types.js').TableRow} TableRow */
/** @typedef {import('../lib/report-types.js').Value} Value */

const MARKS = Object.freeze({ wrong: '! ', drift: '~ ' });

/** @type {Readonly<Record<string, (value: number) => string>>} */
const BY_UNIT = Object.freeze({
  ns: formatDuration,
  µs: formatMicroseconds,
  B: formatBytes,
  'MB/s': (bytes) => formatThroughput(bytes / 1e6),
  '×': formatRatio,
  '%': formatPercent,
  part: formatPart,
  count: formatCount,
  p: (p) => (p < 0.001 ? '< 0.001' : p.toFixed(3)),
});

/**
 * @param {Table} table
 * @param {TableRow} row
 * @param {{ knownRounds?: boolean, short?: boolean }} [options] knownRounds: omit n if equal to
 *   that of the table; short: also omit intervals of unranked metrics
 * @returns {string[]} one per column; the first has the marks of the row
 */
export function rowTexts(table, row, { knownRounds = false, short = false } = {}) {
  return table.columns.map((column, i) => {
    if (column.role === 'metric') {
      const bare = short && (row.quiet || column.shows?.includes('interval if wide'));
      const shown = bare ? { ...column, shows: [] } : column;
      return valueText(shown, row.values[column.key], knownRounds ? table.rounds : null);
    }
    const text = keyText(row.keys[column.key]);
    return i === 0 ? markedText(row, text) : text;
  });
}

/**
 * @param {Column} column
 * @returns {[string, string]} name in two lines
 */
export function headOf({ name, head = ['', name] }) {
  return head;
}

/**
 * @param {Pick<TableRow, 'mark' | 'remark'>} row
 * @param {string} name
 * @returns {string} `! ioredis`, `memory (harness overhead)`
 */
export function markedText({ mark, remark }, name) {
  const before = mark === null ? '' : MARKS[mark];
  return plainText(`${before}${name}${remark === null ? '' : ` (${remark})`}`);
}

/** @param {import('../lib/report-types.js').KeyValue} value */
function keyText(value) {
  if (value === null) return NONE;
  return typeof value === 'number' ? formatCount(value) : plainText(String(value));
}

/**
 * @param {Column} column
 * @param {Value} value
 * @param {number | null} [rounds] omitted from the text
 * @returns {string}
 */
export function valueText(column, value, rounds = null) {
  if ('state' in value) return value.state === 'unknown' ? NONE : plainText(value.state);
  const { shows = [] } = column;
  const parts = [figureText(column, value)];
  const hasInterval = shows.includes('interval') || shows.includes('interval if wide');
  if (hasInterval && typeof value.value === 'number') {
    const ofValue = (/** @type {number} */ own) => figureText(column, { ...value, value: own });
    parts.push(formatInterval(value.spread ?? null, value.value, ofValue));
  }
  if (shows.includes('n') && value.n !== rounds) parts.push(`(n ${value.n})`);
  return parts.filter((part) => part !== '').join(' ');
}

/**
 * @param {Column} column
 * @param {Extract<Value, { value: unknown }>} value
 */
function figureText({ unit, as = unit, digits, signed = false }, { value, low, high }) {
  if (typeof value === 'string') return plainText(value);
  if (as === 'rank') return low === high ? `${low}` : `${low}–${high}`;
  if (digits !== undefined) return value.toFixed(digits);
  const format = BY_UNIT[as] ?? (as.endsWith('/s') ? formatThroughput : BY_UNIT['count']);
  if (!signed) return format(value);
  return `${value < 0 ? '-' : '+'}${format(Math.abs(value))}`;
}

/**
 * @param {number} part fraction
 * @returns {string} `0`, `0.012%`
 */
function formatPart(part) {
  return part === 0 ? '0' : `${Number((part * 100).toPrecision(2))}%`;
}

/** @param {string} name */
export function snakeCase(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** @param {{ cpu: string, cores: number }} environment */
export function processorText({ cpu, cores }) {
  return `${cpu}, ${cores} ${cores === 1 ? 'core' : 'cores'}`;
}

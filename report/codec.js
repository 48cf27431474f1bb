/**
 * Codec variants as tables: one for each fixture, fastest first, what counts but does not decode
 * below, what is wrong at the end. Pure.
 */

import {
  formatBytes,
  formatCount,
  formatDuration,
  formatInterval,
  formatRatio,
  formatShare,
  formatThroughput,
  NONE,
  plainText,
} from '../lib/format.js';
import { toCodecGroups } from './analysis/codecs.js';
import { NEUTRAL_ROW } from './legacy-row.js';

/** @typedef {import('./analysis/codecs.js').CodecGroup} CodecGroup */
/** @typedef {import('./analysis/codecs.js').CodecRow} CodecRow */
/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('./legacy-row.js').Column} Column */
/** @typedef {import('./legacy-row.js').Table} Table */

const PROTOCOL_NAMES = Object.freeze({
  handlersocket: 'HandlerSocket',
  resp: 'RESP',
  messagepack: 'MessagePack (Tarantool)',
});
/** What stands behind a name; a driver needs no word. */
const KIND_TEXTS = Object.freeze({
  ours: ' (ours)',
  rejected: ' (rejected)',
  bound: ' (decodes nothing)',
});

/**
 * @param {string} name
 * @param {[string, string]} head
 * @param {number} drop
 * @param {(line: CodecRow) => string} text
 * @returns {Column}
 */
function column(name, head, drop, text) {
  const align = drop === 0 && name === 'variant' ? 'left' : 'right';
  return { name, head, align, drop, text: (/** @type {any} */ { line }) => text(line) };
}

/** @type {readonly Column[]} */
const COLUMNS = Object.freeze([
  column('variant', ['', 'variant'], 0, codecName),
  column('version', ['', 'version'], 6, ({ version }) => plainText(version ?? '')),
  column('place', ['', 'place'], 4, placeText),
  column('MB/s', ['', 'MB/s'], 0, speedText),
  column('rows/s', ['', 'rows/s'], 2, ({ rowsPerSecond }) => formatThroughput(rowsPerSecond)),
  column('time a row', ['time', 'a row'], 1, ({ rowNs }) => formatDuration(rowNs)),
  column('CPU a row', ['CPU', 'a row'], 1, ({ rowCpuNs }) => formatDuration(rowCpuNs)),
  column('of fastest', ['of', 'fastest'], 0, ({ ratio }) => formatRatio(ratio)),
  column('heap a row', ['heap', 'a row'], 3, ({ heapBytes }) => formatBytes(heapBytes)),
  column('Buffers a row', ['Buffers', 'a row'], 5, ({ bufferBytes }) => formatBytes(bufferBytes)),
  column('in GC', ['in', 'GC'], 4.5, ({ gcShare }) => formatShare(gcShare)),
]);

/**
 * @param {CodecRow} row
 * @returns {string} as tables and plots name it
 */
export function codecName({ row, kind, wrong }) {
  const text = KIND_TEXTS[/** @type {'ours'} */ (kind)] ?? '';
  return plainText(`${wrong ? '! ' : ''}${row.label}${text}`);
}

/** @param {CodecRow} row */
function placeText({ row: { place } }) {
  if (place === null) return NONE;
  return place.best === place.worst ? `${place.best}` : `${place.best}–${place.worst}`;
}

/** @param {CodecRow} row */
function speedText({ row, wrong, bytesPerSecond }) {
  if (wrong) return 'wrong';
  if (bytesPerSecond === null) return row.state === 'planned' ? 'not yet' : row.state;
  const interval = formatInterval(row.throughput?.interval.relativeHalfWidth ?? null);
  return `${formatThroughput(bytesPerSecond / 1e6)} ${interval}`.trimEnd();
}

/**
 * @param {Result} result
 * @returns {Table[]} none where no codec was tried
 */
export function codecTables(result) {
  return toCodecGroups(result).map((group) => ({
    title: groupTitle(group),
    columns: [...COLUMNS],
    rows: group.variants.map(toRow),
  }));
}

/** @param {CodecGroup} group */
function groupTitle({ protocol, direction, fixture, bytes, rows, repeat, variants }) {
  const name = `${codecGroupName({ protocol, direction })}, ${fixture}`;
  const rounds = Math.max(0, ...variants.map(({ row }) => row.n));
  const size =
    bytes === null || rows === null
      ? ''
      : `: ${formatBytes(bytes)}, ${formatCount(rows)} rows` +
        `${repeat === 1 ? '' : `, ${formatCount(repeat)} times an operation`}`;
  return plainText(`${name}${size}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`);
}

/**
 * @param {Pick<CodecGroup, 'protocol' | 'direction'>} group
 * @returns {string} `HandlerSocket, decoding`
 */
export function codecGroupName({ protocol, direction }) {
  const name = PROTOCOL_NAMES[/** @type {'resp'} */ (protocol)] ?? protocol;
  return plainText(`${name}, ${direction === 'decode' ? 'decoding' : 'encoding'}`);
}

/** @param {CodecRow} line */
function toRow(line) {
  return /** @type {any} */ ({ ...NEUTRAL_ROW, wrong: line.wrong ? 1 : 0, line });
}

/**
 * @param {Result} result
 * @returns {string[]} what the figures mean
 */
export function codecLegend(result) {
  if (!result.cells.some(({ workload }) => workload === 'codec')) return [];
  return [
    'codecs: an operation is one whole fixture, in chunks of 64 KiB at most. MB/s: a million bytes ' +
      'of the wire, median of the rounds ± the 95 % interval of their mean. CPU: of all threads, those ' +
      'that collect garbage too; on a busy machine it tells more than the time. heap, Buffers: bytes ' +
      'allocated for a row, garbage included, in a pass of its own; Buffers come in slabs, and are ' +
      'known to some ten per cent. Place: 2–4 is shared by those that the rounds do not tell apart.',
    'rejected: what ours was chosen over. decodes nothing: counts replies, what no decoder can ' +
      'reach. wrong: what comes out differs from what must; it was not timed.',
  ];
}

/** The options of `dragstrip insert`: a table as that of all commands, and what it takes of that. */

import { usageError } from '../lib/errors.js';
import {
  BATCH_ROWS,
  BATCH_ROWS_MAX,
  BATCHES_IN_FLIGHT,
  INSERT_ROWS,
  INSERT_ROWS_MAX,
  SINGLES_IN_FLIGHT,
  STRATEGY_NAMES,
} from '../lib/insertion.js';
import { ADDRESS_OPTIONS, OPTIONS, parseCount, STORE_OPTIONS } from './options.js';

const IN_FLIGHT_MAX = 10_000;

/** @param {string[]} names of OPTIONS */
function common(...names) {
  return names.map((name) => OPTIONS[name]);
}

/** @type {readonly import('./options.js').OptionRow[]} */
export const INSERT_OPTIONS = Object.freeze([
  {
    ...OPTIONS['storages'],
    help: 'storages to insert into: name, name:profile, with commas between',
    shown: 'all that insert and can run',
  },
  ...common('storage'),
  {
    flags: '--strategies <list>',
    help: `which: ${STRATEGY_NAMES.join(', ')}`,
    parse: parseStrategies,
    shown: 'all',
  },
  {
    flags: '--rows <n>',
    help: 'rows that each test inserts',
    parse: (text, flag) => parseCount(text, flag, 1, INSERT_ROWS_MAX),
    shown: String(INSERT_ROWS),
  },
  {
    flags: '--batch <list>',
    help: 'rows of a batch; with commas (50,166,500): each in turn',
    parse: (text, flag) => parseCounts(text, flag, BATCH_ROWS_MAX),
    shown: String(BATCH_ROWS),
  },
  {
    flags: '--in-flight <list>',
    help: 'batches in flight; with commas (1,5,10): each in turn',
    parse: (text, flag) => parseCounts(text, flag, IN_FLIGHT_MAX),
    shown: String(BATCHES_IN_FLIGHT),
  },
  {
    flags: '--window <n>',
    help: 'async and pairs: rows that are not acknowledged yet, at most',
    parse: (text, flag) => parseCount(text, flag, 1, IN_FLIGHT_MAX),
    shown: String(SINGLES_IN_FLIGHT),
  },
  { ...OPTIONS['rounds'], shown: '3' },
  {
    ...OPTIONS['warmup'],
    help: 'requests before the clock starts (of single rows: fifty times as many)',
    shown: '60',
  },
  { flags: '--svg <file>', help: 'a plot as SVG' },
  ...common('timeout', 'seed', ...STORE_OPTIONS, ...ADDRESS_OPTIONS, 'cassandra'),
]);

/**
 * @param {string} text
 * @param {string} flag
 * @returns {string[]} in the order of tables, each once
 */
function parseStrategies(text, flag) {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !STRATEGY_NAMES.includes(name));
  if (unknown !== undefined) {
    throw usageError(
      `${flag} ${JSON.stringify(text)}: no strategy ${JSON.stringify(unknown)}`,
      `the strategies: ${STRATEGY_NAMES.join(', ')}`,
    );
  }
  return STRATEGY_NAMES.filter((name) => names.includes(name));
}

/**
 * @param {string} text
 * @param {string} flag
 * @param {number} max
 * @returns {number[]} each once, ascending
 */
function parseCounts(text, flag, max) {
  const counts = text.split(',').map((item) => parseCount(item, flag, 1, max));
  return [...new Set(counts)].sort((a, b) => a - b);
}

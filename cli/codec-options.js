/** The options of `dragstrip codec`: which variants, on which fixtures. A table as that of all. */

import { OPTIONS, parseCount, STORE_OPTIONS } from './options.js';

/** @typedef {import('./options.js').OptionRow} OptionRow */

/** @param {string} text @param {string} flag */
const parseNames = (text, flag) => OPTIONS['storages'].parse?.(text, flag);

/** @type {readonly OptionRow[]} */
export const CODEC_OPTIONS = Object.freeze([
  {
    flags: '--protocols <list>',
    help: 'handlersocket, resp, messagepack, with commas between',
    parse: parseNames,
    shown: 'all',
  },
  {
    flags: '--variants <list>',
    help: 'codecs by name, or ./file.js of your own, with commas between',
    parse: parseNames,
    shown: 'all that can run here',
  },
  {
    flags: '--fixtures <list>',
    help: 'fixtures by name, such as sets or find-16, with commas between',
    parse: parseNames,
    shown: 'all but mixed, which is small',
  },
  { ...OPTIONS['rounds'], shown: '3' },
  { ...OPTIONS['duration'], shown: '250ms' },
  {
    ...OPTIONS['ops'],
    help: 'passes over a fixture (256 KiB at least) in each test, instead of a time',
    shown: 'as many as the time allows',
  },
  {
    flags: '--warmup <n>',
    help: 'passes before the clock starts, not counted',
    parse: (text, flag) => parseCount(text, flag, 0, 1e6),
    shown: '20',
  },
  { flags: '--svg <file>', help: 'a plot of the first protocol as SVG; report --svg draws all' },
  OPTIONS['pin'],
  OPTIONS['seed'],
  ...STORE_OPTIONS.map((name) => OPTIONS[name]),
]);

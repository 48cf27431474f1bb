/**
 * Sizes of values as a distribution: `--value-size uniform:16-1k`, `zipf:16-64k`, `hist:FILE`. The
 * size of a row is a pure function of (seed, id), like its value, so that every process and every
 * loader assigns the same one. A distribution is a text in canonical form, which also names it.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { unreadable, usageError } from './errors.js';
import { formatCount } from './format.js';
import { mix32 } from './random.js';
import { createZipf, sumOfPowers } from './zipf.js';

/** @typedef {import('./types.js').DatasetOptions} DatasetOptions */

/** Letters in a tag of a value; also the smallest value. */
export const VALUE_SIZE_MIN = 8;
/** 16 MiB: larger than any server's default packet; a value must fit into a single reply. */
export const VALUE_SIZE_MAX = 16 * 1024 * 1024;
/** YCSB's exponent. */
const EXPONENT = 0.99;
const EXPONENT_MAX = 60;
/** Maximum lines of a histogram: more sizes are noise, and can be rounded without loss. */
const LINES_MAX = 1000;
/** Marks of datasets have a bounded length on every server. */
const NAME_MAX = 160;
/** Prefix of the digest that replaces the name of a long histogram in a mark. */
export const DIGEST = 'hist:sha256-';
const SIZE_STREAM = 0x737a; // distinct from the streams of values and keys

const HINT =
  'write 1k, uniform:16-1k, zipf:16-64k (small values are frequent), zipf:16-64k:1.2 or ' +
  'hist:FILE with a line "size count" per size';

/**
 * @typedef {object} SizeDistribution
 * @property {string} text in canonical form: `uniform:16-1000`
 * @property {number} min
 * @property {number} max
 * @property {number} mean
 * @property {(seed: number) => (id: number) => number} bind size of each row
 */

/**
 * @param {string} text `uniform:MIN-MAX`, `zipf:MIN-MAX[:EXPONENT]`, `hist:SIZE:COUNT,…`
 * @param {string} [label] name of the option
 * @returns {SizeDistribution}
 * @throws {import('./errors.js').DragstripError} E_USAGE
 */
export function parseSizes(text, label = '--value-size') {
  const [, kind, rest] = /^\s*(uniform|zipf|hist):(.*?)\s*$/.exec(text) ?? [];
  const wrong = () => usageError(`${label} ${JSON.stringify(text)}: not sizes of values`, HINT);
  if (kind === undefined) throw wrong();
  if (kind === 'hist') return histogramOf(binsOf(rest, label), label);
  const [, from, to, power] = /^(\w+)-(\w+)(?::(\d+\.?\d*|\.\d+))?$/.exec(rest) ?? [];
  const [min, max] = [sizeOf(from), sizeOf(to)];
  const exponent = power === undefined ? EXPONENT : Number(power);
  if (min === null || max === null || exponent > EXPONENT_MAX) throw wrong();
  if (kind === 'uniform' && power !== undefined) throw wrong();
  requireRange(min, max, `${label} ${text}`);
  return kind === 'uniform' ? uniformOf(min, max) : zipfOf(min, max, exponent);
}

/**
 * @param {unknown} input from the command line or a program: a number, or a text
 * @param {string} label
 * @returns {number | string} the distribution in canonical form; `hist:FILE` is read
 */
export function readValueSize(input, label) {
  const text = typeof input === 'string' ? input.trim() : input;
  if (typeof text !== 'string' || /^\d/.test(text)) {
    const size = typeof text === 'string' ? sizeOf(text) : text;
    if (typeof size === 'number' && isSize(size)) return size;
    throw usageError(
      `${label} ${JSON.stringify(input)}: not a whole number from ${VALUE_SIZE_MIN} to ` +
        `${VALUE_SIZE_MAX}`,
      HINT,
    );
  }
  const [, file] = /^hist:(.*[^\d:,kM\s].*)$/.exec(text) ?? [];
  return parseSizes(file === undefined ? text : `hist:${readHistogram(file, label)}`, label).text;
}

/**
 * @param {unknown} input several separated by commas, or a list; or any argument of readValueSize
 * @param {string} label
 * @returns {(number | string)[]} several numbers, or one distribution
 */
export function readValueSizes(input, label) {
  const isOne = typeof input === 'string' && /^\s*[a-z]/i.test(input);
  const items = isOne ? [input] : typeof input === 'string' ? input.split(',') : [input].flat();
  const sizes = [...new Set(items.map((item) => readValueSize(item, label)))];
  if (sizes.length > 1 && sizes.some((size) => typeof size === 'string')) {
    throw usageError(
      `${label} ${items.join()}: a distribution cannot be combined with other sizes`,
      'write one distribution, or a list of numbers',
    );
  }
  if (sizes.length > 0) return sizes;
  throw usageError(`${label}: an empty list`, HINT);
}

/**
 * @param {number | string} size result of readValueSize
 * @returns {Pick<DatasetOptions, 'valueSize' | 'valueSizes'>} the fields of a dataset
 */
export function sizeOptions(size) {
  if (typeof size === 'number') return { valueSize: size };
  const { text, max } = parseSizes(size);
  return { valueSize: max, valueSizes: text };
}

/**
 * Equal for two datasets whose rows have the same sizes; short enough for the mark of a server.
 * @param {string} text text of a distribution
 * @returns {string}
 */
export function sizesName(text) {
  if (text.length <= NAME_MAX) return text;
  return `${DIGEST}${digestOf(text).slice(0, 16)}`;
}

/**
 * @param {string} text text of a distribution
 * @returns {string} eight hexadecimal digits, for names of files
 */
export function shortSizesName(text) {
  return digestOf(text).slice(0, 8);
}

/** @param {string} text */
function digestOf(text) {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * @param {Pick<DatasetOptions, 'valueSize' | 'valueSizes'>} dataset
 * @returns {string} `1,024 characters`; `16 to 1,000 characters (uniform:16-1000)`
 */
export function describeSizes({ valueSize, valueSizes }) {
  if (valueSizes === undefined) return `${formatCount(valueSize)} characters`;
  const name = sizesName(valueSizes);
  if (valueSizes.startsWith(DIGEST)) return `up to ${formatCount(valueSize)} characters (${name})`;
  const { min, mean } = parseSizes(valueSizes);
  return (
    `${formatCount(min)} to ${formatCount(valueSize)} characters, ` +
    `${formatCount(Math.round(mean))} on average (${name})`
  );
}

/**
 * @param {Pick<DatasetOptions, 'valueSize' | 'valueSizes'>} dataset
 * @returns {number | string} equal for two datasets whose values have the same sizes
 */
export function sizesOf({ valueSize, valueSizes }) {
  return valueSizes ?? valueSize;
}

/** @param {string | undefined} text `16`, `64k` @returns {number | null} */
function sizeOf(text = '') {
  const [, digits, unit = ''] = /^(\d[\d_]*)([kM]?)$/.exec(text) ?? [];
  if (digits === undefined) return null;
  return Number(digits.replaceAll('_', '')) * ({ k: 1e3, M: 1e6 }[unit] ?? 1);
}

/** @param {number} size */
function isSize(size) {
  return Number.isInteger(size) && size >= VALUE_SIZE_MIN && size <= VALUE_SIZE_MAX;
}

/** @param {number} min @param {number} max @param {string} what */
function requireRange(min, max, what) {
  if (isSize(min) && isSize(max) && min <= max) return;
  throw usageError(
    `${what}: sizes are whole numbers from ${VALUE_SIZE_MIN} to ${VALUE_SIZE_MAX}, in ascending order`,
    HINT,
  );
}

/**
 * @param {string} file
 * @param {string} label
 * @returns {string} `SIZE:COUNT,…`
 */
function readHistogram(file, label) {
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(`${label} hist:${file}: ${unreadable(error)}`, HINT);
  }
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim());
  const bins = lines.flatMap((line, i) => {
    if (line === '') return [];
    const [, size, count] = /^(\d+[kM]?)[\s,;:]+(\d+)$/.exec(line) ?? [];
    if (size !== undefined) return [`${size}:${count}`];
    throw usageError(`${label} hist:${file}: line ${i + 1} is not "size count"`, HINT);
  });
  return bins.join();
}

/**
 * @param {string} text `16:100,1k:5`
 * @param {string} label
 * @returns {[number, number][]} unique sizes in ascending order, with their counts
 */
function binsOf(text, label) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const item of text.split(',')) {
    const [, size, count] = /^(\d+[kM]?):(\d+)$/.exec(item.trim()) ?? [];
    const own = sizeOf(size);
    if (own === null) throw usageError(`${label}: ${JSON.stringify(item)} is not SIZE:COUNT`, HINT);
    requireRange(own, own, `${label}: size ${own}`);
    counts.set(own, (counts.get(own) ?? 0) + Number(count));
  }
  return [...counts].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
}

/** @param {[number, number][]} bins @param {string} label @returns {SizeDistribution} */
function histogramOf(bins, label) {
  const sum = bins.reduce((all, [, count]) => all + count, 0);
  if (bins.length === 0 || bins.length > LINES_MAX || !Number.isSafeInteger(sum)) {
    throw usageError(
      `${label} hist: ${bins.length} sizes with ${sum} values; the maximum is ${LINES_MAX} sizes`,
      'round the sizes to reduce their number',
    );
  }
  const sizes = bins.map(([size]) => size);
  let below = 0;
  const ends = Float64Array.from(bins, ([, count]) => {
    below += count;
    return below / sum;
  });
  return {
    text: `hist:${bins.map(([size, count]) => `${size}:${count}`).join()}`,
    min: sizes[0],
    max: sizes[sizes.length - 1],
    mean: bins.reduce((all, [size, count]) => all + size * (count / sum), 0),
    bind: (seed) => (id) => sizes[firstAbove(ends, unitOf(seed, id))],
  };
}

/**
 * @param {Float64Array} ends ascending
 * @param {number} u a number below the last
 * @returns {number} index
 */
function firstAbove(ends, u) {
  let low = 0;
  let high = ends.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ends[middle] > u) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** @param {number} seed @param {number} id @returns {number} 0 to 1, without 1 */
function unitOf(seed, id) {
  return mix32(seed ^ SIZE_STREAM, id) / 2 ** 32;
}

/** @param {number} min @param {number} max @returns {SizeDistribution} */
function uniformOf(min, max) {
  const span = max - min + 1;
  return {
    text: `uniform:${min}-${max}`,
    min,
    max,
    mean: (min + max) / 2,
    bind: (seed) => (id) => min + Math.floor(unitOf(seed, id) * span),
  };
}

/**
 * The smallest size is the most frequent one, as in YCSB's zipfian field lengths.
 * @param {number} min
 * @param {number} max
 * @param {number} exponent
 * @returns {SizeDistribution}
 */
function zipfOf(min, max, exponent) {
  const span = max - min + 1;
  const ranks = sumOfPowers(span, 1 - exponent) / sumOfPowers(span, -exponent);
  return {
    text: `zipf:${min}-${max}:${exponent}`,
    min,
    max,
    mean: min - 1 + ranks,
    bind(seed) {
      let word = 0;
      let draws = 0;
      const rank = createZipf(span, exponent, () => {
        draws += 1;
        return mix32(word, draws);
      });
      return (id) => {
        word = mix32(seed ^ SIZE_STREAM, id);
        draws = 0;
        return min + rank();
      };
    },
  };
}

/**
 * Options as data: an option is declared once, with its kind, range, default and help. The
 * declaration provides the parser of the command line, the help, the README, the validation of
 * values from programs, and the default. A value is read from text or used directly, by the same
 * rules.
 */

import { usageError } from './errors.js';

/**
 * @typedef {object} Option
 * @property {keyof typeof KINDS} kind
 * @property {string} help one line
 * @property {any} [default] absent: no default
 * @property {string} [shown] default shown in the help, if it is not a single value
 * @property {string} [value] placeholder in the help: `<n>`
 * @property {string} [flag] without dashes; absent: the name in kebab case
 * @property {readonly string[]} [also] further option names with dashes: `-c`, `--clients`
 * @property {Readonly<Record<string, unknown>>} [defaultOf] other defaults, by test
 * @property {Readonly<Record<string, unknown>>} [implies] for a flag: values of other options that
 *   are not given
 * @property {readonly string[]} [tests] tests of the workload that accept it; absent: all
 * @property {number} [min]
 * @property {number} [max]
 * @property {readonly string[] | Readonly<Record<string, unknown>>} [choices] names; or names and
 *   their meanings
 * @property {(text: string, label: string) => unknown} [read] parser of the kind `read`
 * @property {boolean} [isFlag] false: only for programs
 * @property {string} [hint] hint for a list with an empty name; absent: an example
 *
 * @typedef {Readonly<Record<string, Option>>} OptionTable options by name
 * @typedef {Partial<Option> & { help: string }} More
 */

/** @typedef {Option['kind']} Kind */

/** @type {(kind: Kind, value: string) => (fallback: any, more: More) => Option} */
const simple = (kind, value) => (fallback, more) => ({ kind, value, default: fallback, ...more });

/**
 * @type {(kind: Kind, value: string) =>
 *   (min: number, max: number, fallback: any, more: More) => Option}
 */
const ranged = (kind, value) => (min, max, fallback, more) => ({
  ...simple(kind, value)(fallback, more),
  min,
  max,
});

/** @typedef {NonNullable<Option['choices']>} Choices */

/**
 * @type {(kind: Kind, value: string) =>
 *   (choices: Choices, fallback: unknown, more: More) => Option}
 */
const named = (kind, value) => (known, fallback, more) => ({
  ...simple(kind, value)(fallback, more),
  choices: known,
});

/** @type {(min: number, max: number, fallback: number | undefined, more: More) => Option} */
export const count = ranged('count', '<n>');

/**
 * @type {(min: number, max: number, fallback: readonly number[] | undefined, more: More) => Option}
 */
export const counts = ranged('counts', '<list>');

/**
 * Milliseconds; as text with a unit. @type {(fallback: number | undefined, more: More) => Option}
 */
export const duration = simple('duration', '<time>');

/**
 * Milliseconds; as text in seconds. @type {(fallback: number | undefined, more: More) => Option}
 */
export const seconds = simple('seconds', '<seconds>');

export const choice = named('choice', '<name>');

/** Several of the known names, in their order. */
export const choices = named('choices', '<list>');

/** @type {(fallback: readonly string[] | undefined, more: More) => Option} */
export const names = simple('names', '<list>');

/** @type {(more: More) => Option} */
export const flag = (more) => ({ kind: 'flag', ...more });

/** @type {(more: More) => Option} */
export const text = (more) => ({ kind: 'text', value: '<text>', ...more });

/** One text per occurrence of the option. @type {(more: More) => Option} */
export const texts = (more) => ({ kind: 'texts', value: '<text>', ...more });

/** A kind with its own rules. @type {(read: NonNullable<Option['read']>, more: More) => Option} */
export const reading = (read, more) => ({ kind: 'read', value: '<text>', read, ...more });

const DURATION_UNITS_MS = Object.freeze({ us: 1e-3, µs: 1e-3, ms: 1, s: 1e3, m: 6e4, h: 36e5 });
const DAY_MS = 86_400_000;

/**
 * @param {unknown} input digits, with `_` between and `k` or `M` after them; or a number
 * @param {Pick<Option, 'min' | 'max' | 'default' | 'shown'>} option
 * @param {string} label
 * @returns {number}
 * @throws {import('./errors.js').DragstripError} E_USAGE with the nearest valid number
 */
function takeCount(input, option, label) {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = option;
  const match =
    typeof input === 'string' ? /^(\d[\d_]*(?:\.\d+)?)([kM]?)$/.exec(input.trim()) : null;
  const unit = { '': 1, k: 1e3, M: 1e6 }[match?.[2] ?? ''] ?? 1;
  const value = match === null ? input : scaled(match[1].replaceAll('_', ''), unit);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) {
    return value;
  }
  const meant = value === '' ? Number.NaN : Math.round(Number(value));
  const near = Number.isNaN(meant) ? usualCount(option) : Math.max(min, Math.min(max, meant));
  throw usageError(
    `${label} ${JSON.stringify(input)}: not a whole number from ${min} to ${max}`,
    `write for example ${label} ${near}`,
  );
}

/**
 * @param {string} digits
 * @param {number} unit
 * @returns {number} rounded, so that 2.3k is 2300, not 2299.99…
 */
const scaled = (digits, unit) => Number((Number(digits) * unit).toFixed(6));

/**
 * @param {{ default?: any, shown?: string, min?: number }} option
 * @returns {number} text for hints
 */
function usualCount({ default: value, shown, min = 1 }) {
  return Number([value ?? shown].flat()[0]) || min;
}

/**
 * @param {unknown} input `10s`, `500ms`, `2m`; or milliseconds
 * @param {Option} _option
 * @param {string} label
 * @returns {number} milliseconds, more than 0 and at most a day
 */
function takeDuration(input, _option, label) {
  const match =
    typeof input === 'string' ? /^(\d+(?:\.\d+)?)(us|µs|ms|s|m|h)?$/.exec(input.trim()) : null;
  if (Number(match?.[1]) > 0 && match?.[2] === undefined) {
    throw usageError(
      `${label} ${JSON.stringify(input)}: a time without a unit`,
      `write ${label} ${match?.[1]}s or ${label} ${match?.[1]}ms`,
    );
  }
  const unit = DURATION_UNITS_MS[/** @type {'s'} */ (match?.[2] ?? 's')];
  const value = match === null ? input : Number(match[1]) * unit;
  if (typeof value === 'number' && value > 0 && value <= DAY_MS) return value;
  throw usageError(
    `${label} ${JSON.stringify(input)}: not a time up to 24 h`,
    `write for example ${label} 10s or ${label} 500ms`,
  );
}

/**
 * @param {unknown} given `2`, `.5`; or milliseconds
 * @param {string} label
 * @returns {number} milliseconds
 */
function takeSeconds(given, label) {
  const match = typeof given === 'string' ? /^(\d+\.?\d*|\.\d+)$/.exec(given.trim()) : null;
  const value = match === null ? given : Number(match[1]) * 1000;
  if (typeof value === 'number' && value >= 0 && value <= DAY_MS) return value;
  throw usageError(
    `${label} ${JSON.stringify(given)}: not a number of seconds`,
    'such as 2 or 0.5',
  );
}

/**
 * @param {unknown} given text separated by commas; or a list
 * @param {string} label
 * @param {string} [hint]
 * @returns {unknown[]} at least one item
 */
function itemsOf(given, label, hint = `write for example ${label} a,b`) {
  const items = typeof given === 'string' ? given.split(',').map((item) => item.trim()) : given;
  if (Array.isArray(items) && items.length > 0 && !items.includes('')) return items;
  throw usageError(
    `${label} ${JSON.stringify(given)}: ${Array.isArray(items) ? 'an empty item in the list' : 'not a list'}`,
    hint,
  );
}

/**
 * @param {unknown} given
 * @param {Option} option
 * @param {string} label
 * @param {unknown} [whole] complete text for the message
 * @returns {string} the valid name
 */
function takeName(given, { choices: known = [] }, label, whole = given) {
  const all = Array.isArray(known) ? known : Object.keys(known);
  if (typeof given === 'string' && all.includes(given)) return given;
  throw usageError(
    `${label} ${JSON.stringify(whole)}: unknown value ${JSON.stringify(given)}`,
    `available: ${all.join(', ')}`,
  );
}

/**
 * @param {Option} option
 * @param {string} name
 */
function meaningOf({ choices: known = [] }, name) {
  return Array.isArray(known) ? name : /** @type {Record<string, unknown>} */ (known)[name];
}

/**
 * Parser of each kind, from text or from the value itself. Throws E_USAGE.
 * @satisfies {Record<string, (given: any, option: Option, label: string) => unknown>}
 */
const KINDS = {
  count: takeCount,
  counts: (given, option, label) => {
    const hint = `write for example ${label} ${usualCount(option)}`;
    const items = typeof given === 'number' ? [given] : itemsOf(given, label, hint);
    return [...new Set(items.map((item) => takeCount(item, option, label)))];
  },
  duration: takeDuration,
  seconds: (given, _option, label) => takeSeconds(given, label),
  choice(given, option, label) {
    const known = option.choices ?? [];
    const isMeaning = !Array.isArray(known) && typeof given !== 'string';
    return isMeaning ? given : meaningOf(option, takeName(given, option, label));
  },
  choices(given, option, label) {
    const all = Array.isArray(option.choices) ? option.choices : Object.keys(option.choices ?? {});
    const named = itemsOf(given, label).map(
      (item) => all.find((name) => meaningOf(option, name) === item) ?? item,
    );
    const taken = named.map((item) => takeName(item, option, label, given));
    return all.filter((name) => taken.includes(name)).map((name) => meaningOf(option, name));
  },
  names: (given, { hint }, label) =>
    itemsOf(given, label, hint).map((item) => takeText(item, label)),
  flag: (given, _option, label) => {
    if (typeof given === 'boolean') return given;
    throw usageError(`${label} ${JSON.stringify(given)}: not true or false`);
  },
  text: (given, _option, label) => takeText(given, label),
  texts: (given, _option, label) => [given].flat().map((item) => takeText(item, label)),
  read: (given, { read = (one) => one }, label) => read(given, label),
};

/**
 * @param {unknown} given
 * @param {string} label
 */
function takeText(given, label) {
  if (typeof given === 'string') return given;
  throw usageError(`${label} ${JSON.stringify(given)}: not a string`);
}

/**
 * @param {string} name
 * @param {Option} option
 * @returns {string} `--data-size`
 */
export function flagOf(name, { flag: own }) {
  return `--${own ?? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/**
 * @param {string} name
 * @param {Option} option
 * @param {unknown} given a value; or text
 * @param {{ asText?: boolean }} [how] asText: from the command line
 * @returns {any} the parsed value
 * @throws {import('./errors.js').DragstripError} E_USAGE: wrong kind or out of range
 */
export function takeOption(name, option, given, { asText = false } = {}) {
  const label = flagOf(name, option);
  if (asText || typeof given !== 'string' || TEXT_KINDS.includes(option.kind)) {
    return KINDS[option.kind](given, option, label);
  }
  throw usageError(`${label} ${JSON.stringify(given)}: a text`, 'pass the value itself');
}

/** Kinds whose value may be a text. */
const TEXT_KINDS = ['choice', 'text', 'texts', 'read'];

/**
 * @param {OptionTable} table
 * @param {Readonly<Record<string, unknown>>} input given values by name
 * @param {{ asText?: boolean, test?: string, command?: string }} [how] test: of the workload;
 *   command: its name with its tests
 * @returns {Record<string, any>} values, with the defaults of options that are not given
 * @throws {import('./errors.js').DragstripError} E_USAGE
 */
export function takeOptions(table, input, how = {}) {
  const { test = '', command = '' } = how;
  const flags = Object.entries(table).filter(([name]) => input[name] === true);
  const implied = Object.assign({}, ...flags.map(([, { implies }]) => implies));
  /** @type {Record<string, any>} */
  const values = {};
  for (const [name, option] of Object.entries(table)) {
    const { tests, defaultOf = {} } = option;
    const isGiven = input[name] !== undefined;
    if (tests !== undefined && !tests.includes(test)) {
      if (!isGiven) continue;
      const owner = `${command} ${tests[0]}`.trim();
      throw usageError(`${flagOf(name, option)} is an option of ${owner}`, 'leave it out');
    }
    const byDefault =
      implied[name] ?? (Object.hasOwn(defaultOf, test) ? defaultOf[test] : option.default);
    const value = isGiven ? takeOption(name, option, input[name], how) : byDefault;
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/**
 * @param {Option} option
 * @returns {string} description in the help, without the default
 */
export function helpOf({ help, also = [] }) {
  const others = also.filter((one) => one.startsWith('--'));
  return others.length === 0 ? help : `${help} (also ${others.join(', ')})`;
}

/** @param {Option} option @returns {string | undefined} the default, as shown in the help */
export function defaultIn(option) {
  if (option.shown !== undefined) return option.shown;
  const own = shownDefault(option);
  const others = Object.entries(option.defaultOf ?? {}).flatMap(([test, value]) => {
    const shown = shownDefault({ ...option, default: value });
    return shown === undefined ? [] : [`${test}: ${shown}`];
  });
  const all = own === undefined ? others : [own, ...others];
  return all.length === 0 ? undefined : all.join('; ');
}

/** @param {Option} option */
function shownDefault({ kind, default: value, choices: known = [] }) {
  if (value === undefined || kind === 'flag') return undefined;
  if (kind === 'duration') return value % 1000 === 0 ? `${value / 1000}s` : `${value}ms`;
  if (kind === 'seconds') return String(value / 1000);
  if (!Array.isArray(known) && kind === 'choice') {
    const text = JSON.stringify(value);
    return Object.keys(known).find(
      (name) => JSON.stringify(meaningOf({ kind, help: '', choices: known }, name)) === text,
    );
  }
  if (kind === 'choices' && !Array.isArray(known)) return undefined;
  return Array.isArray(value) ? value.join(',') : String(value);
}

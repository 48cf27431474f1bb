/**
 * Converts declared options (lib/options.js) to rows for the parser, the help and docs/options.md.
 */

import { usageError } from '../lib/errors.js';
import { defaultIn, flagOf, helpOf, takeOption } from '../lib/options.js';

/** @typedef {import('../lib/options.js').Option} Option */
/** @typedef {import('../lib/options.js').OptionTable} OptionTable */
/** @typedef {import('./options.js').OptionRow} OptionRow */

/**
 * @param {OptionTable} table
 * @returns {OptionRow[]}
 */
export function rowsOf(table) {
  return flagsIn(table).flatMap(([name, option]) => {
    const { also = [], value, tests } = option;
    const behind = value === undefined ? '' : ` ${value}`;
    const [short] = also.filter((one) => /^-[a-zA-Z]$/.test(one));
    const flags = `${short === undefined ? '' : `${short}, `}${flagOf(name, option)}${behind}`;
    const isList = option.kind === 'texts';
    const head = tests === undefined || tests.includes('') ? '' : `${tests.join(', ')}: `;
    const check = (/** @type {string} */ text) => takeOption(name, option, text, { asText: true });
    const row = { isList, check: option.kind === 'flag' ? undefined : check };
    const aliasOf = flagOf(name, option);
    return [
      { ...row, flags: flags, help: `${head}${helpOf(option)}`, shown: defaultIn(option) },
      ...also
        .filter((one) => one.startsWith('--'))
        .map((one) => ({ ...row, flags: `${one}${behind}`, help: '', hidden: true, aliasOf })),
    ];
  });
}

/**
 * Rows of declared options, with their texts evaluated.
 * @param {OptionTable} table
 * @returns {Record<string, OptionRow>}
 */
export function declared(table) {
  const rows = Object.entries(table).map(([name, option]) => {
    const [row] = rowsOf({ [name]: option });
    return [name, option.kind === 'texts' ? row : { ...row, parse: row.check }];
  });
  return Object.fromEntries(rows);
}

/** @param {OptionTable} table */
function flagsIn(table) {
  return Object.entries(table).filter(([, { isFlag = true }]) => isFlag);
}

/**
 * @param {OptionTable} table
 * @param {Record<string, any>} parsed with commander's names
 * @returns {Record<string, unknown>} the values on the command line, by names of the table
 */
export function givenOf(table, parsed) {
  /** @type {Record<string, unknown>} */
  const values = {};
  for (const [name, option] of flagsIn(table)) {
    const flags = [flagOf(name, option), ...(option.also ?? [])];
    for (const flag of flags) {
      const value = givenBy(flag, parsed);
      if (!flag.startsWith('--') || value === undefined) continue;
      if (Object.hasOwn(values, name)) {
        throw usageError(`${flags[0]} and ${flag} are the same option`, `leave out ${flag}`);
      }
      values[name] = value;
    }
  }
  return values;
}

/**
 * @param {string} flag
 * @param {Record<string, any>} parsed commander parses `--no-page` as page = false
 */
function givenBy(flag, parsed) {
  const isNegated = flag.startsWith('--no-');
  if (!isNegated) return parsed[attributeOf(flag)];
  return parsed[attributeOf(flag.replace('--no-', '--'))] === false ? true : undefined;
}

/** @param {string} flag `--data-size` */
function attributeOf(flag) {
  return flag.slice(2).replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
}

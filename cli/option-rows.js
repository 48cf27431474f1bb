/** Options as data (lib/options.js) to the rows that the parser, the help and the README take. */

import { flagOf, helpOf, takeOption } from '../lib/options.js';

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
    const own = `${short === undefined ? '' : `${short}, `}${flagOf(name, option)}${behind}`;
    const parse = option.kind === 'texts' ? collect : undefined;
    const head = tests === undefined || tests.includes('') ? '' : `${tests.join(', ')}: `;
    return [
      { flags: own, help: `${head}${helpOf(option)}`, parse },
      ...also
        .filter((one) => one.startsWith('--'))
        .map((one) => ({ flags: `${one}${behind}`, help: '', parse, hidden: true })),
    ];
  });
}

/**
 * Declared options as rows whose texts are taken at once.
 * @param {OptionTable} table
 * @returns {Record<string, OptionRow>}
 */
export function declared(table) {
  const rows = Object.entries(table).map(([name, option]) => {
    const [row] = rowsOf({ [name]: option });
    const parse = (/** @type {string} */ text) => takeOption(name, option, text, { asText: true });
    const takesAtOnce = option.kind !== 'flag' && option.kind !== 'texts';
    return [name, takesAtOnce ? { ...row, parse } : row];
  });
  return Object.fromEntries(rows);
}

/** @param {OptionTable} table */
function flagsIn(table) {
  return Object.entries(table).filter(([, { isFlag = true }]) => isFlag);
}

/** @type {NonNullable<OptionRow['parse']>} */
export const collect = (text, _flag, previous = []) => [...previous, text];

/**
 * @param {OptionTable} table
 * @param {Record<string, any>} parsed as commander names them
 * @returns {Record<string, unknown>} what was given, by the names of the table
 */
export function givenOf(table, parsed) {
  /** @type {Record<string, unknown>} */
  const given = {};
  for (const [name, option] of flagsIn(table)) {
    const flags = [flagOf(name, option), ...(option.also ?? [])];
    for (const flag of flags) {
      const value = givenBy(flag, parsed);
      if (flag.startsWith('--') && value !== undefined) given[name] = value;
    }
  }
  return given;
}

/**
 * @param {string} flag
 * @param {Record<string, any>} parsed commander takes `--no-page` for a page that is false
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

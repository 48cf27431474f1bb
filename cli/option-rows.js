/** Options as data (lib/options.js) to the rows that the parser, the help and the README take. */

import { flagOf, helpOf } from '../lib/options.js';

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

/** @param {OptionTable} table */
function flagsIn(table) {
  return Object.entries(table).filter(([, { isFlag = true }]) => isFlag);
}

/** @type {NonNullable<OptionRow['parse']>} */
const collect = (text, _flag, previous = []) => [...previous, text];

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

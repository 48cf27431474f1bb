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
  return Object.entries(table).flatMap(([name, option]) => {
    const { also = [], value, tests } = option;
    const behind = value === undefined ? '' : ` ${value}`;
    const [short] = also.filter((one) => /^-[a-z]$/.test(one));
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
  for (const [name, option] of Object.entries(table)) {
    const flags = [flagOf(name, option), ...(option.also ?? [])];
    for (const flag of flags) {
      const value = parsed[attributeOf(flag)];
      if (flag.startsWith('--') && value !== undefined) given[name] = value;
    }
  }
  return given;
}

/** @param {string} flag `--data-size` */
function attributeOf(flag) {
  return flag.slice(2).replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
}

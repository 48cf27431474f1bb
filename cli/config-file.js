/**
 * `dragstrip.config.js`: values of options, for all commands or for one. The command line takes
 * precedence. Names and values are checked like those of the command line.
 */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { usageError } from '../lib/errors.js';
import { nearMiss } from '../lib/near-miss.js';
import { loadOwnFile } from '../lib/own-file.js';
import { longName } from './help.js';

/** @typedef {import('./options.js').OptionRow} OptionRow */

const FILE = 'dragstrip.config.js';
/** Options that exist only on the command line. */
const EXCLUDED = ['config', 'workload'];

/**
 * @param {import('commander').Command} command the parsed command; receives the values
 * @param {{ name: string, rows: readonly OptionRow[], commands: readonly string[], allRows: () =>
 *   Promise<readonly OptionRow[]>, stderr: NodeJS.WriteStream }} about name: the command; rows: its
 *   options; commands: names of all commands; allRows: options of all commands
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: unknown name or wrong value
 */
export async function applyConfig(command, { name, rows, commands, allRows, stderr }) {
  const { config: named, quiet } = command.opts();
  if (rows.length === 0 || (named === undefined && !existsSync(FILE))) return;
  const file = named ?? FILE;
  const hint = 'write for example: export default { race: { budget: "1m" } }';
  const config = await loadOwnFile('config', path.resolve(file), hint);
  const rowsOfCommand = byName(rows);
  const common = entriesOf(config, file).filter(([key]) => !commands.includes(key));
  const isUnknown = common.some(([key]) => !rowsOfCommand.has(key));
  const all = isUnknown ? byName(await allRows()) : rowsOfCommand;
  for (const [key] of common) requireKnown(file, key, [...all.keys(), ...commands]);
  const ofCommand = entriesOf(config[name] ?? {}, `${file}: ${name}`);
  for (const [key] of ofCommand) requireKnown(`${file}: ${name}`, key, [...rowsOfCommand.keys()]);
  const flags = [];
  for (const [key, value] of new Map([...common, ...ofCommand])) {
    const row = rowsOfCommand.get(key);
    if (row === undefined || isGiven(command, row, rows)) continue;
    const taken = takeValue(row, value, file);
    if (taken === undefined) continue;
    command.setOptionValueWithSource(attributeOf(command, row), taken, 'config');
    flags.push(`--${key}`);
  }
  if (flags.length > 0 && !quiet) stderr.write(`options from ${file}: ${flags.join(', ')}\n`);
}

/** @param {readonly OptionRow[]} rows */
function byName(rows) {
  const named = rows.map((row) => /** @type {const} */ ([longName(row), row]));
  return new Map(named.filter(([name]) => !EXCLUDED.includes(name)));
}

/**
 * @param {unknown} given
 * @param {string} label
 * @returns {[string, unknown][]} `failIf` as `fail-if`
 */
function entriesOf(given, label) {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw usageError(`${label}: not an object`, 'write options as { budget: "1m" }');
  }
  return Object.entries(given).map(([key, value]) => [
    key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    value,
  ]);
}

/** @param {string} label @param {string} key @param {readonly string[]} names */
function requireKnown(label, key, names) {
  if (names.includes(key)) return;
  const hint = 'docs/options.md lists the options of each command';
  throw usageError(`${label}: unknown option "${key}"${nearMiss(key, names)}`, hint);
}

/** @param {import('commander').Command} command @param {OptionRow} row */
function attributeOf(command, row) {
  const option = command.options.find(({ long }) => long === `--${longName(row)}`);
  return option?.attributeName() ?? longName(row);
}

/**
 * @param {import('commander').Command} command
 * @param {OptionRow} row
 * @param {readonly OptionRow[]} rows
 * @returns {boolean} whether the command line has the option, also by another name
 */
function isGiven(command, row, rows) {
  const flagOf = (/** @type {OptionRow} */ one) => one.aliasOf ?? `--${longName(one)}`;
  return rows
    .filter((one) => flagOf(one) === flagOf(row))
    .some((one) => command.getOptionValueSource(attributeOf(command, one)) === 'cli');
}

/**
 * @param {OptionRow} row
 * @param {unknown} value
 * @param {string} file
 * @returns {unknown} the value as if parsed from the command line; undefined: not set
 */
function takeValue({ flags, isList, check, parse = (text) => text }, value, file) {
  const name = longName({ flags, help: '' });
  const flag = `--${name}`;
  const wrong = `${file}: ${flag} ${JSON.stringify(value)}`;
  if (typeof value === 'boolean' && !flags.includes('<')) {
    return value ? !flag.startsWith('--no-') : undefined;
  }
  if (!/[<[]/.test(flags)) throw usageError(`${wrong}: not a boolean`, 'write true or false');
  const texts = [value].flat();
  if (texts.some((one) => typeof one !== 'string' && typeof one !== 'number')) {
    throw usageError(
      `${wrong}: not a string, a number or a list`,
      `write for example { "${name}": "5" }`,
    );
  }
  try {
    const text = texts.join();
    check?.(text);
    return isList ? texts.map(String) : parse(text, flag);
  } catch (error) {
    throw usageError(`${file}: ${error.message}`, error.hint);
  }
}

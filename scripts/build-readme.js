/**
 * Fills the README's blocks between markers: the options of each command and the
 * example storage from examples/. `--check` fails where they differ; a test calls it. The real
 * output of a race is put in by `--output FILE`.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { detailsOf } from '../cli/commands/run.js';
import { rowsOf } from '../cli/option-rows.js';
import {
  ADDRESS_OPTIONS,
  FURTHER_ADDRESSES,
  OPTIONS,
  OUTPUT_OPTIONS,
  STORE_OPTIONS,
} from '../cli/options.js';
import { LOAD_OPTIONS } from '../engine/load-options.js';
import { RUN_OPTIONS } from '../engine/options.js';
import { WORKLOADS } from '../workloads/index.js';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');
const README = path.join(ROOT, 'README.md');

/**
 * @param {readonly import('../cli/options.js').OptionRow[]} options
 * @returns {string} a markdown table
 */
function tableOf(options) {
  const rows = options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, help, shown }) => {
      const text = shown === undefined ? help : `${help} (default: ${shown})`;
      return `| \`${flags}\` | ${text.replaceAll('|', '\\|')} |`;
    });
  return ['| option | |', '|---|---|', ...rows].join('\n');
}

/**
 * Each option once: first what every run has, then what each command has of its own, or another
 * default of.
 * @returns {Promise<string>}
 */
async function optionTables() {
  const common = rowsOf(RUN_OPTIONS);
  const known = new Set(common.map(({ flags }) => flags));
  const others = ['explain', ...STORE_OPTIONS, ...ADDRESS_OPTIONS, ...FURTHER_ADDRESSES]
    .map((name) => OPTIONS[name])
    .filter(({ flags }) => !known.has(flags));
  const loads = rowsOf(LOAD_OPTIONS);
  const every = [...common, ...others, ...loads];
  const parts = [
    `Of every run:\n\n${tableOf([...common, ...others])}`,
    'Of loads, for `race`, `async`, `ycsb` and `run` (`sync` takes `--ops`, `--duration` and ' +
      `\`--processes\`):\n\n${tableOf(loads)}`,
  ];
  for (const name of workloadCommands()) {
    const { options } = await detailsOf(name);
    const own = options.filter((one) => !isSame(one, every));
    if (own.length > 0) parts.push(`\`${name}\`:\n\n${tableOf(own)}`);
  }
  const reports = ['format', 'markdown', 'csv', ...OUTPUT_OPTIONS, 'benchmark', 'metric'];
  const results = [...reports, 'failIfSlower', 'anyway'].map((name) => OPTIONS[name]);
  parts.push(`\`report\`, \`compare\`, \`history\`:\n\n${tableOf(results)}`);
  return parts.join('\n\n');
}

/** @returns {string[]} */
function workloadCommands() {
  return Object.entries(WORKLOADS).flatMap(([name, { isCommand, presets = {} }]) => [
    ...(isCommand ? [name] : []),
    ...Object.keys(presets).filter((preset) => presets[preset] !== null),
  ]);
}

/**
 * @param {import('../cli/options.js').OptionRow} one
 * @param {readonly import('../cli/options.js').OptionRow[]} common
 */
function isSame({ flags, help }, common) {
  return common.some((row) => row.flags === flags && row.help === help);
}

/**
 * @param {string} text
 * @param {string} name of the block
 * @param {string} content
 */
function fill(text, name, content) {
  const start = `<!-- ${name}:start -->`;
  const end = `<!-- ${name}:end -->`;
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`README.md: no block ${name}`);
  return `${text.slice(0, from + start.length)}\n${content}\n${text.slice(to)}`;
}

const before = readFileSync(README, 'utf8');
let after = fill(before, 'options', await optionTables());
const example = readFileSync(path.join(ROOT, 'examples/my-driver.js'), 'utf8').trimEnd();
after = fill(after, 'example', `\`\`\`js\n${example}\n\`\`\``);
const output = process.argv.indexOf('--output');
if (output > 0) {
  const shown = readFileSync(process.argv[output + 1], 'utf8').trimEnd();
  after = fill(after, 'output', `\`\`\`\n${shown}\n\`\`\``);
}
if (process.argv.includes('--check')) {
  if (before !== after) {
    console.error('README.md is not what its sources say; run node scripts/build-readme.js');
    process.exitCode = 1;
  }
} else {
  writeFileSync(README, after);
}

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
  LOAD_OPTIONS,
  OPTIONS,
  OUTPUT_OPTIONS,
  ofRace,
  RUN_OPTIONS as RACE_OPTIONS,
  STORE_OPTIONS,
} from '../cli/options.js';
import { RUN_OPTIONS } from '../engine/options.js';
import { loadAbouts } from '../workloads/index.js';

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
  const store = ['explain', ...STORE_OPTIONS, ...ADDRESS_OPTIONS, 'cassandra'].map(
    (name) => OPTIONS[name],
  );
  const others = store.filter(({ flags }) => !known.has(flags));
  const every = [...common, ...others];
  const parts = [`Of every run:\n\n${tableOf([...common, ...others])}`];
  for (const row of others) known.add(row.flags);
  const race = [...LOAD_OPTIONS, ...ofRace(RACE_OPTIONS), 'setup', 'limits', 'noHtml']
    .map((one) => (typeof one === 'string' ? OPTIONS[one] : one))
    .filter((one) => !known.has(one.flags) || !isSame(one, every));
  parts.push(`\`race\`, \`async\`, \`sync\`; defaults are those of \`race\`:\n\n${tableOf(race)}`);
  for (const { name, isCommand } of await loadAbouts()) {
    if (!isCommand) continue;
    const { options } = await detailsOf(name);
    const own = options
      .map((one) => (typeof one === 'string' ? OPTIONS[one] : one))
      .filter((one) => !known.has(one.flags) || !isSame(one, every));
    parts.push(`\`${name}\`:\n\n${tableOf(own)}`);
  }
  const reports = ['format', 'markdown', 'csv', ...OUTPUT_OPTIONS, 'benchmark', 'metric'];
  const results = [...reports, 'failIfSlower', 'anyway'].map((name) => OPTIONS[name]);
  parts.push(`\`report\`, \`compare\`, \`history\`:\n\n${tableOf(results)}`);
  return parts.join('\n\n');
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

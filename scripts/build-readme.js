/**
 * Fills the README's blocks between markers: the option table from cli/options.js and the
 * example storage from examples/. `--check` fails where they differ; a test calls it. The real
 * output of a race is put in by `--output FILE`.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { OPTIONS } from '../cli/options.js';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');
const README = path.join(ROOT, 'README.md');

/** @returns {string} rows of a markdown table */
function optionRows() {
  const rows = Object.values(OPTIONS).map(({ flags, help, shown }) => {
    const text = shown === undefined ? help : `${help} (default: ${shown})`;
    return `| \`${flags}\` | ${text.replaceAll('|', '\\|')} |`;
  });
  return ['| option | |', '|---|---|', ...rows].join('\n');
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
let after = fill(before, 'options', optionRows());
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

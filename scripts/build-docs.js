/**
 * Fills the generated blocks of the documentation: all options in docs/options.md, each once with
 * its commands, and all environment variables; the examples of docs/adding.md and docs/ci.md; and
 * the badges of README.md. `--check` fails if they differ; a test calls it. `--output FILE` puts
 * the output of a race into README.md.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { RACE_FLEET_OPTIONS } from '../cli/fleet-options.js';
import { longName } from '../cli/help.js';
import { rowsOf } from '../cli/option-rows.js';
import {
  ADDRESS_OPTIONS,
  COMMAND_OPTIONS,
  FURTHER_ADDRESSES,
  OPTIONS,
  withConfig,
} from '../cli/options.js';
import { detailsOf } from '../cli/run-details.js';
import { TLS_FLAGS, variableOf } from '../engine/addresses.js';
import { LOAD_OPTIONS } from '../engine/load-options.js';
import { RUN_OPTIONS, SLICE_OPTIONS } from '../engine/options.js';
import { loadServer, SERVER_NAMES } from '../servers/index.js';
import { WORKLOADS } from '../workloads/index.js';

/** @typedef {import('../cli/options.js').OptionRow} OptionRow */
/**
 * @typedef {{ row: OptionRow, commands: string[] }} Use commands uses of an option with the same
 *   text
 */

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');
const RUNS = 'every run';
const POINT_READS = ['race', 'async', 'sync'];

/** @param {readonly OptionRow[]} rows */
const namesOf = (rows) => rows.map(longName);
/** Sections of shared options, by name. */
const SECTIONS = Object.freeze({
  'What is measured': namesOf(rowsOf({ ...RUN_OPTIONS, ...SLICE_OPTIONS })),
  Loads: namesOf(rowsOf(LOAD_OPTIONS)),
  'Servers and addresses': [
    ...namesOf([...ADDRESS_OPTIONS, ...FURTHER_ADDRESSES].map((name) => OPTIONS[name])),
    ...['setup', 'with-tls', 'as-root'],
  ],
  'Results and reports': namesOf(Object.values(OPTIONS)),
  'Several load machines': [...namesOf([...RACE_FLEET_OPTIONS, ...COMMAND_OPTIONS['agent']])],
});

/** @returns {Promise<Map<string, readonly OptionRow[]>>} options by command */
async function optionsOfCommands() {
  const commands = new Map();
  for (const name of workloadCommands()) commands.set(name, (await detailsOf(name)).options);
  commands.set('replay', (await detailsOf('replay')).options);
  for (const [name, rows] of Object.entries(COMMAND_OPTIONS)) commands.set(name, rows);
  for (const [name, rows] of commands) commands.set(name, withConfig(rows));
  return commands;
}

/** @returns {string[]} */
function workloadCommands() {
  return Object.entries(WORKLOADS).flatMap(([name, { isCommand, presets = {} }]) => [
    ...(isCommand ? [name] : []),
    ...Object.keys(presets).filter((preset) => presets[preset] !== null),
  ]);
}

/**
 * @param {ReadonlyMap<string, readonly OptionRow[]>} commands
 * @returns {Map<string, Use[]>} uses by name of the option
 */
function usesOf(commands) {
  /** @type {Map<string, Use[]>} */
  const uses = new Map();
  for (const [command, rows] of commands) {
    for (const row of rows.filter(({ hidden }) => !hidden)) {
      const known = uses.get(longName(row)) ?? [];
      uses.set(longName(row), known);
      const same = known.find(
        ({ row: { help, shown } }) => help === row.help && shown === row.shown,
      );
      if (same) same.commands.push(command);
      else known.push({ row, commands: [command] });
    }
  }
  return uses;
}

/**
 * @param {readonly Use[]} uses
 * @param {readonly string[]} runs
 */
function sectionOf(uses, runs) {
  const commands = uses.flatMap((use) => use.commands);
  const name = longName(uses[0].row);
  const known = Object.entries(SECTIONS).find(([, names]) => names.includes(name))?.[0];
  if (known !== undefined) return known;
  if (commands.every((command) => POINT_READS.includes(command))) return 'Keys and data';
  return commands.length === 1 || !runs.includes(commands[0])
    ? `\`${commands[0]}\``
    : 'Several workloads';
}

/**
 * @param {readonly Use[]} uses uses of an option
 * @param {readonly string[]} runs
 * @returns {string} a row: flags, meaning, defaults and commands
 */
function lineOf(uses, runs) {
  const codeOf = (/** @type {string[]} */ names) =>
    listOf(names, runs).replace(/[a-z]+(?=,|$)/g, '`$&`');
  const sorted = [...uses].sort((a, b) => b.commands.length - a.commands.length);
  const [{ row }] = sorted;
  const texts = [...new Set(sorted.map((use) => use.row.help))].map((help, index) => {
    const of = sorted.filter((use) => use.row.help === help).flatMap((use) => use.commands);
    return index === 0 ? help : `${codeOf(of)}: ${help}`;
  });
  const values = [...new Set(sorted.map((use) => use.row.shown))];
  const defaults = values
    .filter((value) => value !== undefined)
    .map((value) => {
      const of = sorted.filter((use) => use.row.shown === value).flatMap((use) => use.commands);
      return values.length === 1 ? value : `${codeOf(of)}: ${value}`;
    });
  const flags = [
    ...new Set(sorted.flatMap((use) => use.row.flags.match(/-[a-zA-Z](?=, )/g) ?? [])),
  ];
  const long = row.flags.replace(/^-\w, /, '');
  const commands = listOf(
    uses.flatMap((use) => use.commands),
    runs,
  );
  const cells = [
    `\`${[...flags, long].join(', ')}\``,
    texts.join('<br>'),
    defaults.join('<br>'),
    commands,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/**
 * @param {readonly string[]} commands
 * @param {readonly string[]} runs
 */
function listOf(commands, runs) {
  const served = runs.filter((run) => run !== 'codec');
  const all = [runs, served].find((list) => list.every((run) => commands.includes(run)));
  if (all === undefined) return commands.join(', ');
  const rest = commands.filter((one) => !runs.includes(one));
  return [all === runs ? RUNS : `${RUNS} (not codec)`, ...rest].join(', ');
}

/** @returns {Promise<string>} a table per section */
async function optionTables() {
  const commands = await optionsOfCommands();
  const runs = [...workloadCommands(), 'replay'];
  /** @type {Map<string, string[]>} */
  const sections = new Map(
    [...Object.keys(SECTIONS), 'Keys and data', ...runs.map((run) => `\`${run}\``)].map((name) => [
      name,
      [],
    ]),
  );
  for (const uses of usesOf(commands).values()) {
    const section = sectionOf(uses, runs);
    sections.set(section, [...(sections.get(section) ?? []), lineOf(uses, runs)]);
  }
  return [...sections]
    .filter(([, lines]) => lines.length > 0)
    .map(
      ([name, lines]) =>
        `## ${name}\n\n| option | meaning | default | commands |\n|---|---|---|---|\n${lines.join('\n')}`,
    )
    .join('\n\n');
}

/** Descriptions of credential fields. @type {Readonly<Record<string, string>>} */
const CREDENTIALS = Object.freeze({
  user: 'user',
  password: 'password',
  secret: 'secret of HandlerSocket’s read port',
  writeSecret: 'secret of HandlerSocket’s write port',
  controller: 'token of the controller',
});
/** Variables that belong to no server. @type {Readonly<Record<string, string>>} */
const OTHER_VARIABLES = Object.freeze({
  DRAGSTRIP_HOME:
    'state folder; default: the nearest `.dragstrip` at or above the working directory',
  DRAGSTRIP_AS_ROOT: '`yes`: as `--as-root`',
  DRAGSTRIP_TEST_SERVERS:
    '`required`: tests fail where a server is missing, instead of being skipped',
  DRAGSTRIP_TEST_SEED: 'number, or `random`: order of the test files',
  DRAGSTRIP_TEST_TIMES: 'file for the time of each test file; set by `npm test -- --times`',
});

/** @returns {Promise<string>} a table of all environment variables */
async function variableTable() {
  /** @type {Map<string, string[]>} servers by variable and meaning */
  const logins = new Map();
  const lines = [];
  for (const name of SERVER_NAMES) {
    const { endpoints, credentials } = await loadServer(name);
    for (const { env, summary, default: usual } of Object.values(endpoints)) {
      lines.push(`| \`${env}\` | address: ${summary}; default: ${usual} |`);
    }
    for (const [field, variable] of Object.entries(credentials ?? {})) {
      const isToken = name === 'coordinator' && field === 'password';
      const key = `| \`${variable}\` | ${isToken ? 'token of agents' : CREDENTIALS[field]}: `;
      logins.set(key, [...(logins.get(key) ?? []), name]);
    }
  }
  lines.push(...[...logins].map(([key, names]) => `${key}${names.join(', ')} |`));
  const files = Object.values(TLS_FLAGS);
  lines.push(...files.map((flag) => `| \`${variableOf(flag)}\` | as \`--${flag}\` |`));
  const boxes = readFileSync(path.join(ROOT, 'box.lua'), 'utf8');
  for (const [, variable, text] of boxes.matchAll(/^-- {3}(DRAGSTRIP_BOX_\w+) +(.+)$/gm)) {
    lines.push(`| \`${variable}\` | \`box.lua\` started by hand: ${text} |`);
  }
  lines.push(...Object.entries(OTHER_VARIABLES).map(([name, text]) => `| \`${name}\` | ${text} |`));
  return ['| variable | meaning |', '|---|---|', ...lines].join('\n');
}

/**
 * @param {string} label
 * @param {string} value
 * @returns {string} an SVG that loads nothing
 */
function badge(label, value) {
  const [left, right] = [label, value].map((text) => Math.ceil(text.length * 6.6) + 14);
  const text = (/** @type {number} */ x, /** @type {string} */ content) =>
    `<text x="${x}" y="14" fill="#fff">${content.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img">
<title>${label}: ${value.replaceAll('>', '&gt;')}</title>
<rect width="${left + right}" height="20" rx="3" fill="#444d56"/>
<path d="M${left} 0h${right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-${right - 3}z" fill="#0b5cad"/>
<g font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
${text(left / 2, label)}${text(left + right / 2, value)}
</g></svg>
`;
}

/**
 * @param {string} file
 * @param {string} content
 * @returns {boolean} whether it was up to date
 */
function write(file, content) {
  const place = path.join(ROOT, file);
  const isFresh = existsSync(place) && readFileSync(place, 'utf8') === content;
  if (!process.argv.includes('--check')) writeFileSync(place, content);
  return isFresh;
}

/**
 * @param {string} file
 * @param {Record<string, string>} blocks contents by name
 * @returns {boolean} whether it was up to date
 */
function fill(file, blocks) {
  const before = readFileSync(path.join(ROOT, file), 'utf8');
  let after = before;
  for (const [name, content] of Object.entries(blocks)) {
    const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`];
    const [from, to] = [after.indexOf(start), after.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`${file}: no block ${name}`);
    after = `${after.slice(0, from + start.length)}\n${content}\n${after.slice(to)}`;
  }
  return write(file, after);
}

const { engines, license } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
/** @param {string} name */
const exampleOf = (name) =>
  `\`\`\`js\n${readFileSync(path.join(ROOT, 'examples', name), 'utf8').trimEnd()}\n\`\`\``;
const fresh = [
  fill('docs/options.md', { options: await optionTables(), variables: await variableTable() }),
  write('docs/pictures/node.svg', badge('node', engines.node.replace('>=', '≥ '))),
  write('docs/pictures/license.svg', badge('license', license)),
  fill('docs/adding.md', {
    example: exampleOf('my-driver.js'),
    unknown: exampleOf('line-storage.js'),
  }),
  fill('docs/ci.md', { config: exampleOf('dragstrip.config.js') }),
];
const output = process.argv.indexOf('--output');
if (output > 0) {
  const shown = readFileSync(process.argv[output + 1], 'utf8').trimEnd();
  fill('README.md', { output: `\`\`\`\n${shown}\n\`\`\`` });
}
if (process.argv.includes('--check') && fresh.includes(false)) {
  console.error('docs are not what their sources say; run node scripts/build-docs.js');
  process.exitCode = 1;
}

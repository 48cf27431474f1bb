/**
 * The command line: texts in, exit status out. The runners and loaders at the top level are shims
 * over this with a command of their own. Every command is imported when it is called, so that the
 * help is there at once.
 */

import { Command, CommanderError, Option } from 'commander';
import { DragstripError, EXIT_STATUS } from '../lib/errors.js';
import { version } from '../lib/version.js';
import { loadWorkload, WORKLOAD_COMMANDS } from '../workloads/index.js';
import { reportFailure } from './failure.js';
import {
  ADDRESS_OPTIONS,
  DATASET_OPTIONS,
  LIMIT_OPTIONS,
  LOAD_OPTIONS,
  OPTIONS,
  OUTPUT_OPTIONS,
  ofRace,
  RUN_OPTIONS,
} from './options.js';

/**
 * Names in OPTIONS, or rows of a command's own table.
 * @typedef {readonly (string | import('./options.js').OptionRow)[]} OptionList
 */

/**
 * @typedef {object} CommandRow
 * @property {string | (() => Promise<string>)} summary
 * @property {string} [args] as commander takes them
 * @property {OptionList | (() => Promise<OptionList | CommandDetails>)} options a command's own
 *   table is loaded when it is called
 * @property {string} [help] flags of the help, where -h is something else
 * @property {() => Promise<{ execute: (context: CommandContext) => Promise<number> }>} load
 */

/**
 * @typedef {object} CommandDetails of a command that is called: what its workload says
 * @property {OptionList} options
 * @property {string} summary
 * @property {string} [args]
 */

/**
 * @typedef {object} CommandContext
 * @property {string} command as it is called: `race`, `async`
 * @property {any[]} args
 * @property {Record<string, any>} options
 * @property {NodeJS.WriteStream} stdout
 * @property {NodeJS.WriteStream} stderr
 */

/** @type {Readonly<Record<string, CommandRow>>} */
const COMMANDS = Object.freeze({
  race: {
    summary: 'point reads on every available storage, one and many requests in flight',
    options: ['setup', 'limits', 'noHtml', ...LOAD_OPTIONS, ...ofRace(RUN_OPTIONS)],
    load: () => import('./commands/race.js'),
  },
  async: {
    summary: 'all requests at once, or a window of them (node async_test.js)',
    options: [...LOAD_OPTIONS, ...RUN_OPTIONS],
    load: () => import('./commands/race.js'),
  },
  sync: {
    summary: 'one request in flight (./test.js)',
    options: RUN_OPTIONS,
    load: () => import('./commands/race.js'),
  },
  limit: {
    summary: 'measure the ceilings of servers and clients (for race --limits FILE)',
    options: LIMIT_OPTIONS,
    load: () => import('./commands/limit.js'),
  },
  seed: {
    summary: 'fill the servers with the dataset (node data/redis.js, mysql.js, tarantool.js)',
    args: '[servers...]',
    options: [...DATASET_OPTIONS, 'quiet', ...ADDRESS_OPTIONS],
    load: () => import('./commands/seed.js'),
  },
  servers: {
    summary: 'fetch, start, stop or show real servers, without root, on private loopback ports',
    args: '<action> [servers...]',
    options: ['quiet'],
    load: () => import('./commands/servers.js'),
  },
  report: {
    summary: 'show stored results as tables, an HTML page or pictures; compare several',
    args: '<files...>',
    options: ['format', 'markdown', 'csv', ...OUTPUT_OPTIONS],
    load: () => import('./commands/report.js'),
  },
  history: {
    summary: 'show the results of a folder over time, with change points',
    args: '<folder>',
    options: ['benchmark', 'metric', ...OUTPUT_OPTIONS],
    load: () => import('./commands/history.js'),
  },
  compare: {
    summary: 'compare results with a baseline, the first one: which differences are significant',
    args: '<files...>',
    options: ['failIfSlower', 'anyway', 'format', 'json', 'force'],
    load: () => import('./commands/compare.js'),
  },
  list: {
    summary: 'list storages and their profiles, servers, workloads and reports',
    options: [],
    load: () => import('./commands/list.js'),
  },
  doctor: {
    summary: 'check servers, drivers and data, and show how to install what is missing',
    options: ADDRESS_OPTIONS,
    load: () => import('./commands/doctor.js'),
  },
  run: {
    summary: 'run a workload by name or from a file: run --workload ./mine.js',
    options: async () => {
      const { workloadIn, detailsOf } = await import('./commands/run.js');
      return detailsOf(workloadIn(process.argv), 'run');
    },
    load: () => import('./commands/run.js'),
  },
  ...Object.fromEntries(WORKLOAD_COMMANDS.map((name) => [name, rowOf(name)])),
});

/**
 * @param {string} name of a workload
 * @returns {CommandRow}
 */
function rowOf(name) {
  const load = () => import('./commands/run.js');
  const summary = async () => (await loadWorkload(name)).summary;
  return { summary, options: async () => (await load()).detailsOf(name), load };
}

/**
 * Runs a command and sets process.exitCode.
 * @param {string[]} argv without node and the script
 * @param {{ name?: string, command?: string, args?: string[] }} [shim] a script that is one
 *   command: its own name for the help, the command, and arguments that are given
 * @returns {Promise<void>}
 */
export async function main(argv, shim = {}) {
  guardOutput();
  process.exitCode = await runCommandLine(argv, shim, process);
}

/**
 * The same without a process of its own.
 * @param {string[]} argv
 * @param {Parameters<typeof main>[1] & {}} shim
 * @param {{ stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream }} streams
 * @returns {Promise<number>} exit status
 */
export async function runCommandLine(argv, shim, streams) {
  try {
    return await dispatch(argv, shim, streams);
  } catch (error) {
    return reportFailure(error, streams.stderr);
  }
}

/**
 * @param {string[]} argv
 * @param {{ name?: string, command?: string, args?: string[] }} shim
 * @param {{ stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream }} streams
 * @returns {Promise<number>} exit status
 */
async function dispatch(argv, shim, { stdout, stderr }) {
  let status = 0;
  // Errors are printed by reportFailure; commands of a program take its settings over.
  const create = (/** @type {string | undefined} */ name) =>
    new Command(name).configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: () => {},
    });
  /** @param {string} name @param {Command} command */
  const act = (name, command) =>
    command.action(async (...parts) => {
      const args = shim.args ?? parts.slice(0, -2).flat();
      const { execute } = await COMMANDS[name].load();
      status = await execute({ command: name, args, options: command.opts(), stdout, stderr });
    });
  /** @type {Command} */
  let program;
  if (shim.command !== undefined) {
    const row = COMMANDS[shim.command];
    program = prepare(create(shim.name), row, shim.args === undefined);
    await addOptions(program, row);
    act(shim.command, program);
  } else {
    program = prepare(create('dragstrip'), null, false);
    program.description('Benchmarks storage servers and their Node.js drivers.');
    const isNamed = argv.some((word) => Object.hasOwn(COMMANDS, word));
    for (const [name, row] of Object.entries(COMMANDS)) {
      const command = prepare(program.command(name), row, true);
      act(name, command);
      const { summary } = row;
      // Workloads are loaded where all commands are listed, options where one is named.
      if (!isNamed && typeof summary === 'function') command.description(await summary());
      if (argv.includes(name)) await addOptions(command, row);
    }
  }
  program.version(version);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    // Without a command commander shows the help and says so by this code.
    if (error.code === 'commander.help') return 2;
    const called = Object.hasOwn(COMMANDS, argv[0]) ? `dragstrip ${argv[0]}` : program.name();
    throw usageFailure(error, shim.command === undefined ? called : program.name());
  }
  return status;
}

/**
 * @param {Command} command
 * @param {CommandRow | null} row
 * @param {boolean} withArgs
 */
function prepare(command, row, withArgs) {
  const help = row?.help ?? '-h, --help';
  command.exitOverride().showSuggestionAfterError(true).helpOption(help, 'this help');
  if (row === null) return command.helpCommand('help [command]', 'help for a command');
  if (typeof row.summary === 'string') command.description(row.summary);
  if (withArgs && row.args !== undefined) command.arguments(row.args);
  return command;
}

/**
 * @param {Command} command
 * @param {CommandRow} row
 */
async function addOptions(command, { options: given }) {
  const loaded = typeof given === 'function' ? await given() : given;
  const { options, ...details } = 'options' in loaded ? loaded : { options: loaded };
  if ('summary' in details) command.description(String(details.summary));
  if ('args' in details && details.args !== undefined) command.arguments(String(details.args));
  for (const one of options) {
    const row = typeof one === 'string' ? OPTIONS[one] : one;
    if (/^-h, /.test(row.flags)) command.helpOption('--help', 'this help');
    command.addOption(makeOption(row));
  }
}

/** @param {import('./options.js').OptionRow} row */
function makeOption({ flags, help, parse, shown, hidden = false }) {
  const option = new Option(flags, shown === undefined ? help : `${help} (default: ${shown})`);
  option.hideHelp(hidden);
  const flag = flags.split(' ').find((word) => word.startsWith('--')) ?? flags;
  if (parse !== undefined) option.argParser((text, previous) => parse(text, flag, previous));
  return option;
}

/**
 * @param {CommanderError} error
 * @param {string} name of the program, with its command
 * @returns {DragstripError} the same in one line, with the command that helps
 */
function usageFailure(error, name) {
  const [message, ...more] = error.message.replace(/^error: /, '').split('\n');
  const hint = more.join(' ').trim();
  return new DragstripError('E_USAGE', hint === '' ? message : `${message} ${hint}`, {
    hint: `${name.endsWith('.js') ? 'node' : 'npx'} ${name} --help lists commands and options`,
  });
}

/**
 * A reader that goes away (`| head`) ends the program quietly, as it does every Unix tool; output
 * that cannot be written (a full disk) ends it with one line.
 */
function guardOutput() {
  // A limit on file sizes is then an error of the write, as a full disk is, and not the end.
  process.on('SIGXFSZ', () => {});
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (/** @type {NodeJS.ErrnoException} */ { code }) => {
      if (code === 'EPIPE') process.exit(141);
      if (stream === process.stdout) {
        process.stderr.write(`dragstrip: standard output cannot be written (${code})\n`);
      }
      process.exit(EXIT_STATUS.E_STORE);
    });
  }
}

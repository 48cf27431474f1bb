/**
 * The command line: texts in, exit status out. The runners and loaders at the top level are shims
 * over this with a command of their own. Every command is imported when it is called, so that the
 * help is there at once.
 */

import { Command, CommanderError, Option } from 'commander';
import { DragstripError, EXIT_STATUS } from '../lib/errors.js';
import { version } from '../lib/version.js';
import { WORKLOADS } from '../workloads/index.js';

/**
 * @typedef {object} CommandRow
 * @property {string} summary
 * @property {string} [args] as commander takes them
 * @property {() => Promise<CommandDetails>} [details] of a workload; absent: its options are those
 *   of its name in cli/options.js
 * @property {() => Promise<{ execute: (context: CommandContext) => Promise<number> }>} load
 */

/**
 * @typedef {object} CommandDetails of a command that is called: what its workload says
 * @property {readonly import('./options.js').OptionRow[]} options
 * @property {string} [summary]
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
  run: {
    summary: 'run a workload by name or from a file: run --workload ./mine.js',
    details: async () => {
      const { workloadIn, detailsOf } = await import('./commands/run.js');
      return detailsOf(workloadIn(process.argv), 'run');
    },
    load: () => import('./commands/run.js'),
  },
  limit: {
    summary: 'measure the ceilings of servers and clients (for race --limits FILE)',
    load: () => import('./commands/limit.js'),
  },
  seed: {
    summary: 'fill the servers with the dataset (node data/redis.js, mysql.js, tarantool.js)',
    args: '[servers...]',
    load: () => import('./commands/seed.js'),
  },
  servers: {
    summary: 'fetch, start, stop or show real servers, without root, on private loopback ports',
    args: '<action> [servers...]',
    load: () => import('./commands/servers.js'),
  },
  agent: {
    summary: 'a load machine: wait at a coordinator and run a share of its races',
    load: () => import('./commands/agent.js'),
  },
  agents: {
    summary: 'list the load machines at a coordinator',
    load: () => import('./commands/agents.js'),
  },
  record: {
    summary: 'record what clients ask a server (MONITOR), as a trace without keys and values',
    load: () => import('./commands/record.js'),
  },
  replay: {
    summary: 'replay a trace with its own times through drivers: replay trace.json --speed 2',
    details: async () => {
      const { detailsOf } = await import('./commands/run.js');
      return { ...(await detailsOf('replay')), args: '[trace]' };
    },
    load: () => import('./commands/replay.js'),
  },
  report: {
    summary: 'show stored results as tables, an HTML page or pictures; compare several',
    args: '<files...>',
    load: () => import('./commands/report.js'),
  },
  history: {
    summary: 'show the results of a folder over time, with change points',
    args: '<folder>',
    load: () => import('./commands/history.js'),
  },
  compare: {
    summary: 'compare results with a baseline, the first one: which differences are significant',
    args: '<files...>',
    load: () => import('./commands/compare.js'),
  },
  releases: {
    summary: 'race the published versions of a driver: releases ioredis --from 5.0',
    args: '<package>',
    load: () => import('./commands/releases.js'),
  },
  bisect: {
    summary: 'find the release that changed a metric: bisect ioredis 5.3.0 6.0.0',
    args: '<package> <good> <bad>',
    load: () => import('./commands/releases.js'),
  },
  check: {
    summary: 'check what a storage promises, once, against its server: check ./my-driver.js',
    args: '<storages...>',
    load: () => import('./commands/check.js'),
  },
  list: {
    summary: 'list storages and their profiles, servers, workloads and reports',
    load: () => import('./commands/list.js'),
  },
  doctor: {
    summary: 'check servers, drivers and data, and show how to install missing parts',
    load: () => import('./commands/doctor.js'),
  },
});

/**
 * @returns {Readonly<Record<string, CommandRow>>} with those that are workloads
 */
function commandRows() {
  const load = () => import('./commands/run.js');
  const rowOf = (/** @type {string} */ name, /** @type {string} */ summary) => {
    const details = async () => (await load()).detailsOf(name);
    return [[name, { summary, details, load }]];
  };
  const own = Object.entries(WORKLOADS).flatMap(([name, { summary, isCommand, presets = {} }]) => [
    ...(isCommand ? rowOf(name, summary) : []),
    ...Object.entries(presets).flatMap(([preset, line]) => (line ? rowOf(preset, line) : [])),
  ]);
  return { ...Object.fromEntries(own), ...COMMANDS };
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
    const { reportFailure } = await import('./failure.js');
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
  const commands = commandRows();
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
      const { execute } = await commands[name].load();
      status = await execute({ command: name, args, options: command.opts(), stdout, stderr });
    });
  /** @type {Command} */
  let program;
  if (shim.command !== undefined) {
    const row = commands[shim.command];
    program = prepare(create(shim.name), row, shim.args === undefined);
    await addOptions(program, shim.command, row);
    act(shim.command, program);
  } else {
    program = prepare(create('dragstrip'), null, false);
    program.description('Benchmarks storage servers and their Node.js drivers.');
    for (const [name, row] of Object.entries(commands)) {
      const command = prepare(program.command(name), row, true);
      act(name, command);
      if (argv.includes(name)) await addOptions(command, name, row);
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
    const called = Object.hasOwn(commands, argv[0]) ? `dragstrip ${argv[0]}` : program.name();
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
  command.exitOverride().showSuggestionAfterError(true).helpOption('-h, --help', 'this help');
  if (row === null) return command.helpCommand('help [command]', 'help for a command');
  command.description(row.summary);
  if (withArgs && row.args !== undefined) command.arguments(row.args);
  return command;
}

/**
 * @param {Command} command
 * @param {string} name
 * @param {CommandRow} row
 */
async function addOptions(command, name, { details }) {
  const { COMMAND_OPTIONS } = await import('./options.js');
  const { options, summary, args } = (await details?.()) ?? { options: COMMAND_OPTIONS[name] };
  if (summary !== undefined) command.description(summary);
  if (args !== undefined) command.arguments(args);
  for (const row of options) {
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

/**
 * The command line: arguments in, exit status out. The programs at the top level are shims that
 * call it with a fixed command. A command is imported when it is called, so help is fast.
 */

import { Command, CommanderError, Option } from 'commander';
import { DragstripError, EXIT_STATUS, usageError } from '../lib/errors.js';
import { nearMiss } from '../lib/near-miss.js';
import { version } from '../lib/version.js';
import { DEFAULT_WORKLOAD, WORKLOADS } from '../workloads/index.js';

/**
 * @typedef {object} CommandRow
 * @property {string} summary
 * @property {string} [args] in commander's syntax
 * @property {string} [example] arguments for the hint of an error
 * @property {(argv: readonly string[]) => Promise<CommandDetails>} [details] details of a workload;
 *   absent: the options are in cli/options.js
 * @property {() => Promise<{ execute: (context: CommandContext) => Promise<number> }>} load
 */

/**
 * @typedef {object} CommandDetails details of the called command from its workload
 * @property {readonly import('./options.js').OptionRow[]} options
 * @property {string} [summary]
 * @property {string} [args]
 * @property {string} [example]
 */

/**
 * @typedef {object} CommandContext
 * @property {string} command name on the command line: `race`, `async`
 * @property {any[]} args
 * @property {Record<string, any>} options
 * @property {NodeJS.WriteStream} stdout
 * @property {NodeJS.WriteStream} stderr
 */

/** @type {Readonly<Record<string, CommandRow>>} */
const COMMANDS = Object.freeze({
  run: {
    summary: 'run a workload by name or from a file: run --workload ./mine.js; default: get',
    details: async (argv) => {
      const { workloadIn, detailsOf } = await import('./run-details.js');
      const { summary, ...details } = await detailsOf(workloadIn(argv) ?? DEFAULT_WORKLOAD, 'run');
      return workloadIn(argv) === undefined ? details : { ...details, summary };
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
    example: 'start redis',
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
    summary: 'record the commands of other clients (MONITOR) as a trace without keys and values',
    args: '[trace]',
    load: () => import('./commands/record.js'),
  },
  replay: {
    summary: 'replay a trace with its own times through drivers: replay trace.json --speed 2',
    details: async () => {
      const { detailsOf } = await import('./run-details.js');
      return { ...(await detailsOf('replay')), args: '[trace]' };
    },
    load: () => import('./commands/replay.js'),
  },
  report: {
    summary: 'show stored results as tables, an HTML page or pictures; compare several',
    args: '<files...>',
    example: 'results/race.json',
    load: () => import('./commands/report.js'),
  },
  history: {
    summary: 'show the results of a folder over time, with change points',
    args: '<folder>',
    example: 'results',
    load: () => import('./commands/history.js'),
  },
  compare: {
    summary: 'compare results with the first one, the baseline: the significant differences',
    args: '<files...>',
    example: 'first.json second.json',
    load: () => import('./commands/compare.js'),
  },
  releases: {
    summary: 'race the published versions of a driver: releases ioredis --from 5.0',
    args: '<package>',
    example: 'ioredis --from 5',
    load: () => import('./commands/releases.js'),
  },
  bisect: {
    summary: 'find the release that changed a metric: bisect ioredis 5.3.0 6.0.0',
    args: '<package> <first> <last>',
    example: 'ioredis 5.3.0 6.0.0',
    load: () => import('./commands/releases.js'),
  },
  check: {
    summary: 'check the guarantees of a storage once against its server: check ./my-driver.js',
    args: '<storages...>',
    example: './my-driver.js',
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

/** @returns {Readonly<Record<string, CommandRow>>} all commands, including workloads */
function commandRows() {
  const load = () => import('./commands/run.js');
  const rowOf = (/** @type {string} */ name, /** @type {string} */ summary) => {
    const details = async () => (await import('./run-details.js')).detailsOf(name);
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
 * @param {{ name?: string, command?: string, args?: string[] }} [shim] for a script that is one
 *   command: its name for the help, the command, and fixed arguments
 * @returns {Promise<void>}
 */
export async function main(argv, shim = {}) {
  guardOutput();
  process.exitCode = await runCommandLine(argv, shim, process);
}

/**
 * Like `main`, without changing the process.
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
  // reportFailure prints the errors; subcommands inherit these settings.
  const create = (/** @type {string | undefined} */ name) =>
    new Command(name).configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: () => {},
    });
  /** @type {Record<string, CommandDetails>} by command */
  const details = {};
  /** @param {string} name @param {Command} command */
  const act = (name, command) =>
    command.action(async (...parts) => {
      const args = shim.args ?? parts.slice(0, -2).flat();
      const { registeredArguments: known } = command;
      const extra = known.at(-1)?.variadic ? undefined : command.args[known.length];
      if (extra !== undefined) {
        throw new CommanderError(1, 'extra', `'${extra}'`);
      }
      const { applyConfig } = await import('./config-file.js');
      const about = { name, rows: details[name].options, commands: Object.keys(commands), stderr };
      await applyConfig(command, { ...about, allRows: () => allRows(commands) });
      const { execute } = await commands[name].load();
      status = await execute({ command: name, args, options: command.opts(), stdout, stderr });
    });
  /** @type {Command} */
  let program;
  if (shim.command !== undefined) {
    const row = commands[shim.command];
    program = prepare(create(shim.name), row, shim.args === undefined);
    details[shim.command] = await addOptions(program, { name: shim.command, argv }, row);
    act(shim.command, program);
  } else {
    program = prepare(create('dragstrip'), null, false);
    program.description('Benchmarks storage servers and their Node.js drivers.');
    for (const [name, row] of Object.entries(commands)) {
      const command = prepare(program.command(name), row, true);
      act(name, command);
      if (argv.includes(name)) details[name] = await addOptions(command, { name, argv }, row);
    }
  }
  program.version(version);
  const [word, topic] = argv;
  if (word === 'help' && shim.command === undefined && topic && !Object.hasOwn(commands, topic)) {
    throw unknownCommand(topic, Object.keys(commands));
  }
  try {
    // For commands with an option -h (host): as the last argument it means help.
    const isHelp = argv.at(-1) === '-h' || argv.at(-1) === '--help-all';
    const words = isHelp ? [...argv.slice(0, -1), '--help'] : argv;
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    // Without a command, commander shows the help and throws this code.
    if (error.code === 'commander.help') return 2;
    const name = shim.command ?? argv[0];
    if (details[name] === undefined) throw unknownCommand(argv[0], Object.keys(commands));
    throw usageFailure(error, shim.command === undefined ? name : program.name(), {
      ...commands[name],
      ...details[name],
    });
  }
  return status;
}

/**
 * @param {Command} command
 * @param {CommandRow | null} row
 * @param {boolean} withArgs
 */
function prepare(command, row, withArgs) {
  command.exitOverride().showSuggestionAfterError(false).helpOption('-h, --help', 'this help');
  command.allowExcessArguments(); // dispatch refuses them with a list of the commands
  if (row === null) return command.helpCommand('help [command]', 'help for a command');
  command.description(row.summary);
  if (withArgs && row.args !== undefined) command.arguments(row.args);
  return command;
}

/**
 * @param {Command} command
 * @param {{ name: string, argv: readonly string[] }} called
 * @param {CommandRow} row
 * @returns {Promise<CommandDetails>}
 */
async function addOptions(command, { name, argv }, row) {
  const { commonOf, moreText } = await import('./help.js');
  const details = await detailsOf(name, row, argv);
  const { options, summary, args } = details;
  if (summary !== undefined) command.description(summary);
  if (args !== undefined) command.arguments(args);
  const isWhole = argv.includes('--help-all');
  const common = commonOf(options);
  const more = options.filter((row) => !row.hidden && !common.includes(row));
  for (const row of options) {
    if (/^-h, /.test(row.flags)) command.helpOption('--help', 'this help');
    const option = makeOption(row);
    if (more.includes(row)) option.hideHelp(!isWhole).helpGroup('More options:');
    command.addOption(option);
  }
  if (more.length === 0) return details;
  const all = new Option('--help-all', 'this help with the description of all options');
  command.addOption(all.helpGroup('Options:'));
  if (!isWhole) command.addHelpText('after', () => moreText(more));
  return details;
}

/**
 * @param {string} name
 * @param {CommandRow} row
 * @param {readonly string[]} argv
 * @returns {Promise<CommandDetails>}
 */
async function detailsOf(name, { details }, argv) {
  const { COMMAND_OPTIONS, withConfig } = await import('./options.js');
  const own = (await details?.(argv)) ?? { options: COMMAND_OPTIONS[name] };
  return { ...own, options: withConfig(own.options) };
}

/** @param {Readonly<Record<string, CommandRow>>} commands */
async function allRows(commands) {
  const all = Object.entries(commands).map(([name, row]) => detailsOf(name, row, []));
  return (await Promise.all(all)).flatMap(({ options }) => options);
}

/** @param {import('./options.js').OptionRow} row */
function makeOption({ flags, help, parse = (one) => one, isList, shown, hidden = false }) {
  const option = new Option(flags, shown === undefined ? help : `${help} (default: ${shown})`);
  option.hideHelp(hidden);
  const flag = flags.split(' ').find((word) => word.startsWith('--')) ?? flags;
  if (!option.required && !option.optional) return option;
  return option.argParser((text, /** @type {any} */ previous) => {
    if (isList) return [...(previous ?? []), text];
    if (previous === undefined) return parse(text, flag);
    throw new DragstripError('E_USAGE', `${flag} is given twice`, { hint: 'give it once' });
  });
}

/**
 * @param {string} word
 * @param {readonly string[]} names
 * @returns {DragstripError}
 */
function unknownCommand(word, names) {
  if (word.startsWith('-')) return unknownOption('dragstrip', word, []);
  const guess = nearMiss(word, names).replace(': ', '');
  return usageError(
    `unknown command ${word}`,
    `${guess} npx dragstrip --help lists the commands`.trim(),
  );
}

/**
 * @param {string} called
 * @param {string} flag
 * @param {readonly import('./options.js').OptionRow[]} options
 * @returns {DragstripError}
 */
function unknownOption(called, flag, options) {
  const names = options.flatMap(({ flags, hidden }) =>
    hidden ? [] : (flags.match(/--[\w-]+/g) ?? []),
  );
  const guess = nearMiss(flag, names).replace(': ', '');
  return usageError(`${called} has no option ${flag}`, `${guess} ${helpOf(called)}`.trim());
}

/** @param {string} called a command, a script, or `dragstrip` */
function helpOf(called) {
  if (called.endsWith('.js')) return `node ${called} --help lists the options`;
  if (called === 'dragstrip') return 'npx dragstrip --help lists the commands';
  return `npx dragstrip ${called} --help lists the options`;
}

/**
 * Rewords errors of the parser: the problem, then the correct usage.
 * @param {CommanderError} error
 * @param {string} called the command, or the script
 * @param {CommandDetails} details
 * @returns {DragstripError}
 */
function usageFailure({ code, message }, called, { options, args = '', example = '' }) {
  const [, subject = ''] = /'(.*)'/.exec(message) ?? [];
  switch (code) {
    case 'commander.unknownOption':
      return unknownOption(called, subject, options);
    case 'commander.missingArgument':
      return usageError(
        `${called} needs ${args.replace(/ \[.*/, '')}`,
        `write for example npx dragstrip ${called} ${example}`,
      );
    case 'commander.optionMissingArgument':
      return missingValue(subject, options);
    case 'extra':
      return usageError(`${called}: unexpected argument "${subject}"`, helpOf(called));
    default:
      return usageError(message.replace(/^error: /, ''), helpOf(called));
  }
}

/**
 * @param {string} flags flags of the option
 * @param {readonly import('./options.js').OptionRow[]} options
 * @returns {DragstripError}
 */
function missingValue(flags, options) {
  const [flag] = /--[\w-]+/.exec(flags) ?? [flags];
  const row = options.find((one) => one.flags === flags);
  const message = `${flag} needs a value`;
  try {
    (row?.check ?? row?.parse)?.('', flag);
  } catch (error) {
    if (error instanceof DragstripError) return usageError(message, error.hint);
  }
  return usageError(message, `write ${flags.replace(/^-\w, /, '')}`);
}

/**
 * If the reader closes the output (`| head`), the program ends silently like other Unix tools; if
 * the output cannot be written (a full disk), it ends with a one-line error.
 */
function guardOutput() {
  // With a handler, exceeding the file size limit is a write error like a full disk, and does not
  // kill the process.
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

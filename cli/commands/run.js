/**
 * A workload as a command: `dragstrip insert`, `dragstrip run --workload ./mine.js`. What it
 * measures, its options and the lines of an original program are the workload's own; here they
 * become a run, its events lines, its result tables, a file, a plot and an exit status.
 */

import { optionsOf } from '../../engine/options.js';
import { requestRun } from '../../engine/request.js';
import { usageError } from '../../lib/errors.js';
import { DEFAULT_WORKLOAD, loadWorkload } from '../../workloads/index.js';
import { openBaseline } from '../baselines.js';
import { RACE_FLEET_OPTIONS } from '../fleet-options.js';
import { givenOf, rowsOf } from '../option-rows.js';
import {
  ADDRESS_OPTIONS,
  addressesOf,
  FURTHER_ADDRESSES,
  OPTIONS,
  STORE_OPTIONS,
} from '../options.js';
import { prepareRace } from '../race-session.js';
import { placeOfRace, writePage } from '../result-page.js';
import { picturesOf, runCommand, tablesFor } from '../run-command.js';
import { raceLines, showRun } from '../run-progress.js';
import { setUpServers } from '../set-up-servers.js';
import { statusOf } from '../status.js';

/** @typedef {import('../../lib/types.js').WorkloadDefinition} WorkloadDefinition */
/** @typedef {import('../../lib/types.js').ConsoleContext} ConsoleContext */
/** @typedef {import('../../lib/types.js').RunHooks} RunHooks */
/** @typedef {import('../../lib/result.js').Result} Result */

const OWN_OUTPUTS = ['saveBaseline', 'baseline', 'explain', 'metrics', 'hlog'];
/** Of a race alone. */
const RACE_OPTIONS = ['setup', 'limits', 'noHtml'];

/** @type {import('../options.js').OptionRow} */
const WORKLOAD = {
  flags: '--workload <one>',
  help: 'workload: a name (see npx dragstrip list), or a file such as ./mine.js',
};

/**
 * Its options are known before the others are read.
 * @param {readonly string[]} argv
 * @returns {string} what --workload names
 */
export function workloadIn(argv) {
  const at = argv.findIndex((word) => /^--workload(=|$)/.test(word));
  if (at < 0) return DEFAULT_WORKLOAD;
  return /=(.*)$/.exec(argv[at])?.[1] ?? argv[at + 1] ?? DEFAULT_WORKLOAD;
}

/**
 * @param {string} name of the workload, or its file
 * @param {string} [command] what it is called by
 * @returns {Promise<import('../main.js').CommandDetails>}
 */
export async function detailsOf(name, command = name) {
  const workload = await loadWorkload(name);
  const { storages, ...table } = optionsOf(workload, { all: false });
  const addresses = [...ADDRESS_OPTIONS, ...FURTHER_ADDRESSES].filter(
    (one) => one !== 'allowTargets',
  );
  const { namespace, isRace } = workload;
  const hasServers = workload.contenders === undefined;
  const options = [
    ...(command === 'run' ? [WORKLOAD] : []),
    ...(isRace ? [...RACE_OPTIONS.map((one) => OPTIONS[one]), ...RACE_FLEET_OPTIONS] : []),
    ...rowsOf({ storages }),
    ...(hasServers ? [OPTIONS['storage']] : []),
    ...rowsOf(table),
    ...(command === workload.preset ? [] : [OPTIONS['svg']]),
    ...[...OWN_OUTPUTS, ...STORE_OPTIONS].map((one) => OPTIONS[one]),
    // With names of its own it is known which servers it uses.
    ...(hasServers ? addresses : []).map((one) => {
      const { server = '', ...row } = OPTIONS[one];
      const isUsed =
        namespace === undefined || server === ''
          ? !FURTHER_ADDRESSES.includes(one)
          : Object.hasOwn(namespace, server);
      return { ...row, hidden: !isUsed };
    }),
  ];
  const tests = Object.entries(workload.tests ?? {});
  if (tests.length === 0) return { options, summary: workload.summary };
  const lines = tests.map(([test, about]) => `  ${`${command} ${test}`.trim()}: ${about}`);
  return {
    options,
    args: tests.some(([test]) => test === '') ? '[test]' : '<test>',
    summary: `${workload.summary}\n\n${lines.join('\n')}`,
  };
}

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ command, args, options, stdout, stderr }) {
  const source = command === 'run' ? (options.workload ?? DEFAULT_WORKLOAD) : command;
  const workload = await loadWorkload(source);
  const test = testOf(workload, args[0]);
  const baseline = await openBaseline(options);
  const own = { ...options, failIf: baseline.gatesOfRun };
  const request = await requestOf(workload, { source, test, options: own });
  /** @type {ConsoleContext} */
  const about = { test, options: request.options, quiet: options.quiet === true };
  const streams = { stdout, stderr };
  const hooks = (await workload.runHooks?.()) ?? {};
  /** @type {Result['warnings']} */
  const warnings = [];
  return runCommand(
    { options, ...streams },
    {
      ...(workload.isRace && { destination: placeOfRace(options) }),
      ...(workload.preset !== undefined && storedAs(workload, options, stdout)),
      async begin(session) {
        if (workload.isRace) await prepareRace(request, options, session);
        const { plan } = request;
        const servers = setUpServers(plan, session);
        const context = { ...about, env: process.env, plan, servers };
        const { warnings: found = [], ...changes } = (await hooks.setUp?.(context)) ?? {};
        warnings.push(...found);
        return { ...request, plan: { ...plan, ...changes } };
      },
      show({ progress }) {
        // Where both streams are the same terminal, the view has what the lines would say.
        const live = progress.live && stdout.isTTY === true;
        const { isRace } = workload;
        const linesOfRace = isRace && !about.quiet ? raceLines({ live }) : undefined;
        const watch = showRun(
          { ...streams, progress },
          { isRace, nameOf: hooks.nameOf, linesOf: hooks.legacyLines?.(about) ?? linesOfRace },
        );
        return (event) => {
          if (event.type === 'planned') event.result.warnings.push(...warnings);
          watch(event);
        };
      },
      async printReport(result) {
        const { explain } = options;
        const how = { hooks, isRace: workload.isRace };
        await printReport(result, how, about, { ...streams, explain });
        await baseline.print(result, stdout);
      },
      draw: (result) => picturesOf(result, workload.name),
      exitStatus: (result) =>
        (hooks.status?.(result, statusOf, about) ?? statusOf(result)) || baseline.status(),
    },
  );
}

/**
 * @param {WorkloadDefinition} workload
 * @param {Record<string, any>} options
 * @param {NodeJS.WriteStream} stdout
 * @returns {Pick<import('../run-command.js').CommandRun, 'afterwards'>}
 */
function storedAs({ isRace }, options, stdout) {
  return {
    async afterwards(result, file) {
      stdout.write(`\nresult: ${file}\n`);
      if (!isRace || options['html'] === false) return;
      stdout.write(`page:   ${await writePage(result, file)}\n`);
    },
  };
}

/**
 * @param {WorkloadDefinition} workload
 * @param {string | undefined} given
 * @returns {string | undefined} the test
 */
function testOf({ name, tests }, given) {
  const known = Object.keys(tests ?? {});
  if (tests === undefined ? given === undefined : known.includes(given ?? '')) return given;
  const names = known.filter((one) => one !== '').join(', ');
  const hint = names === '' ? 'leave it out' : `name one of ${names}`;
  throw usageError(
    given === undefined
      ? `${name} needs the name of a test`
      : `${name} ${JSON.stringify(given)}: unknown test`,
    known.includes('') ? `${hint}, or none` : hint,
  );
}

/**
 * @param {WorkloadDefinition} workload
 * @param {{ source: string, test: string | undefined, options: Record<string, any> }} how
 */
async function requestOf(workload, { source, test, options }) {
  if (options['json'] !== undefined && options['out'] !== undefined) {
    throw usageError('--json and --out: one of them', '--json names a file, --out a folder');
  }
  const given = givenOf(optionsOf(workload, { all: false }), options);
  const listed = /** @type {string | undefined} */ (given['storages']);
  const { storage: more } = options;
  const storages = more === undefined ? listed : [...(listed?.split(',') ?? []), ...more];
  return requestRun(
    /** @type {any} */ ({
      ...given,
      command: workload.preset ?? (test ? `${workload.name}-${test}` : workload.name),
      workload: source,
      test,
      storages,
      ...(workload.isRace && { agents: options['agents'] }),
      addresses: addressesOf(options),
    }),
    { asText: true },
  );
}

/**
 * @param {Result} result
 * @param {{ hooks: RunHooks, isRace?: boolean }} workload
 * @param {ConsoleContext} about
 * @param {{ stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream, explain?: boolean }} streams
 */
async function printReport(result, { hooks, isRace = false }, about, { stdout, stderr, explain }) {
  const { before = '', tables, after = '' } = hooks.output?.(result, about) ?? {};
  stdout.write(before);
  if (tables !== 'none') {
    const stream = tables === 'error' ? stderr : stdout;
    const hasLines = isRace || hooks.legacyLines !== undefined;
    const gap = hasLines && before === '' ? '\n' : '';
    stream.write(`${gap}${await tablesFor(result, stream, { explain })}`);
  }
  stdout.write(after);
}

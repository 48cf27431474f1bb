/**
 * A workload as a command: `dragstrip insert`, `dragstrip run --workload ./mine.js`. The workload
 * defines the operation, its options and its legacy output; this module turns them into a run, its
 * events into lines, and its result into tables, a file, a plot and an exit status. Engine and
 * reports are imported once the options are valid.
 */

import { optionsOf } from '../../engine/options.js';
import { requestRun } from '../../engine/request.js';
import { usageError } from '../../lib/errors.js';
import { DEFAULT_WORKLOAD, loadWorkload } from '../../workloads/index.js';
import { openBaseline } from '../baselines.js';
import { givenOf } from '../option-rows.js';
import { addressesOf } from '../options.js';
import { placeOfRace, writePage } from '../result-page.js';
import { statusOf } from '../status.js';

/** @typedef {import('../../lib/types.js').WorkloadDefinition} WorkloadDefinition */
/** @typedef {import('../../lib/types.js').ConsoleContext} ConsoleContext */
/** @typedef {import('../../lib/types.js').RunHooks} RunHooks */
/** @typedef {import('../../lib/result.js').Result} Result */

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ command, args, options, stdout, stderr }) {
  const source = command === 'run' ? (options.workload ?? DEFAULT_WORKLOAD) : command;
  const workload = await loadWorkload(source);
  const test = testOf(workload, args[0]);
  if (options['reference'] !== undefined && options['failIf'] === undefined) {
    throw usageError('--reference needs --fail-if', 'add --fail-if "throughput<0.95"');
  }
  const baseline = await openBaseline(options);
  const runOptions = { ...options, failIf: baseline.gatesOfRun };
  const hooks = (await workload.runHooks?.()) ?? {};
  const request = await requestOf(workload, { source, test, options: runOptions, hooks });
  const { picturesOf, runCommand } = await import('../run-command.js');
  const { raceLines, showRun } = await import('../run-progress.js');
  /** @type {ConsoleContext} */
  const about = { test, options: request.options, quiet: options.quiet === true };
  const streams = { stdout, stderr };
  /** @type {Result['warnings']} */
  const warnings = [];
  return runCommand(
    { options, ...streams },
    {
      ...(workload.isRace && { destination: placeOfRace(options) }),
      ...(workload.preset !== undefined && storedAs(workload, options, stdout)),
      async begin(session) {
        if (workload.isRace) {
          const { prepareRace } = await import('../race-session.js');
          await prepareRace(request, options, session);
        }
        const { plan } = request;
        const { setUpServers } = await import('../set-up-servers.js');
        const servers = setUpServers(plan, session);
        const context = { ...about, env: process.env, plan, servers };
        const { warnings: ofSetUp = [], ...changes } = (await hooks.setUp?.(context)) ?? {};
        warnings.push(...ofSetUp);
        return { ...request, plan: { ...plan, ...changes } };
      },
      show({ progress }) {
        // If both streams are the same terminal, the view replaces the lines.
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
      draw: picturesOf,
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
  const hint = names === '' ? 'leave it out' : `tests: ${names}`;
  throw usageError(
    given === undefined ? `${name} needs a test` : `${name} ${JSON.stringify(given)}: unknown test`,
    known.includes('') ? `${hint}; or omit it` : hint,
  );
}

/**
 * @param {WorkloadDefinition} workload
 * @param {{ source: string, test: string | undefined, options: Record<string, any>,
 *   hooks: RunHooks }} how
 */
async function requestOf(workload, { source, test, options, hooks }) {
  if (options['json'] !== undefined && options['out'] !== undefined) {
    throw usageError('--json and --out cannot be combined', '--json names a file, --out a folder');
  }
  const values = givenOf(optionsOf(workload, { all: false }), options);
  const runOptions = { ...hooks.fromEnvironment?.(process.env), ...values };
  return requestRun(
    /** @type {any} */ ({
      ...runOptions,
      command: workload.preset ?? (test ? `${workload.name}-${test}` : workload.name),
      workload: source,
      test,
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
    const { tablesFor } = await import('../run-command.js');
    stream.write(`${gap}${await tablesFor(result, stream, { explain })}`);
  }
  stdout.write(after);
}

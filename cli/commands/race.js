/**
 * `dragstrip race`, `node async_test.js` and `./test.js`: options to a run, its events to lines,
 * its result to a table, a file and an exit status.
 */

import path from 'node:path';
import { RUN_OPTIONS as EVERY_RUN } from '../../engine/options.js';
import { parseEndpoint } from '../../lib/address.js';
import { usageError } from '../../lib/errors.js';
import { loadReport } from '../../report/index.js';
import { options as POINT_READS } from '../../workloads/get/plan.js';
import { coordinatorOf, requireShared } from '../fleet-options.js';
import { benchmarkLines, seedLines } from '../lines.js';
import { loadsOf } from '../loads.js';
import { givenOf } from '../option-rows.js';
import { addressesOf, RACE_DEFAULTS } from '../options.js';
import { runCommand, tablesFor } from '../run-command.js';
import { slicesOf } from '../slices.js';
import { statusOf } from '../status.js';
import { requireFree, writeWhole } from '../storage.js';
import { limitsSource } from './limit.js';

/** @typedef {import('../main.js').CommandContext} CommandContext */
/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../index.js').RunOptions} RunOptions */

/** Default folder for results of the race. */
const RACE_FOLDER = 'results';

/**
 * @param {CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute(context) {
  const { command, options, stdout } = context;
  const runOptions = toRunOptions(command, options);
  const wantsPage = command === 'race' && options.html !== false;
  return runCommand(context, {
    destination: destinationOf(command, options),
    async begin(session) {
      // The page must be writable, too, before anything is fetched or measured.
      if (wantsPage && options.json !== undefined) await requirePage(options);
      if (options.agents !== undefined) await joinFleet(options, session);
      session.limits = await limitsSource(options.limits, session.progress);
      if (options.setup) await setUpFor(runOptions, options, session);
      return runOptions;
    },
    show({ progress }) {
      // Where both streams are the same terminal, the view has what the lines would say.
      const live = progress.live && stdout.isTTY === true;
      return (command === 'race' ? benchmarkLines : seedLines)({
        stdout,
        progress,
        live,
        ...options,
      });
    },
    printReport: async (result) =>
      void stdout.write(`\n${await tablesFor(result, stdout, options)}`),
    async afterwards(result, file) {
      stdout.write(`\nresult: ${file}\n`);
      if (wantsPage) stdout.write(`page:   ${await writePage(result, pageOf(file))}\n`);
    },
    exitStatus: statusOf,
  });
}

/**
 * Servers and rows of this run alone.
 * @param {RunOptions} runOptions its storages are those of the packages that are compared
 * @param {Record<string, any>} options
 * @param {import('../run-command.js').Session} session
 */
async function setUpFor(runOptions, options, { signal, progress, stops }) {
  const { setUp } = await import('../setup.js');
  const { storagesOfPackages } = await import('../../engine/driver-versions.js');
  const { loadWorkload } = await import('../../workloads/index.js');
  const workload = await loadWorkload(runOptions.workload ?? 'get');
  runOptions.storages ??= (await storagesOfPackages(options.against ?? [], workload)) ?? undefined;
  const { stop } = await setUp(runOptions, { signal, progress });
  stops.push(stop);
}

/**
 * Several load machines: all of them, or the race is not started.
 * @param {Record<string, any>} options
 * @param {import('../run-command.js').Session} session
 */
async function joinFleet(options, session) {
  const { progress, signal } = session;
  const storages = await requireShared(options);
  const coordinator = await coordinatorOf(options);
  const { openFleet } = await import('../../fleet/controller.js');
  const { recordFleet } = await import('../../fleet/record.js');
  const { requireOther } = await import('../../fleet/guard.js');
  const named = Object.values(addressesOf(options)).map((text) =>
    parseEndpoint(text.split(',')[0]),
  );
  requireOther(named, coordinator.endpoint);
  const fleet = await openFleet({
    ...{ coordinator, storages, signal, agents: options.agents },
    ...{ onLoss: options.onAgentLoss, waitMs: options.agentWait },
    onWaiting: (ready, count) => progress.update(`${ready} of ${count} agents are ready`),
  });
  session.stops.push(() => fleet.close());
  session.fleet = { signal: fleet.signal, executor: fleet.execute, watch: recordFleet(fleet) };
}

/** @param {string} file of a result */
function pageOf(file) {
  return `${file.replace(/\.json$/, '')}.html`;
}

/**
 * @param {Record<string, any>} options
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: a page is where ours would be
 */
async function requirePage({ json, force }) {
  await requireFree(
    path.resolve(pageOf(json)),
    pageOf(json),
    force === true,
    'the page beside --json:',
  );
}

/**
 * The page is made when all is measured and stored: its libraries are not in the way before.
 * @param {Result} result
 * @param {string} file
 */
async function writePage(result, file) {
  const { render } = await loadReport('html');
  await writeWhole(file, render(result));
  return file;
}

/**
 * @param {string} command
 * @param {Record<string, any>} options
 */
function destinationOf(command, { json, out, force }) {
  const byDefault = command === 'race' && json === undefined ? RACE_FOLDER : undefined;
  return { json, out: out ?? byDefault, force };
}

/**
 * @param {string} command
 * @param {Record<string, any>} options parsed
 * @returns {RunOptions}
 */
export function toRunOptions(command, options) {
  if (options.json !== undefined && options.out !== undefined) {
    throw usageError('--json and --out: one of them', '--json names a file, --out a folder');
  }
  const { storages: listed, storage: more } = options;
  const storages = more === undefined ? listed : [...(listed ?? []), ...more];
  const slices = slicesOf(command, options);
  const { rounds, warmupOperations } = RACE_DEFAULTS;
  return {
    command,
    ...(command === 'race' && slices === null && { rounds, warmupOperations }),
    ...givenOf({ ...EVERY_RUN, ...POINT_READS }, options),
    ...shared(loadsOf(command, { ...options, slices }), options.processes),
    ...slices,
    storages,
    addresses: addressesOf(options),
  };
}

/**
 * @param {ReturnType<typeof loadsOf>} given
 * @param {number[]} [counts] of processes, each once
 * @returns {ReturnType<typeof loadsOf>} each load shared by each of them
 */
function shared(given, counts) {
  if (counts === undefined) return given;
  const { loads, findMax } = given;
  if (findMax !== undefined && counts.length > 1) {
    throw usageError('--find-max and --processes: one number', 'write for example --processes 2');
  }
  const numbers = [...new Set(counts)];
  return {
    ...(loads && {
      loads: loads.flatMap((load) => numbers.map((processes) => ({ ...load, processes }))),
    }),
    ...(findMax && { findMax: { ...findMax, processes: numbers[0] } }),
  };
}

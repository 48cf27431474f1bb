/**
 * `dragstrip insert`: rows into an empty table by several strategies. A line for each test as the
 * seed has it, then the tables.
 */

import { usageError } from '../../lib/errors.js';
import {
  BATCH_ROWS,
  BATCHES_IN_FLIGHT,
  INSERT_ROWS,
  planSlices,
  requestsInFlight,
  rowsOfRequest,
  SINGLES_IN_FLIGHT,
  STRATEGIES,
  STRATEGY_NAMES,
} from '../../lib/insertion.js';
import { loadStorage, parseSelection, storageNamesFor } from '../../storages/index.js';
import { conductRun, tablesFor } from '../conduct.js';
import { addressesOf } from '../options.js';
import { dropUndefined } from '../setup.js';
import { statusOf } from './race.js';

/** @typedef {import('../../index.js').RunOptions} RunOptions */
/** @typedef {import('../../index.js').RunEvent} RunEvent */
/** @typedef {import('../../lib/types.js').StorageDefinition} StorageDefinition */
/** @typedef {NonNullable<RunOptions['variants']>[number]} Variant */

const ROUNDS = 3;
/** Requests; of single rows one stands for fifty. */
const WARMUP = 60;
/** Of a profile that only says how rows are read, nothing would be left in an insert. */
const PROFILES = Object.freeze({
  redis: ['default', 'tuned'],
  ioredis: ['default', 'tuned', 'pipelined'],
});

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ options, stdout, stderr }) {
  const runOptions = await toInsertOptions(options);
  return conductRun(
    { options, stdout, stderr },
    {
      begin: () => runOptions,
      show: ({ progress }) => lines({ quiet: options.quiet, stdout, progress }),
      tell: async (result) => {
        stdout.write(`\n${await tablesFor(result, stdout)}`);
      },
      draw: drawPlot,
      judge: statusAfter,
    },
  );
}

/** @param {import('../../lib/result.js').Result} result */
async function drawPlot(result) {
  const { insertPicture } = await import('../../report/insert-plot.js');
  return insertPicture(result);
}

/**
 * @param {Record<string, any>} options parsed
 * @returns {Promise<RunOptions>}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export async function toInsertOptions(options) {
  const { storages: listed, storage = [], rows = INSERT_ROWS, strategies } = options;
  const named =
    listed === undefined && storage.length === 0 ? null : [...(listed ?? []), ...storage];
  const chosen = await loadChosen(named);
  const variants = variantsOf(chosen, {
    strategies: strategies ?? STRATEGY_NAMES,
    rows,
    batches: options.batch ?? [BATCH_ROWS],
    inFlight: options.inFlight ?? [BATCHES_IN_FLIGHT],
    window: options.window ?? SINGLES_IN_FLIGHT,
  });
  if (variants.length === 0) {
    throw usageError(
      'none of these storages has any of these strategies',
      'dragstrip list shows the storages; docs/insert.md says what each has',
    );
  }
  return /** @type {RunOptions} */ (
    dropUndefined({
      command: 'insert',
      workload: 'insert',
      storages: named ?? undefined,
      variants,
      rounds: options.rounds ?? ROUNDS,
      warmupOperations: options.warmup ?? WARMUP,
      timeoutMs: options.timeout,
      seed: options.seed,
      rows,
      valueSize: 8, // of rows that nobody reads: the least there is
      addresses: addressesOf(options),
      allowTargets: options.allowTarget,
    })
  );
}

/**
 * @typedef {object} Chosen
 * @property {string} text as it is written for the run
 * @property {StorageDefinition} definition
 */

/**
 * @param {string[] | null} named
 * @returns {Promise<Chosen[]>} those that insert
 */
async function loadChosen(named) {
  if (named === null) {
    const all = await Promise.all(
      storageNamesFor(['insert']).map(async (text) => ({
        text,
        definition: await loadStorage(text),
      })),
    );
    return all.filter(({ definition }) => definition.inserts !== undefined);
  }
  return Promise.all(
    named.map(async (text) => {
      if (/^all$|:all$/.test(text.trim())) {
        throw usageError(`--storages ${text}: name them one by one`, 'or none: all that can run');
      }
      const { source, profile } = parseSelection(text);
      const definition = await loadStorage(source);
      requireInsert(definition, profile);
      return { text, definition };
    }),
  );
}

/**
 * @param {StorageDefinition} definition
 * @param {string} profile
 */
function requireInsert({ name, inserts, profiles }, profile) {
  if (inserts === undefined) {
    throw usageError(`storage ${name} has no inserts`, 'dragstrip insert --help, docs/insert.md');
  }
  const allowed = /** @type {Record<string, string[]>} */ (PROFILES)[name] ?? ['default'];
  if (allowed.includes(profile) || !Object.hasOwn(profiles, profile)) return;
  throw usageError(
    `storage ${name}:${profile}: it inserts as ${allowed.join(' or ')} only`,
    `write ${name}`,
  );
}

/**
 * @param {Chosen[]} chosen
 * @param {{ strategies: readonly string[], rows: number, batches: number[], inFlight: number[],
 *   window: number }} sizes
 * @returns {Variant[]}
 */
function variantsOf(chosen, { strategies, rows, batches: sizes, inFlight, window }) {
  return strategies.flatMap((strategy) => {
    const one = STRATEGIES[strategy];
    const having = chosen.filter(({ definition }) =>
      Object.hasOwn(definition.inserts ?? {}, strategy),
    );
    const isBatch = one.rows === 'batch';
    return (isBatch ? sizes : [1]).flatMap((batch) => {
      const size = rowsOfRequest(one, { rows, batch });
      const { length } = planSlices({ rows, size, workers: one.workers });
      const counts = isBatch ? inFlight : [requestsInFlight(one, { batches: 1, window })];
      /** @type {Variant['parameters']} */
      const parameters = isBatch ? { strategy, batch } : { strategy };
      // What is called in this process is over when the call returns: there is no window of it.
      const isSync = (/** @type {Chosen} */ { definition }) =>
        definition.server === null && one.inFlight !== 'singles';
      const variant = (/** @type {Chosen[]} */ storages, /** @type {number[]} */ windows) => ({
        parameters,
        loads: windows.map((k) => loadOf(k, length)),
        storages: storages.map(({ text }) => text),
      });
      return [
        variant(
          having.filter((each) => !isSync(each)),
          counts,
        ),
        variant(having.filter(isSync), [1]),
      ].filter(({ storages }) => storages.length > 0);
    });
  });
}

/**
 * @param {number} inFlight
 * @param {number} operations
 */
function loadOf(inFlight, operations) {
  return inFlight === 1
    ? { kind: /** @type {const} */ ('sync'), operations }
    : { kind: /** @type {const} */ ('window'), inFlight, operations };
}

/**
 * @param {{ quiet: boolean, stdout: NodeJS.WritableStream,
 *   progress: import('../progress.js').Progress }} context
 * @returns {(event: RunEvent) => void}
 */
function lines({ quiet, stdout, progress }) {
  const say = (/** @type {string} */ line) => {
    progress.done();
    if (!quiet) stdout.write(`${line}\n`);
  };
  return (event) => {
    if (event.type === 'waiting') progress.update(`waiting for ${event.what}`);
    if (event.type === 'progress') {
      const { cell, phase, settled } = event;
      const { operations } = cell.load;
      const share = phase === 'warmup' || operations === null ? null : settled / operations;
      progress.update(`${cell.storage}, ${cell.parameters?.['strategy']}, ${phase}`, share);
    }
    if (event.type === 'cell-end') say(cellLine(event.cell, event.round));
  };
}

/**
 * As the seed's line, `ecql_batch_pure 50000 inserts: 0.84848 seconds`, with what decides it.
 * @param {import('../../lib/result.js').Cell} cell
 * @param {import('../../lib/result.js').Round} round
 */
export function cellLine({ storage, profile, parameters = {}, load }, round) {
  const { strategy, batch } = parameters;
  const name = `${storage}${profile === 'default' ? '' : `:${profile}`}_${strategy}`;
  if (round.state !== 'measured' || round.facts === undefined) {
    return `${name}: ${round.state}${round.failure === null ? '' : `, ${round.failure.message}`}`;
  }
  const { rows, durability } = round.facts;
  const size = batch === undefined ? '' : `batches of ${batch}, `;
  return (
    `${name} ${rows} inserts: ${(round.durationNs / 1e9).toFixed(6)} seconds ` +
    `(${size}${load.inFlight} in flight; ${durability})`
  );
}

/** @param {import('../../lib/result.js').Result} result */
function statusAfter(result) {
  const left = result.warnings.some(({ code }) => code === 'ROWS_LEFT');
  return left ? 4 : statusOf(result);
}

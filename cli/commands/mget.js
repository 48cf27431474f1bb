/**
 * `dragstrip mget concurrency` and `mget scatter`: how long a fetch of many keys takes. The table
 * of medians, tab-separated, between the lines that say what is held and what was deleted; or a
 * line for each fetch, or a script for gnuplot.
 */

import { usageError } from '../../lib/errors.js';
import { scatterPoints, toFetchGroups } from '../../report/analysis/fetches.js';
import { conductRun, tablesFor } from '../conduct.js';
import { addressesOf } from '../options.js';
import { dropUndefined } from '../setup.js';
import { statusOf } from '../status.js';

/** @typedef {import('../main.js').CommandContext} CommandContext */
/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../index.js').RunOptions} RunOptions */
/** @typedef {import('../../index.js').RunEvent} RunEvent */
/** @typedef {import('../../report/analysis/fetches.js').FetchGroup} FetchGroup */

const TESTS = Object.freeze(['concurrency', 'scatter']);
/** Fetches of all sizes before the clock starts, so that the compiler has seen them. */
const WARMUP = 500;

/**
 * @param {CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ args: [test], options, stdout, stderr }) {
  const runOptions = toMgetOptions(test, options);
  takePassword(options.passwordFromEnv);
  return conductRun(
    { options, stdout, stderr },
    {
      begin: () => runOptions,
      show: ({ progress }) => lines(test, { options, stdout, stderr, progress }),
      tell: (result) => tell(result, { test, options, stdout, stderr }),
      draw: drawFetches,
      judge: statusAfter,
    },
  );
}

/** @param {Result} result */
async function drawFetches(result) {
  const { fetchPicture } = await import('../../report/mget-plot.js');
  return fetchPicture(result);
}

/**
 * @param {string} test
 * @param {Record<string, any>} options parsed
 * @returns {RunOptions}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function toMgetOptions(test, options) {
  if (!TESTS.includes(test)) {
    throw usageError(`mget ${JSON.stringify(test)}: not known`, `name one of ${TESTS.join(', ')}`);
  }
  requireOptionsOf(test, options);
  const { storages: listed, storage = [], minKeys = 1, maxKeys = 100, gnuplot } = options;
  const storages = [...(listed ?? (storage.length > 0 ? [] : ['ioredis'])), ...storage];
  const alone = storages.length === 1 && !/^all$|:all$/.test(storages[0]) && !options.pipelined;
  if (gnuplot && !alone) {
    throw usageError('--gnuplot plots one storage', 'name one by --storages, without --pipelined');
  }
  return /** @type {RunOptions} */ (
    dropUndefined({
      command: `mget-${test}`,
      workload: 'mget',
      storages,
      loads: inFlightOf(test, options).map((inFlight) => ({ kind: 'window', inFlight })),
      mget: dropUndefined({
        cycles: options.cycles,
        pipelined: options.pipelined,
        scatter: test === 'scatter' ? { minKeys, maxKeys } : undefined,
      }),
      rounds: options.rounds ?? 1,
      warmupOperations: options.warmup ?? WARMUP,
      timeoutMs: options.timeout,
      seed: options.seed,
      rows: options.rows,
      valueSize: options.dataSize,
      redisDb: options.db,
      addresses: redisAddress(options),
      allowTargets: options.allowTarget,
    })
  );
}

/** Options of one of the two tests, and their flags. */
const BELONGS = Object.freeze({
  concurrency: { minConc: '--min-conc', maxConc: '--max-conc' },
  scatter: {
    concurrency: '--concurrency',
    minKeys: '--min-keys',
    maxKeys: '--max-keys',
    gnuplot: '--gnuplot',
    gnuplotExtra: '--gnuplot-extra',
  },
});

/**
 * @param {string} test
 * @param {Record<string, any>} options
 */
function requireOptionsOf(test, options) {
  for (const [owner, flags] of Object.entries(BELONGS)) {
    for (const [name, flag] of Object.entries(flags)) {
      if (owner !== test && options[name] !== undefined) {
        throw usageError(`${flag}: it belongs to mget ${owner}`, 'leave it out');
      }
    }
  }
  if (options.gnuplotExtra !== undefined && !options.gnuplot) {
    throw usageError('--gnuplot-extra: there is no script', 'add --gnuplot');
  }
}

/**
 * @param {string} test
 * @param {Record<string, any>} options
 * @returns {number[]} fetches in flight: doubled from the least to the most
 */
function inFlightOf(test, { concurrency = 1, minConc = 1, maxConc = 16 }) {
  if (test === 'scatter') return [concurrency];
  if (minConc > maxConc) {
    throw usageError(`--min-conc ${minConc} is more than --max-conc ${maxConc}`, 'exchange them');
  }
  const steps = [];
  for (let inFlight = minConc; inFlight <= maxConc; inFlight *= 2) steps.push(inFlight);
  return steps;
}

/**
 * @param {Record<string, any>} options
 * @returns {Record<string, string>} addresses by flag name
 */
function redisAddress(options) {
  const { host, port, redis } = options;
  const addresses = addressesOf(options);
  if (host === undefined && port === undefined) return addresses;
  if (redis !== undefined) {
    throw usageError('--redis and --host or --port: one of them', '--redis takes host:port');
  }
  const name = host ?? '127.0.0.1';
  return { ...addresses, redis: `${name.includes(':') ? `[${name}]` : name}:${port ?? 6379}` };
}

/**
 * The processes of the cells read it where they always do: from the environment.
 * @param {string | undefined} variable
 */
function takePassword(variable) {
  if (variable === undefined) return;
  const password = process.env[variable];
  if (password === undefined || password === '') {
    throw usageError(`--password-from-env ${variable}: there is no such variable`, 'export it');
  }
  process.env['DRAGSTRIP_REDIS_PASSWORD'] = password;
  delete process.env['DRAGSTRIP_REDIS_PASSWORD_FILE'];
}

/**
 * The lines of a run while it goes on. A scatter's output is points, or a script: there the lines
 * about keys are on stderr.
 * @param {string} test
 * @param {{ options: Record<string, any>, stdout: NodeJS.WritableStream,
 *   stderr: NodeJS.WritableStream, progress: import('../progress.js').Progress }} context
 * @returns {(event: RunEvent) => void}
 */
function lines(test, { options, stdout, stderr, progress }) {
  const out = test === 'scatter' ? stderr : stdout;
  /** @type {Result | null} */
  let result = null;
  /** @type {Set<string>} */
  const shown = new Set();
  const say = (/** @type {string} */ line) => {
    progress.done();
    out.write(`${line}\n`);
  };
  const showTables = (/** @type {boolean} */ all) => {
    if (test === 'scatter' || result === null) return;
    const groups = toFetchGroups(result);
    for (const group of groups) {
      const { label, workload } = group;
      const key = `${label} ${workload}`;
      if (shown.has(key)) continue;
      if (!all && !isComplete(group, result)) break; // in one order, whatever that of the cells is
      shown.add(key);
      const many = countGroups(result) > 1;
      if (many) say(`${label}${workload === 'mget' ? '' : ', single reads at once'}`);
      for (const line of concurrencyLines(group)) say(line);
    }
  };
  return (event) => {
    if (event.type === 'planned') result = event.result;
    if (event.type === 'waiting') progress.update(`waiting for ${event.what}`);
    if (event.type === 'filling') progress.update(`filling ${event.storage}`);
    if (event.type === 'held' && !options.quiet) say(`Holding ${event.rows} keys`);
    if (event.type === 'progress') {
      const { cell, settled } = event;
      const { inFlight, operations } = cell.load;
      const what = `${cell.storage}, ${cell.workload}, ${inFlight} in flight`;
      progress.update(what, operations === null ? null : settled / operations);
    }
    if (event.type === 'cell-end') showTables(false);
    if (event.type === 'removed') {
      showTables(true);
      if (!options.quiet && event.left.length === 0) say(`Deleted ${event.rows} test keys`);
    }
  };
}

/** @param {Result} result */
function countGroups({ cells }) {
  const ran = cells.filter(({ state }) => state !== 'skipped');
  return new Set(ran.map(({ storage, profile, workload }) => `${storage}:${profile} ${workload}`))
    .size;
}

/**
 * @param {FetchGroup} group
 * @param {Result} result
 * @returns {boolean} whether all rounds of all its cells are over
 */
function isComplete({ label, workload, columns }, { cells, options }) {
  const [{ cell: first }] = columns;
  const own = cells.filter(
    (cell) =>
      cell.storage === first.storage &&
      cell.profile === first.profile &&
      cell.workload === workload,
  );
  const rounds = Number(options['rounds']);
  return label !== '' && own.every((cell) => cell.rounds.length >= rounds);
}

/**
 * The seed's table: a row for each number of keys, the first one twice; a column for each number in
 * flight; medians in ms.
 * @param {FetchGroup} group
 * @returns {string[]}
 */
export function concurrencyLines({ columns }) {
  const [longest] = [...columns].sort((a, b) => b.rows.length - a.rows.length);
  const head = ['keys', ...columns.map(({ inFlight }) => `c=${inFlight}`)].join('\t');
  const rows = longest.rows.map(({ keys }, i) =>
    [keys, ...columns.map(({ rows: own }) => millis(own[i]?.medianNs ?? null))].join('\t'),
  );
  return [head, ...rows];
}

/** @param {number | null} ns */
function millis(ns) {
  return ns === null ? '–' : (ns / 1e6).toFixed(3);
}

/**
 * What is said when the keys are gone.
 * @param {Result} result
 * @param {{ test: string, options: Record<string, any>, stdout: NodeJS.WriteStream,
 *   stderr: NodeJS.WriteStream }} context
 */
async function tell(result, { test, options, stdout, stderr }) {
  if (test === 'scatter') {
    if (options.gnuplot) {
      const { gnuplotScript } = await import('../../report/mget.js');
      stdout.write(gnuplotScript(result, { extra: options.gnuplotExtra }));
    } else {
      for (const text of scatterTexts(result)) stdout.write(text);
    }
  }
  if (options.quiet) return;
  const stream = test === 'scatter' ? stderr : stdout;
  stream.write(`\n${await tablesFor(result, stream)}`);
}

/**
 * @param {Result} result
 * @returns {string[]} lines of keys TAB ms; where there are several storages or ways, a line of
 *   comment before each
 */
export function scatterTexts(result) {
  const groups = toFetchGroups(result);
  return groups.map(({ label, workload, columns }) => {
    const points = scatterPoints(columns[0].cell);
    const head = groups.length > 1 ? `# ${label}, ${workload}\n` : '';
    return `${head}${points.map(([keys, ns]) => `${keys}\t${millis(ns)}\n`).join('')}`;
  });
}

/**
 * @param {Result} result
 * @returns {number}
 */
function statusAfter(result) {
  const left = result.warnings.some(({ code }) => code === 'ROWS_LEFT');
  return left ? 4 : statusOf(result);
}

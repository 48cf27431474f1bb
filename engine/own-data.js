/**
 * Runs on data of the user (--read-only): which keys are read, and how values are read for
 * comparison. Nothing is written to the server, and the result contains only counts and sizes of
 * its data: no keys and no values.
 */

import { readFile, stat } from 'node:fs/promises';
import { readCredentials } from '../lib/credentials.js';
import { targetError, unreadable, usageError } from '../lib/errors.js';
import { formatCount } from '../lib/format.js';
import { parseColumns } from '../lib/own-columns.js';
import { refuseBeside } from './load-options.js';

/** @typedef {import('./plan.js').RunPlan} RunPlan */
/** @typedef {import('./targets.js').StorageTarget} StorageTarget */
/** @typedef {NonNullable<import('../lib/result.js').Result['ownData']>} OwnDataSummary */

const READS = '--read-only reads servers of the Redis family, with --table SQL servers';
const NO_HANDLERSOCKET = 'HandlerSocket has no SELECT: --table needs an SQL driver';
const NO_TARANTOOL = 'Tarantool is not supported: the fields of its tuples have unknown types';
const NO_TEXTS =
  'name a text column as the value; for numbers and JSON create a view with CAST(… AS CHAR)';
const CLUSTER = 'redis-cluster';
const KEYS_FILE_BYTES_MAX = 64 * 2 ** 20;

/**
 * @param {Pick<RunPlan, 'workloadOptions'>} plan
 * @returns {boolean}
 */
export function isReadOnly({ workloadOptions }) {
  return workloadOptions['readOnly'] === true;
}

/**
 * @param {Record<string, any>} given the options that were given
 * @param {readonly import('../lib/result.js').Load[]} loads
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function refuseBesideReadOnly(given, loads) {
  // Options that define the dataset, or need rows of Dragstrip.
  refuseBeside('--read-only', {
    '--rows': given['rows'],
    '--value-size': given['valueSize'],
    '--mix': given['mix'],
    '--agents': given['agents'],
    '--processes': loads.some(({ processes = 1 }) => processes > 1),
  });
}

/**
 * @param {import('../lib/types.js').Contender} definition
 * @param {Pick<RunPlan, 'workloadOptions'>} plan
 * @returns {import('../lib/types.js').Unavailable | null}
 */
export function missingOwnData({ name, server, protocol }, { workloadOptions }) {
  const isOfTable = workloadOptions['table'] !== undefined;
  const isOfRedis = server === 'redis' || server === CLUSTER;
  if (isOfTable ? server === 'mariadb' && protocol === 'mysql' : isOfRedis) return null;
  const hint = 'leave it out';
  const why =
    protocol === 'handlersocket' ? NO_HANDLERSOCKET : server === 'tarantool' && NO_TARANTOOL;
  if (why) return { reason: `--read-only: ${why}`, hint };
  const reads = isOfTable ? '--table needs an SQL driver' : READS;
  return { reason: `${reads}; ${name} has ${server ?? 'no server'}`, hint };
}

/**
 * Draws the keys, assigns them to the storages' servers, and sizes the plan's dataset accordingly.
 * @param {RunPlan} plan
 * @param {readonly StorageTarget[]} storages
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ ownData?: OwnDataSummary }>} empty for other runs, or if no server is
 *   readable
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE, E_TARGET, E_ABORTED
 */
export async function sampleOwnData(plan, storages, signal) {
  if (!isReadOnly(plan)) return {};
  const { sample: limit, keysFrom, table } = /** @type {OwnOptions} */ (plan.workloadOptions);
  const listed = keysFrom === undefined ? undefined : await readKeys(keysFrom);
  const able = storages.filter(({ server, unavailable }) => server && unavailable === null);
  const [first] = able;
  if (first?.server == null) return {};
  if (new Set(able.map(({ server }) => server?.name)).size > 1) {
    throw usageError('--read-only reads one server', 'name storages of one server only');
  }
  const { address, credentialVariables, name } = first.server;
  const credentials = await readCredentials(credentialVariables);
  const how = { limit, seed: plan.seed, ...(listed && { listed }) };
  const { names, sample } = await openSource(table, name === CLUSTER);
  const { keys, seen, leftOut, valueBytes } = await sample({ address, credentials, signal }, how);
  if (keys.length === 0) {
    const from = keysFrom ?? table ?? `${name} (${formatCount(seen)} keys seen)`;
    throw targetError(
      `--read-only: no key with a text value in ${from}`,
      table === undefined ? 'name keys with --keys-from FILE, one per line' : NO_TEXTS,
    );
  }
  const ownKeys = { keys, names, cluster: name === CLUSTER, ...(table && { table }) };
  for (const { server } of able) if (server !== null) server.own = ownKeys;
  plan.dataset = { ...plan.dataset, rows: keys.length, valueSize: Math.max(8, valueBytes.median) };
  const source = listed !== undefined ? 'file' : table === undefined ? 'scan' : 'table';
  return { ownData: { server: name, source, keys: keys.length, seen, leftOut, valueBytes } };
}

/**
 * @typedef {import('../lib/types.js').ConnectionContext} ConnectionContext
 * @typedef {{ sample: number, keysFrom?: string, table?: string }} OwnOptions
 *
 * @typedef {object} OwnKeys input of a benchmark's process for reading the user's data
 * @property {readonly (string | number)[]} keys
 * @property {Partial<import('../lib/types.js').NamespaceNames>} names names that replace
 *   Dragstrip's
 * @property {boolean} cluster whether the server is a Redis Cluster
 * @property {string} [table] value of the option; absent: the Redis family
 *
 * @typedef {object} Source
 * @property {OwnKeys['names']} names
 * @property {(context: ConnectionContext, how: { limit: number, seed: number,
 *   listed?: readonly string[] }) => Promise<import('../data/own/redis.js').Sample<any>>} sample
 * @property {(context: ConnectionContext, keys: readonly any[],
 *   onValue: (index: number, text: string | undefined) => void) => Promise<void>} read
 */

/**
 * @param {string | undefined} table
 * @param {boolean} cluster
 * @returns {Promise<Source>}
 */
async function openSource(table, cluster) {
  if (table === undefined) {
    const { readValues, sampleKeys } = await import('../data/own/redis.js');
    return {
      names: { redisPrefix: '' },
      sample: (context, how) => sampleKeys(context, { ...how, cluster }),
      read: (context, keys, onValue) => readValues(context, keys, { onValue, cluster }),
    };
  }
  const { namesOfColumns, readTable, sampleTable } = await import('../data/own/sql.js');
  const columns = parseColumns(table);
  return {
    names: namesOfColumns(columns),
    sample: (context, how) => sampleTable(context, columns, how),
    read: (context, keys, onValue) => readTable(context, columns, keys, onValue),
  };
}

/**
 * @param {string} file
 * @returns {Promise<string[]>} its non-empty lines
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
async function readKeys(file) {
  try {
    const { size } = await stat(file);
    if (size > KEYS_FILE_BYTES_MAX) {
      throw usageError(
        `--keys-from ${file}: larger than 64 MiB`,
        'draw a sample of its keys first',
      );
    }
    const text = await readFile(file, 'latin1');
    return text.split(/\r?\n/).filter((line) => line !== '');
  } catch (error) {
    if (error.code === 'E_USAGE') throw error;
    throw usageError(`--keys-from ${file}: ${unreadable(error)}`);
  }
}

/**
 * @param {import('./opening.js').BenchmarkSpec} spec
 * @param {import('../lib/types.js').Origin} origin
 * @returns {{ ownData?: import('../lib/types.js').OwnData }} input of `prepare`
 */
export function ownDataOf({ own }, { address, credentials }) {
  if (own === undefined) return {};
  const { keys, table, cluster } = own;
  return {
    ownData: {
      keys,
      read: async (some, onValue) =>
        (await openSource(table, cluster)).read({ address, credentials }, some, onValue),
    },
  };
}

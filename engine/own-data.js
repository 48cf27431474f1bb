/**
 * Runs on data of the user (--read-only): which keys are read, and how values are read for
 * comparison. Nothing is written to the server, and of its data the result has numbers and sizes
 * alone: no key and no value.
 */

import { readFile, stat } from 'node:fs/promises';
import { readCredentials } from '../lib/credentials.js';
import { targetError, usageError } from '../lib/errors.js';
import { formatCount } from '../lib/format.js';
import { parseColumns } from '../lib/own-columns.js';
import { refuseBeside } from './load-options.js';

/** @typedef {import('./plan.js').RunPlan} RunPlan */
/** @typedef {import('./targets.js').StorageTarget} StorageTarget */
/** @typedef {NonNullable<import('../lib/result.js').Result['ownData']>} OwnDataSummary */

const READS = '--read-only reads servers of the Redis family, with --table those of SQL';
const NO_HANDLERSOCKET =
  'HandlerSocket opens tables by their names and has no SELECT: --table is read by drivers of SQL';
const NO_TARANTOOL =
  'Tarantool is not read: tuples of a space have no field that is known to be a text value';
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
 * @param {Record<string, any>} given options that were given
 * @param {readonly import('../lib/result.js').Load[]} loads
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function refuseBesideReadOnly(given, loads) {
  // Options that say what the dataset is, or need rows of Dragstrip.
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
export function lackOfOwnData({ name, server, protocol }, { workloadOptions }) {
  const isOfTable = workloadOptions['table'] !== undefined;
  const isOfRedis = server === 'redis' || server === CLUSTER;
  if (isOfTable ? server === 'mariadb' && protocol === 'mysql' : isOfRedis) return null;
  const hint = 'leave it out';
  const why =
    protocol === 'handlersocket' ? NO_HANDLERSOCKET : server === 'tarantool' && NO_TARANTOOL;
  if (why) return { reason: `--read-only: ${why}`, hint };
  const reads = isOfTable ? '--table is read by drivers of SQL' : READS;
  return { reason: `${reads}; ${name} has ${server ?? 'no server'}`, hint };
}

/**
 * Draws the keys, gives them to the storages' servers, and makes the plan's dataset as large.
 * @param {RunPlan} plan
 * @param {readonly StorageTarget[]} storages
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ ownData?: OwnDataSummary }>} empty: other runs, or no server can be read
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
      `--read-only: no key with a text as its value in ${from}`,
      'name keys with --keys-from FILE, one per line',
    );
  }
  const own = { keys, names, cluster: name === CLUSTER, ...(table && { table }) };
  for (const { server } of able) if (server !== null) server.own = own;
  plan.dataset = { ...plan.dataset, rows: keys.length, valueSize: Math.max(8, valueBytes.median) };
  const source = listed !== undefined ? 'file' : table === undefined ? 'scan' : 'table';
  return { ownData: { server: name, source, keys: keys.length, seen, leftOut, valueBytes } };
}

/**
 * @typedef {import('../lib/types.js').ConnectionContext} ConnectionContext
 * @typedef {{ sample: number, keysFrom?: string, table?: string }} OwnOptions
 *
 * @typedef {object} OwnKeys what a benchmark's process needs of the user's data
 * @property {readonly (string | number)[]} keys
 * @property {Partial<import('../lib/types.js').NamespaceNames>} names in place of Dragstrip's
 * @property {boolean} cluster of a Redis Cluster
 * @property {string} [table] as the option has it; absent: of the Redis family
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
 * @returns {Promise<string[]>} its lines that are not empty
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
async function readKeys(file) {
  try {
    const { size } = await stat(file);
    if (size > KEYS_FILE_BYTES_MAX) {
      throw usageError(`--keys-from ${file}: larger than 64 MiB`, 'draw keys from it first');
    }
    const text = await readFile(file, 'latin1');
    return text.split(/\r?\n/).filter((line) => line !== '');
  } catch (error) {
    if (error.code === 'E_USAGE') throw error;
    throw usageError(`--keys-from ${file}: cannot be read (${error.code ?? error.message})`);
  }
}

/**
 * @param {import('./opening.js').BenchmarkSpec} spec
 * @param {import('../lib/types.js').Origin} origin
 * @returns {{ ownData?: import('../lib/types.js').OwnData }} for `prepare`
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

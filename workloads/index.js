/** The registry of workloads: one line for each, its definition loaded when it is needed. */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineWorkload } from '../lib/define.js';
import { usageError } from '../lib/errors.js';

/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */
/** @typedef {import('../lib/report-types.js').ReportSpec} ReportSpec */

/**
 * @typedef {object} Entry
 * @property {() => Promise<{ workload: WorkloadDefinition }>} load
 * @property {() => Promise<{ report: ReportSpec }>} report
 * @property {boolean} isCommand `dragstrip NAME`; others are workloads of `dragstrip run`
 */

/** @type {(load: Entry['load'], report: Entry['report']) => Entry} */
const command = (load, report) => ({ load, report, isCommand: true });
/** @type {typeof command} */
const plain = (load, report) => ({ load, report, isCommand: false });

/** @type {Readonly<Record<string, Entry>>} */
const REGISTRY = Object.freeze({
  get: plain(
    () => import('./get/index.js'),
    () => import('./get/report.js'),
  ),
  mix: plain(
    () => import('./mix/index.js'),
    () => import('./mix/report.js'),
  ),
  mget: command(
    () => import('./mget/index.js'),
    () => import('./mget/report.js'),
  ),
  'mget-single': plain(
    () => import('./mget/single.js'),
    () => import('./mget/report.js'),
  ),
  mutex: command(
    () => import('./mutex/index.js'),
    () => import('./mutex/report.js'),
  ),
  commands: command(
    () => import('./commands/index.js'),
    () => import('./commands/report.js'),
  ),
  insert: command(
    () => import('./insert/index.js'),
    () => import('./insert/report.js'),
  ),
  codec: command(
    () => import('./codec/index.js'),
    () => import('./codec/report.js'),
  ),
  ycsb: command(
    () => import('./ycsb/index.js'),
    () => import('./ycsb/report.js'),
  ),
});

/** What a run measures that names none. */
export const DEFAULT_WORKLOAD = 'get';

export const WORKLOAD_NAMES = Object.freeze(Object.keys(REGISTRY));

/** Workloads that are commands of the program. */
export const WORKLOAD_COMMANDS = Object.freeze(
  WORKLOAD_NAMES.filter((name) => REGISTRY[name].isCommand),
);

/**
 * @param {string} nameOrPath a name of WORKLOAD_NAMES, or the path of a file whose default export,
 *   or export `workload`, is what defineWorkload gives
 * @returns {Promise<WorkloadDefinition>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where there is none
 */
export async function loadWorkload(nameOrPath) {
  if (Object.hasOwn(REGISTRY, nameOrPath)) return (await REGISTRY[nameOrPath].load()).workload;
  if (/^\.{0,2}\/|\.[cm]?js$/.test(nameOrPath)) return loadFile(path.resolve(nameOrPath));
  throw usageError(
    `unknown workload "${nameOrPath}"`,
    `the workloads: ${WORKLOAD_NAMES.join(', ')}; or a file, ./mine.js`,
  );
}

/**
 * @param {string} file
 * @returns {Promise<WorkloadDefinition>}
 */
async function loadFile(file) {
  if (!existsSync(file)) throw usageError(`workload ${file}: no such file`);
  /** @type {any} */
  let module;
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error) {
    const line = String(error?.message ?? error).split('\n')[0];
    throw usageError(`workload ${file} does not load: ${line}`);
  }
  const definition = module.workload ?? module.default;
  if (definition === undefined) {
    throw usageError(
      `workload ${file} exports no workload`,
      'export default defineWorkload({ … }); docs/adding-a-workload.md has an example',
    );
  }
  return defineWorkload(definition);
}

/**
 * @returns {Promise<Map<string, ReportSpec>>} of every workload; they load no driver
 */
export async function loadReports() {
  const entries = Object.entries(REGISTRY).map(
    async ([name, { report }]) =>
      /** @type {[string, ReportSpec]} */ ([name, (await report()).report]),
  );
  return new Map(await Promise.all(entries));
}

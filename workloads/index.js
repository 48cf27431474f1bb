/** The registry of workloads: one line for each, its definition loaded when it is needed. */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineWorkload } from '../lib/define.js';
import { usageError } from '../lib/errors.js';

/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */
/** @typedef {import('../lib/report-types.js').ReportSpec} ReportSpec */

/**
 * `summary`: it is a command of the program, and that is its line in the help.
 * @typedef {{ load: () => Promise<{ workload: WorkloadDefinition }>,
 *   report: () => Promise<{ report: ReportSpec }>, summary?: string }} Entry
 */

/** @type {Readonly<Record<string, Entry>>} */
const REGISTRY = Object.freeze({
  get: { load: () => import('./get/index.js'), report: () => import('./get/report.js') },
  mix: { load: () => import('./mix/index.js'), report: () => import('./mix/report.js') },
  mget: {
    summary: 'many keys in one request, of 50,000 made for the run',
    ...{ load: () => import('./mget/index.js'), report: () => import('./mget/report.js') },
  },
  'mget-single': {
    load: () => import('./mget/single.js'),
    report: () => import('./mget/report.js'),
  },
  mutex: {
    summary: 'locks over several processes: cost, waits, fairness, crash recovery',
    ...{ load: () => import('./mutex/index.js'), report: () => import('./mutex/report.js') },
  },
  commands: {
    summary: 'the list of redis-benchmark, direct and through a proxy, over TCP and unix sockets',
    ...{ load: () => import('./commands/index.js'), report: () => import('./commands/report.js') },
  },
  insert: {
    summary: 'rows into an empty table, by several strategies',
    ...{ load: () => import('./insert/index.js'), report: () => import('./insert/report.js') },
  },
  codec: {
    summary: 'decoders and encoders of drivers on recorded replies, without a server',
    ...{ load: () => import('./codec/index.js'), report: () => import('./codec/report.js') },
  },
  ycsb: {
    summary: 'the YCSB core workloads A to F by name',
    ...{ load: () => import('./ycsb/index.js'), report: () => import('./ycsb/report.js') },
  },
});

/** What a run measures that names none. */
export const DEFAULT_WORKLOAD = 'get';

export const WORKLOAD_NAMES = Object.freeze(Object.keys(REGISTRY));

/** Workloads that are commands of the program, with their lines in the help. */
export const WORKLOAD_COMMANDS = Object.freeze(
  Object.entries(REGISTRY).flatMap(([name, { summary }]) =>
    summary === undefined ? [] : [Object.freeze({ name, summary })],
  ),
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

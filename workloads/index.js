/**
 * The registry of workloads. `--help` reads this table alone; a run loads the definition of its
 * workload, a report the tables of all.
 */

import path from 'node:path';
import { usageError } from '../lib/errors.js';
import { loadOwnFile } from '../lib/own-file.js';

/** @typedef {import('../lib/types.js').WorkloadAbout} WorkloadAbout */
/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */
/** @typedef {import('../lib/report-types.js').ReportSpec} ReportSpec */

/** @type {Readonly<Record<string, WorkloadAbout>>} */
export const WORKLOADS = Object.freeze({
  get: {
    summary: 'one row by its key, uniform over all rows or by --keys',
    presets: {
      race: 'point reads on every available storage, one request and 100 in flight',
      async: 'all requests at once, or a window of them (node async_test.js)',
      sync: 'one request in flight (./test.js)',
    },
    load: () => import('./get/index.js'),
    report: () => import('./get/report.js'),
  },
  mix: {
    summary: 'reads and writes of single rows, weighted by --mix',
    load: () => import('./mix/index.js'),
    report: () => import('./get/report.js'),
  },
  crud: {
    summary: 'reads, writes, scans, inserts, deletions and hashes by --mix, on temporary rows',
    load: async () => ({ workload: (await import('./mix/index.js')).crud }),
    report: () => import('./get/report.js'),
  },
  mget: {
    summary: 'multi-key reads over 50,000 keys created for the run',
    isCommand: true,
    load: () => import('./mget/index.js'),
    report: () => import('./mget/report.js'),
  },
  'mget-single': {
    summary: 'the keys of mget as single reads that are sent at once (mget --pipelined)',
    load: () => import('./mget/single.js'),
    report: () => import('./mget/report.js'),
  },
  mutex: {
    summary: 'locks over several processes: cost, waits, fairness, crash recovery',
    isCommand: true,
    load: () => import('./mutex/index.js'),
    report: () => import('./mutex/report.js'),
  },
  commands: {
    summary: 'the command list of redis-benchmark, direct and through a proxy',
    isCommand: true,
    load: () => import('./commands/index.js'),
    report: () => import('./commands/report.js'),
  },
  insert: {
    summary: 'rows into an empty table, by several strategies',
    isCommand: true,
    load: () => import('./insert/index.js'),
    report: () => import('./insert/report.js'),
  },
  codec: {
    summary: 'decoders and encoders of drivers on recorded replies, without a server',
    isCommand: true,
    load: () => import('./codec/index.js'),
    report: () => import('./codec/report.js'),
  },
  ycsb: {
    summary: 'the YCSB core workloads A to F by name',
    isCommand: true,
    presets: Object.fromEntries(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((core) => [`ycsb-${core}`, null]),
    ),
    load: () => import('./ycsb/index.js'),
    report: () => import('./ycsb/report.js'),
  },
  replay: {
    summary: 'replay a recorded trace with its own times: replay trace.json',
    load: () => import('./replay/index.js'),
    report: () => import('./replay/report.js'),
  },
});

/** Default workload of a run. */
export const DEFAULT_WORKLOAD = 'get';

export const WORKLOAD_NAMES = Object.freeze(Object.keys(WORKLOADS));

/**
 * @param {string} nameOrPath a name of WORKLOAD_NAMES, or the path of a file whose default export,
 *   or export `workload`, is a definition of defineWorkload
 * @returns {Promise<WorkloadDefinition>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: unknown workload
 */
export async function loadWorkload(nameOrPath) {
  if (Object.hasOwn(WORKLOADS, nameOrPath)) {
    const { summary, load } = WORKLOADS[nameOrPath];
    const { workload } = await load();
    return Object.freeze({ ...workload, summary });
  }
  if (/^\.{0,2}\/|\.[cm]?js$/.test(nameOrPath)) return loadFile(path.resolve(nameOrPath));
  const abouts = Object.values(WORKLOADS);
  const of = abouts.find(({ presets = {} }) => Object.hasOwn(presets, nameOrPath));
  if (of !== undefined) return presetOf(of, nameOrPath);
  const presetNames = abouts.flatMap(({ presets = {} }) => Object.keys(presets));
  const names = [...WORKLOAD_NAMES, ...presetNames];
  const { nearMiss } = await import('../lib/near-miss.js');
  throw usageError(
    `unknown workload "${nameOrPath}"${nearMiss(nameOrPath, names)}`,
    `available workloads: ${names.join(', ')}; or a file, ./mine.js`,
  );
}

/**
 * @param {WorkloadAbout} about
 * @param {string} preset
 * @returns {Promise<WorkloadDefinition>}
 */
async function presetOf(about, preset) {
  const { workload } = await about.load();
  const { shared, ...own } = workload.presets?.[preset] ?? {};
  return Object.freeze({
    ...workload,
    summary: about.presets?.[preset] ?? about.summary,
    ...own,
    shared: { ...workload.shared, ...shared },
    preset,
  });
}

/**
 * @param {string} file
 * @returns {Promise<WorkloadDefinition>}
 */
async function loadFile(file) {
  const hint = 'export default defineWorkload({ … }); docs/adding.md has an example';
  const definition = await loadOwnFile('workload', file, hint);
  const { defineWorkload } = await import('../lib/define.js');
  const workload = defineWorkload(definition);
  if (workload.summary !== undefined) return workload;
  throw usageError(`workload "${workload.name}": summary must be string, it is undefined`);
}

/**
 * @returns {Promise<Map<string, ReportSpec>>} by workload; they load no driver
 */
export async function loadReports() {
  const entries = Object.entries(WORKLOADS).map(
    async ([name, { report }]) =>
      /** @type {[string, ReportSpec]} */ ([name, (await report()).report]),
  );
  return new Map(await Promise.all(entries));
}

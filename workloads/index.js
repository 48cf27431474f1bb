/**
 * The registry of workloads: one line for each. A list of commands loads what they say about
 * themselves, a run the definition that it needs, a report what each shows.
 */

import path from 'node:path';
import { usageError } from '../lib/errors.js';
import { loadOwnFile } from '../lib/own-file.js';

/** @typedef {import('../lib/types.js').WorkloadAbout} WorkloadAbout */
/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */
/** @typedef {import('../lib/report-types.js').ReportSpec} ReportSpec */

/** @type {Readonly<Record<string, () => Promise<{ about: WorkloadAbout }>>>} */
const REGISTRY = Object.freeze({
  get: () => import('./get/about.js'),
  mix: () => import('./mix/about.js'),
  crud: () => import('./crud/about.js'),
  mget: () => import('./mget/about.js'),
  'mget-single': () => import('./mget-single/about.js'),
  mutex: () => import('./mutex/about.js'),
  commands: () => import('./commands/about.js'),
  insert: () => import('./insert/about.js'),
  codec: () => import('./codec/about.js'),
  ycsb: () => import('./ycsb/about.js'),
  replay: () => import('./replay/about.js'),
});

/** What a run measures that names none. */
export const DEFAULT_WORKLOAD = 'get';

export const WORKLOAD_NAMES = Object.freeze(Object.keys(REGISTRY));

/**
 * @returns {Promise<(WorkloadAbout & { name: string })[]>} of every workload, in their order
 */
export function loadAbouts() {
  const entries = Object.entries(REGISTRY);
  return Promise.all(entries.map(async ([name, load]) => ({ name, ...(await load()).about })));
}

/**
 * @param {string} nameOrPath a name of WORKLOAD_NAMES, or the path of a file whose default export,
 *   or export `workload`, is what defineWorkload gives
 * @returns {Promise<WorkloadDefinition>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where there is none
 */
export async function loadWorkload(nameOrPath) {
  if (Object.hasOwn(REGISTRY, nameOrPath)) {
    const { about } = await REGISTRY[nameOrPath]();
    const { workload } = await about.load();
    return Object.freeze({ ...workload, summary: about.summary });
  }
  if (/^\.{0,2}\/|\.[cm]?js$/.test(nameOrPath)) return loadFile(path.resolve(nameOrPath));
  const abouts = await loadAbouts();
  const of = abouts.find(({ presets = {} }) => Object.hasOwn(presets, nameOrPath));
  if (of !== undefined) return presetOf(of, nameOrPath);
  const names = abouts.flatMap(({ name, presets = {} }) => [name, ...Object.keys(presets)]);
  const { nearMiss } = await import('../lib/near-miss.js');
  throw usageError(
    `unknown workload "${nameOrPath}"${nearMiss(nameOrPath, names)}`,
    `the workloads: ${names.join(', ')}; or a file, ./mine.js`,
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
  const module = await loadOwnFile('workload', file);
  const definition = module.workload ?? module.default;
  if (definition === undefined) {
    throw usageError(
      `workload ${file} exports no workload`,
      'export default defineWorkload({ … }); docs/adding-a-workload.md has an example',
    );
  }
  const { defineWorkload } = await import('../lib/define.js');
  const workload = defineWorkload(definition);
  if (workload.summary !== undefined) return workload;
  throw usageError(`workload "${workload.name}": summary must be string, it is undefined`);
}

/**
 * @returns {Promise<Map<string, ReportSpec>>} of every workload; they load no driver
 */
export async function loadReports() {
  const entries = (await loadAbouts()).map(
    async ({ name, report }) =>
      /** @type {[string, ReportSpec]} */ ([name, (await report()).report]),
  );
  return new Map(await Promise.all(entries));
}

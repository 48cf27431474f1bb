/** The lines above the tables: time, machine, servers and versions of a run. */

import { summarizeConditions } from '../engine/diagnostics.js';
import { formatCount, formatElapsed, formatShare, plainText } from '../lib/format.js';
import { describeSizes } from '../lib/value-sizes.js';
import { agentHead } from './agents.js';
import { specOf } from './specs.js';
import { processorText } from './text.js';

/** @typedef {import('../lib/result.js').Result} Result */

/**
 * @param {Result} result
 * @param {import('./specs.js').ReportSpecs} specs
 * @returns {[string, string][]}
 */
export function headLines(result, specs) {
  const { environment: env, servers, storages } = result;
  /** @type {[string, string][]} */
  const lines = [
    ['run', `${when(result)}, ${plainText(result.id)}`],
    ...dataLines(result, specs),
    ['machine', machineText(env)],
    ['node', `${plainText(env.node)}, V8 ${plainText(env.v8)}`],
  ];
  lines.push(...workloadLines(result.options));
  lines.push(...agentHead(result));
  if (servers.length > 0) lines.push(['servers', servers.map(serverText).join('; ')]);
  const drivers = new Set(
    storages
      .filter((storage) => storage.package !== null && storage.version !== null)
      .map((storage) => plainText(`${storage.package} ${storage.version}`)),
  );
  if (drivers.size > 0) lines.push(['drivers', [...drivers].join(', ')]);
  const meanwhile = conditionsText(result);
  if (meanwhile !== '') lines.push(['conditions', meanwhile]);
  return lines;
}

/**
 * @param {Result} result
 * @param {import('./specs.js').ReportSpecs} specs
 * @returns {[string, string][]} one line, if a workload has rows
 */
function dataLines({ benchmarks, dataset, ownData }, specs) {
  const { rows, valueSize, seed } = dataset;
  if (ownData !== undefined) return [['data', ownDataText(ownData)]];
  const sizes = new Set(benchmarks.map(({ load }) => load.valueSize ?? valueSize));
  const names = new Set(benchmarks.map(({ workload }) => workload));
  const texts = [...names].map((name) => specOf(specs, name).row);
  if (texts.length > 0 && texts.every((text) => text === null)) return [];
  const row = texts.find((text) => typeof text === 'string');
  const several = `${[...sizes].map(formatCount).join(', ')} characters each`;
  const [only = valueSize] = sizes;
  const sizeFields = only === valueSize ? dataset : { valueSize: only };
  const shown = row ?? (sizes.size > 1 ? several : describeSizes(sizeFields));
  return [['data', `${formatCount(rows)} rows of ${shown}, seed ${seed}`]];
}

/**
 * @param {NonNullable<Result['ownData']>} ownData
 * @returns {string}
 */
function ownDataText({ server, source, keys, seen, valueBytes: { min, median, max } }) {
  const from = { scan: 'seen by SCAN', file: 'of a file', table: 'seen in a table' }[source];
  return (
    `own data of ${plainText(server)}, read only: ${formatCount(keys)} keys drawn from ` +
    `${formatCount(seen)} ${from}, values of ${formatCount(min)} to ${formatCount(max)} bytes, ` +
    `median ${formatCount(median)}; neither keys nor values are stored`
  );
}

/**
 * @param {Result['options']} options
 * @returns {[string, string][]} the key distribution, the mix or the fetches, unless default
 */
function workloadLines({ workloadOptions }) {
  if (typeof workloadOptions !== 'object' || workloadOptions === null) return [];
  return Object.entries(workloadOptions).map(([name, value]) => [
    plainText(name),
    plainText(optionText(value)),
  ]);
}

/**
 * @param {unknown} value value of an option: a text, a number, or several by name
 * @returns {string}
 */
function optionText(value) {
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value !== 'object' || value === null) return String(value);
  const parts = Object.entries(value).map(([name, one]) => `${name} ${optionText(one)}`);
  return parts.join(', ');
}

/** @param {Result} result */
function when({ startedAt, finishedAt, state }) {
  const start = plainText(startedAt)
    .replace('T', ' ')
    .replace(/(:\d\d)\.\d+/, '$1');
  const took = Date.parse(finishedAt ?? '') - Date.parse(startedAt);
  const end = Number.isFinite(took) ? ` after ${formatElapsed(took)}` : '';
  if (state === 'running') return `${start}, not finished`;
  return `${start}, ${state}${end}`;
}

/** @param {import('../lib/result.js').Environment} environment */
function machineText({ os, arch, cpu, cores, memoryBytes, governor, virtual }) {
  const parts = [
    processorText({ cpu, cores }),
    `${(memoryBytes / 2 ** 30).toFixed(1)} GiB`,
    `${os} ${arch}`,
  ];
  if (virtual === true) parts.push('virtual');
  if (governor !== null) parts.push(`governor ${governor}`);
  return plainText(parts.join(', '));
}

/**
 * @param {Result} result
 * @returns {string} state of the machine during the run; unknown values are marked
 */
function conditionsText({ benchmarks, environment }) {
  const summary = summarizeConditions(benchmarks);
  if (summary.n === 0) return '';
  const { drift, stealShare, busyShare, throttledCount, loadAverage } = summary;
  const orUnknown = (/** @type {number | null} */ value, /** @type {string} */ text) =>
    value === null ? 'unknown' : text;
  return [
    `processor speed within ${orUnknown(drift, formatShare(drift))}`,
    `all processors ${orUnknown(busyShare, formatShare(busyShare))} busy`,
    `steal ${orUnknown(stealShare, formatShare(stealShare))}`,
    `throttled ${orUnknown(throttledCount, `${formatCount(throttledCount)} times`)}`,
    `load average up to ${orUnknown(loadAverage, (loadAverage ?? 0).toFixed(1))}`,
    `governor ${environment.governor === null ? 'unknown' : plainText(environment.governor)}`,
  ].join(', ');
}

const SOURCES = Object.freeze({
  flag: 'by its flag',
  env: 'by the environment',
  dragstrip: 'started by dragstrip',
  default: 'default address',
});

/** @param {Result['servers'][number]} server */
function serverText({ name, version, address, source }) {
  const places = Object.entries(address).map(([endpoint, place]) =>
    endpoint === 'main' ? place : `${endpoint} ${place}`,
  );
  const version_ = version ?? '(version unknown)';
  return plainText(`${name} ${version_} at ${places.join(', ')} (${SOURCES[source]})`);
}

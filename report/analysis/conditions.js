/**
 * Differences between two results apart from their figures: conditions that make figures
 * incomparable, and circumstances that may explain a difference. Pure.
 */

import { labelOf } from '../../lib/label.js';
import { sizesOf } from '../../lib/value-sizes.js';

/** @typedef {import('./comparison.js').Difference} Difference */
/** @typedef {import('../../lib/result.js').Result} Result */

/** Load averages differ if they are further apart than this fraction of the processors. */
const LOAD_SHARE = 0.5;

/**
 * @param {Result} base
 * @param {Result} other
 * @returns {Difference[]} circumstances that are not settings; gates are not refused for them
 */
export function circumstancesOf(base, other) {
  /** @type {Difference[]} */
  const differences = [];
  if (base.dragstrip !== other.dragstrip) {
    differences.push({ what: 'dragstrip', base: base.dragstrip, other: other.dragstrip });
  }
  const [first, two] = [base.environment, other.environment];
  const [from, to] = [first.loadAverage?.[0], two.loadAverage?.[0]];
  if (from === undefined || to === undefined) return differences;
  if (Math.abs(from - to) <= LOAD_SHARE * Math.min(first.cores, two.cores)) return differences;
  const text = (/** @type {number} */ load) => load.toFixed(1);
  return [...differences, { what: 'load average', base: text(from), other: text(to) }];
}

/**
 * @param {Result} base
 * @param {Result} other
 * @returns {Difference[]} conditions that make the figures incomparable; empty if the results are
 *   comparable
 */
export function differencesOf(base, other) {
  /** @type {Difference[]} */
  const differences = [];
  const compare = (/** @type {string} */ what, /** @type {any} */ a, /** @type {any} */ b) => {
    const [one, two] = [shown(a), shown(b)];
    if (one !== two) differences.push({ what, base: one, other: two });
  };
  const { rows, seed } = base.dataset;
  compare('rows', rows, other.dataset.rows);
  compare('value size', sizesOf(base.dataset), sizesOf(other.dataset));
  compare('seed', seed, other.dataset.seed);
  for (const name of /** @type {const} */ (['node', 'os', 'arch', 'cpu', 'cores', 'governor'])) {
    compare(name, base.environment[name], other.environment[name]);
  }
  const gib = (/** @type {Result} */ { environment }) =>
    `${(environment.memoryBytes / 2 ** 30).toFixed(1)} GiB`;
  compare('memory', gib(base), gib(other));
  compare('young generation', sizeOf(base, 'semiSpaceMib'), sizeOf(other, 'semiSpaceMib'));
  compare('old generation, at first', sizeOf(base, 'oldSpaceMib'), sizeOf(other, 'oldSpaceMib'));
  compare('helper threads of collections', helpersOf(base), helpersOf(other));
  for (const name of ['warmupOperations', 'pin', 'workloadOptions']) {
    compare(name, base.options[name], other.options[name]);
  }
  compareStorages(base, other, compare);
  compareServers(base, other, compare);
  for (const benchmark of base.benchmarks) {
    const partner = other.benchmarks.find(({ id }) => id === benchmark.id);
    if (partner !== undefined) compare(`load of ${benchmark.id}`, benchmark.load, partner.load);
  }
  return differences;
}

/**
 * @param {Result} result
 * @param {'semiSpaceMib' | 'oldSpaceMib'} field
 */
function sizeOf({ environment }, field) {
  const mib = environment[field];
  if (mib === undefined) return 'by V8'; // results of earlier versions
  if (mib === null) return 'by NODE_OPTIONS';
  return `${field === 'semiSpaceMib' ? '2 x ' : ''}${mib} MiB`;
}

/** @param {Result} result */
function helpersOf({ environment: { scavengeHelpers = true } }) {
  if (scavengeHelpers === null) return 'by NODE_OPTIONS';
  return scavengeHelpers ? 'yes' : 'no'; // always, in results of earlier versions
}

/** @typedef {(what: string, a: unknown, b: unknown) => void} CompareField */

/**
 * @param {Result} base
 * @param {Result} other
 * @param {CompareField} compare
 */
function compareStorages(base, other, compare) {
  for (const storage of base.storages) {
    const { name, profile } = storage;
    const partner = other.storages.find((one) => one.name === name && one.profile === profile);
    if (partner === undefined) continue;
    const label = labelOf({ storage: name, profile });
    compare(`driver of ${label}`, ...driversOf(storage, partner));
    compare(`options of ${label}`, storage.options, partner.options);
  }
}

/**
 * By version, and by code if both results have its hash, since a checkout has the version of the
 * last release.
 * @param {Result['storages'][number]} one
 * @param {Result['storages'][number]} other
 * @returns {[string, string]}
 */
function driversOf(one, other) {
  const isKnown = one.driver?.hash && other.driver?.hash;
  return isKnown && one.driver?.hash !== other.driver?.hash
    ? [codeOf(one), codeOf(other)]
    : [driverOf(one), driverOf(other)];
}

/** @param {Result['storages'][number]} storage */
function driverOf({ package: name, version: release }) {
  return name === null ? 'built in' : `${name} ${release ?? '(version unknown)'}`;
}

/** @param {Result['storages'][number]} storage */
function codeOf(storage) {
  const { commit = null, changed = null, hash } = storage.driver ?? {};
  const about = [
    ...(commit === null ? [] : [`commit ${commit.slice(0, 7)}${changed ? ' with changes' : ''}`]),
    `files ${hash?.slice(0, 7)}`,
  ];
  return `${driverOf(storage)}, ${about.join(', ')}`;
}

/**
 * @param {Result} base
 * @param {Result} other
 * @param {CompareField} compare
 */
function compareServers(base, other, compare) {
  for (const server of base.servers) {
    const partner = other.servers.find(({ name }) => name === server.name);
    if (partner === undefined) continue;
    compare(`server ${server.name}`, server.version, partner.version);
    compare(`settings of ${server.name}`, server.settings, partner.settings);
    compare(`transport to ${server.name}`, transportOf(server), transportOf(partner));
  }
}

/** @param {Result['servers'][number]} server */
function transportOf({ address }) {
  const forms = Object.values(address).map((place) => (place.startsWith('unix:') ? 'unix' : 'tcp'));
  return [...new Set(forms)].sort().join(' and ');
}

/**
 * @param {unknown} value
 * @returns {string} text that is independent of the order of fields
 */
function shown(value) {
  if (value === undefined || value === null) return 'unknown';
  if (typeof value !== 'object') return String(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return fields.map(([name, one]) => `${name} ${shown(one)}`).join(', ') || 'none';
}

/**
 * Races the published versions of a driver: a curve over them, and the version that changed a
 * metric.
 *
 * Goals: every ratio is from one run; if there are more versions than one run can hold, the runs
 * share a baseline. Versions that cannot be installed or opened by the adapter are kept, with the
 * reason. Non-goals: printing.
 */

import { targetError, usageError } from '../lib/errors.js';
import { ERROR, estimateOf } from '../stats/gate.js';
import { npm } from './drivers/install.js';
import { logsOf } from './gates.js';
import { runRace } from './runner.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/gate.js').GateMetric} GateMetric */
/** @typedef {import('./plan.js').RunOptions} RunOptions */

/** Versions per run in addition to the baseline; more would leave each too little of the budget. */
const VERSIONS_PER_RUN = 6;
const CONFIDENCE = 0.95;
/** The smallest change of a metric to search for. */
const EFFECT_MIN = 0.01;

/**
 * @typedef {object} ReleaseContext
 * @property {AbortSignal} [signal]
 * @property {(event: import('./runner.js').RunEvent) => void} [onEvent]
 * @property {(result: Result) => unknown} [onResult] called and awaited after each run
 * @property {(text: string) => void} [onStep]
 * @property {(options: RunOptions, context: object) => Promise<Result>} [race] replacement in tests
 */

/**
 * @param {string} text `5`, `5.3`, `5.3.1`
 * @returns {number[]}
 */
function numbersOf(text) {
  return text.split('.').map(Number);
}

/**
 * @param {string} a
 * @param {string} b
 * @returns {number} negative if a is older; missing parts of b match any
 */
export function compareVersions(a, b) {
  const [one, other] = [numbersOf(a), numbersOf(b)];
  for (let i = 0; i < Math.min(one.length, other.length); i += 1) {
    if (one[i] !== other[i]) return one[i] - other[i];
  }
  return 0;
}

/**
 * @param {readonly string[]} all all published versions
 * @param {{ from?: string, to?: string, every?: 'patch' | 'minor' | 'major' }} range from and to
 *   are inclusive and may be partial: `5` matches every 5.x; every: the last of each
 * @returns {string[]} oldest first, without prereleases (`6.0.0-beta.1`)
 */
export function selectVersions(all, { from, to, every = 'patch' }) {
  const chosen = all
    .filter((version) => /^\d+\.\d+\.\d+$/.test(version))
    .filter((version) => from === undefined || compareVersions(version, from) >= 0)
    .filter((version) => to === undefined || compareVersions(version, to) <= 0)
    .sort(compareVersions);
  const parts = { patch: 3, minor: 2, major: 1 }[every];
  const key = (/** @type {string} */ version) => version.split('.').slice(0, parts).join('.');
  return chosen.filter(
    (version, i) => i === chosen.length - 1 || key(version) !== key(chosen[i + 1]),
  );
}

/**
 * @param {string} name name of the package
 * @returns {Promise<string[]>} every version in npm's registry
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET
 */
export async function publishedVersions(name) {
  if (!/^(@[\w.~-]+\/)?[\w.~-]+$/.test(name) || name.startsWith('-')) {
    throw usageError(`${JSON.stringify(name)}: not a package name`, 'such as ioredis');
  }
  const { failed, stdout } = await npm(['view', name, 'versions', '--json'], {
    cwd: process.cwd(),
  });
  try {
    const found = JSON.parse(String(stdout));
    if (!failed) return [found].flat().map(String);
  } catch {
    // The message below.
  }
  throw targetError(`${name}: npm found no versions of it`, `npm view ${name} versions`);
}

/**
 * @typedef {object} Release
 * @property {string} version
 * @property {string | null} reason reason why there is no figure
 * @property {{ ratio: number, low: number, high: number, n: number } | null} vs ratio to the first
 *   version
 */

/**
 * @param {string} name
 * @param {readonly string[]} versions oldest first, two or more
 * @param {RunOptions} options options of the runs: storages, loads, budget, addresses
 * @param {GateMetric} metric
 * @param {ReleaseContext} context
 * @returns {Promise<Release[]>} ratios to the first version that can run
 */
export async function raceReleases(name, versions, options, metric, context) {
  let reference = versions[0];
  /** @type {Release[]} */
  const releases = [];
  for (let at = 0; at < versions.length && !context.signal?.aborted; ) {
    const isFirst = at === 0;
    const some = versions.slice(at, at + VERSIONS_PER_RUN + (isFirst ? 1 : 0));
    const result = await raceOnly(name, isFirst ? some : [reference, ...some], options, context);
    const isMeasured = (/** @type {string} */ version) =>
      benchmarkOf(result, version)?.state === 'measured';
    // An adapter may not support the interface of the oldest versions.
    if (isFirst) reference = some.find(isMeasured) ?? reference;
    releases.push(...some.map((version) => releaseOf(result, version, reference, metric)));
    at += some.length;
  }
  return releases;
}

/**
 * @param {string} name
 * @param {readonly string[]} versions the versions that take part
 * @param {RunOptions} options
 * @param {ReleaseContext} context
 * @returns {Promise<Result>}
 */
async function raceOnly(name, versions, options, context) {
  const { onResult, onStep: _, race = runRace, ...events } = context;
  const against = versions.map((version) => `${name}@${version}`);
  const own = /** @type {RunOptions} */ ({ ...options, against, onlyAgainst: true });
  const result = await race(own, events);
  await onResult?.(result);
  return result;
}

/**
 * @param {Result} result
 * @param {string} version
 * @param {string} reference
 * @param {GateMetric} metric
 * @param {number} confidence
 * @returns {import('../stats/gate.js').Estimate | null} null: one was not measured, or not
 *   in two rounds
 */
function compare(result, version, reference, metric, confidence = CONFIDENCE) {
  const [own, base] = [benchmarkOf(result, version), benchmarkOf(result, reference)];
  if (own?.state !== 'measured' || base?.state !== 'measured') return null;
  return estimateOf(logsOf(result, metric, own, base, 'typical'), { confidence, isRatio: true });
}

/**
 * @param {Result} result
 * @param {string} version
 */
function benchmarkOf({ benchmarks }, version) {
  return benchmarks.find(({ storage }) => storage.endsWith(`@${version}`));
}

/**
 * @param {Result} result
 * @param {string} version
 * @param {string} reference
 * @param {GateMetric} metric
 * @returns {Release}
 */
function releaseOf(result, version, reference, metric) {
  const [benchmark, base] = [benchmarkOf(result, version), benchmarkOf(result, reference)];
  if (benchmark === undefined || benchmark.state !== 'measured') {
    return { version, vs: null, reason: benchmark?.reason ?? 'it was not measured' };
  }
  if (base === undefined || base.state !== 'measured') {
    return { version, vs: null, reason: `the baseline ${reference} was not measured` };
  }
  if (version === reference) {
    return { version, reason: null, vs: { ratio: 1, low: 1, high: 1, n: benchmark.rounds.length } };
  }
  const estimate = compare(result, version, reference, metric);
  return estimate === null
    ? { version, vs: null, reason: 'fewer than two rounds' }
    : { version, reason: null, vs: toRatio(estimate) };
}

/** @param {import('../stats/gate.js').Estimate} estimate */
function toRatio({ value, half, n }) {
  return { ratio: Math.exp(value), low: Math.exp(value - half), high: Math.exp(value + half), n };
}

/**
 * @typedef {object} Bisection
 * @property {'found' | 'no difference' | 'undecided'} outcome
 * @property {string} last last version before the change
 * @property {string} first first version with it; not found: the newest of the remaining ones
 * @property {ReturnType<typeof toRatio> | null} change change of `first` relative to `last`
 * @property {number} steps number of runs
 * @property {string[]} skipped versions that could not run
 */

/**
 * Finds the release that changed a metric: each run has both ends of a range and a version between;
 * the change is in the half whose end differs more from that version.
 * @param {string} name
 * @param {readonly string[]} versions oldest first: the first is good, the last is not
 * @param {RunOptions} options
 * @param {GateMetric} metric
 * @param {ReleaseContext} context
 * @returns {Promise<Bisection>}
 */
export async function bisectReleases(name, versions, options, metric, context) {
  const { signal, onStep } = context;
  // The confidence covers all steps together, since one wrong turn would report a wrong release.
  const tests = Math.ceil(Math.log2(versions.length)) + 1;
  const confidence = 1 - ERROR / tests;
  let left = [...versions];
  /** @type {string[]} */
  const skipped = [];
  let steps = 0;
  const measure = (/** @type {string[]} */ some) => {
    steps += 1;
    return raceOnly(name, some, options, context);
  };
  const estimate = (
    /** @type {Result} */ result,
    /** @type {string} */ version,
    /** @type {string} */ reference,
  ) => compare(result, version, reference, metric, confidence);
  const [good, bad] = [versions[0], versions[versions.length - 1]];
  let change = estimate(await measure([good, bad]), bad, good);
  const isShown = (/** @type {typeof change} */ one) =>
    one !== null && Math.abs(one.value) > Math.max(one.half, Math.log1p(EFFECT_MIN));
  const end = (/** @type {Bisection['outcome']} */ outcome) => ({
    outcome,
    last: left[0],
    first: left[left.length - 1],
    steps,
    skipped,
    change: change === null ? null : toRatio(change),
  });
  if (!isShown(change)) return end('no difference');
  while (left.length > 2 && !signal?.aborted) {
    const [from, to] = [left[0], left[left.length - 1]];
    const middle = left[left.length >> 1];
    onStep?.(`between ${from} and ${to}: ${middle}`);
    const result = await measure([from, middle, to]);
    const [all, half] = [estimate(result, to, from), estimate(result, middle, from)];
    if (half === null || all === null) {
      if (benchmarkOf(result, middle)?.state === 'measured') return end('undecided');
      skipped.push(middle);
      left = left.filter((version) => version !== middle);
      continue;
    }
    change = all;
    const over = half.value - all.value / 2;
    if (Math.abs(over) <= half.half) return end('undecided');
    const isChanged = over > 0 === all.value > 0;
    left = isChanged ? left.slice(0, left.indexOf(middle) + 1) : left.slice(left.indexOf(middle));
  }
  const [last, first] = left;
  if (steps > 1) change = estimate(await measure([last, first]), first, last) ?? change;
  return end(isShown(change) ? 'found' : 'undecided');
}

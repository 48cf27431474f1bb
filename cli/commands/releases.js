/**
 * `dragstrip releases ioredis --from 5.0`: measures published versions of a driver as one curve.
 * `dragstrip bisect ioredis 5.3.0 6.0.0`: finds the release that changed a metric.
 */

import { storagesOfDrivers } from '../../engine/driver-versions.js';
import {
  bisectReleases,
  compareVersions,
  publishedVersions,
  raceReleases,
  selectVersions,
} from '../../engine/releases.js';
import { EXIT_STATUS, targetError, usageError } from '../../lib/errors.js';
import { formatRatio, formatShare, plainText } from '../../lib/format.js';
import { datasetIn } from '../options.js';
import { showRun } from '../run-progress.js';
import { inSession } from '../session.js';
import { openStore } from '../storage.js';

/** @typedef {import('../main.js').CommandContext} CommandContext */
/** @typedef {import('../../engine/releases.js').Release} Release */
/** @typedef {import('../../engine/releases.js').Bisection} Bisection */

const BUDGET_MS = 60_000;
const IN_FLIGHT = 100;
const BAR_CHARS = 30;

/**
 * @param {CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute(context) {
  const { command, args, options, stdout } = context;
  const [name, from, to] = args;
  const isBisect = command === 'bisect';
  const range = isBisect
    ? { from, to }
    : { from: options.from, to: options.to, every: options.every ?? 'minor' };
  const storages = await storagesOf(name, command, options);
  const versions = await versionsOf(name, { ...range, isBisect });
  const { metric = isBisect ? 'client-cpu' : 'throughput' } = options;
  return inSession(context, async ({ signal, progress, setUp }) => {
    const runOptions = runOptionsOf(storages, options);
    await setUp({ .../** @type {any} */ (runOptions), named: [] });
    let step = '';
    const how = {
      signal,
      onStep: (/** @type {string} */ text) => {
        step = `${text}, `;
      },
      onEvent: showRun({ ...context, progress }, { stepOf: () => step }),
      onResult: storing(options),
    };
    if (!isBisect) {
      const releases = await raceReleases(name, versions, runOptions, metric, how);
      progress.done();
      stdout.write(curveOf(name, metric, releases));
      return releases.some(({ vs }) => vs !== null) ? 0 : EXIT_STATUS['E_TARGET'];
    }
    const outcome = await bisectReleases(name, versions, runOptions, metric, how);
    progress.done();
    stdout.write(`${bisectionText(name, metric, versions, outcome)}\n`);
    return 0;
  });
}

/**
 * @param {string} name name of the package
 * @param {string} command
 * @param {Record<string, any>} options
 * @returns {Promise<string[]>} storages that use it
 */
function storagesOf(name, command, options) {
  const named = { name, text: name, kind: /** @type {const} */ ('registry'), option: command };
  return storagesOfDrivers([named], { needs: ['get'] }, options['storages'] ?? null);
}

/**
 * @param {string} name
 * @param {{ from?: string, to?: string, every?: any, isBisect: boolean }} range
 */
async function versionsOf(name, range) {
  for (const version of [range.from, range.to]) {
    if (version === undefined || /^\d+(\.\d+){0,2}$/.test(version)) continue;
    throw usageError(`${JSON.stringify(version)}: not a version`, 'such as 5, 5.3 or 5.3.1');
  }
  const { from, to } = range;
  if (from !== undefined && to !== undefined && compareVersions(from, to) > 0) {
    throw usageError(`from ${from} to ${to}: the older version comes first`, 'exchange them');
  }
  const published = await publishedVersions(name);
  // Both ends are measured, so both must exist.
  if (range.isBisect) for (const version of [from, to]) requirePublished(name, version, published);
  const versions = selectVersions(published, range);
  if (versions.length >= 2) return versions;
  throw targetError(
    `${name}: ${versions.length} published versions from ${from ?? 'the first'} to ${to ?? 'the last'}`,
    `npm view ${name} versions`,
  );
}

/**
 * @param {string} name
 * @param {string | undefined} version
 * @param {readonly string[]} published
 */
function requirePublished(name, version = '', published) {
  if (selectVersions(published, { from: version, to: version }).length > 0) return;
  const older = selectVersions(published, { to: version }).slice(-1);
  const newer = selectVersions(published, { from: version }).slice(0, 1);
  throw targetError(
    `${name} ${version} was not published`,
    `nearest versions: ${[...older, ...newer].join(', ')}; npm view ${name} versions lists all`,
  );
}

/**
 * @param {string[]} storages
 * @param {Record<string, any>} options
 * @returns {import('../../index.js').RunOptions}
 */
function runOptionsOf(storages, options) {
  const { budget = BUDGET_MS, inFlight = IN_FLIGHT } = options;
  const load = inFlight === 1 ? { kind: 'sync' } : { kind: 'window', inFlight };
  return /** @type {any} */ ({
    command: 'releases',
    loads: [load],
    budget,
    precision: 0.01,
    storages,
    ...datasetIn(options),
  });
}

/** @param {Record<string, any>} options */
function storing({ out }) {
  if (out === undefined) return undefined;
  return async (/** @type {any} */ result) => (await openStore({ out }))?.write(result);
}

/**
 * @param {string} name
 * @param {string} metric
 * @param {readonly Release[]} releases
 * @returns {string} one line per version: the ratio to the first, and a bar
 */
function curveOf(name, metric, releases) {
  const known = releases.flatMap(({ vs }) => (vs === null ? [] : [vs]));
  const most = Math.max(1, ...known.map(({ high }) => high));
  const width = Math.max(...releases.map(({ version }) => version.length));
  const lines = releases.map(({ version, reason, vs }) => {
    const head = version.padEnd(width);
    if (vs === null) return `${head}  not run: ${plainText(reason ?? '')}`;
    const bar = '█'.repeat(Math.max(1, Math.round((BAR_CHARS * vs.ratio) / most)));
    const half = formatShare(Math.sqrt(vs.high / vs.low) - 1);
    const interval = vs.low === vs.high ? '        ' : `± ${half}`;
    return `${head}  ${formatRatio(vs.ratio).padStart(7)} ${interval.padEnd(8)}  ${bar}`;
  });
  const first = releases.find(({ vs }) => vs !== null);
  const title = `${name}: ${metric}, ratio to ${first?.version ?? 'nothing'}`;
  return `\n${title}\n${'─'.repeat(title.length)}\n${lines.join('\n')}\n`;
}

/**
 * @param {string} name
 * @param {string} metric
 * @param {readonly string[]} versions
 * @param {Bisection} found
 */
function bisectionText(name, metric, versions, { outcome, last, first, change, steps, skipped }) {
  const [from, to] = [versions[0], versions[versions.length - 1]];
  const interval =
    change === null
      ? ''
      : `${formatRatio(change.ratio)} (${formatRatio(change.low)} to ` +
        `${formatRatio(change.high)}, n ${change.n})`;
  const cost = `${steps} runs, ${versions.length} versions`;
  const left = skipped.length === 0 ? '' : `; failed to run: ${skipped.join(', ')}`;
  const end = ` (${cost}${left})`;
  if (outcome === 'no difference') {
    const seen = interval === '' ? 'not comparable' : `${metric} ${interval}`;
    return `${name}: no significant difference between ${from} and ${to}: ${seen}${end}`;
  }
  if (outcome === 'undecided') {
    return (
      `${name}: the change of ${metric} is between ${last} and ${first}, ${interval}; ` +
      `not narrowed down further; use a longer --budget${end}`
    );
  }
  return `${name}: ${first} changed ${metric}: ${interval} of ${last}${end}`;
}

/**
 * Summary of a run in sentences: the fastest, contenders tied with it, distances of the others, and
 * the resolution of the run. Pure.
 */

import {
  formatRatio,
  formatShare,
  formatSignificant,
  formatThroughput,
  formatWidth,
  plainText,
} from '../lib/format.js';
import { flightName } from '../lib/load-name.js';
import { countPerOperation } from '../stats/metrics.js';
import { isDecided } from '../stats/separation.js';
import { partsText, ratioText } from './answers.js';

/** @typedef {import('./analysis/rows.js').Group} Group */
/** @typedef {import('./analysis/standings.js').Comparison} Comparison */
/** @typedef {import('../stats/standings.js').Row} Row */
/** @typedef {import('../stats/separation.js').Ratio} Ratio */

/** A resolution coarser than a factor of two permits no ranks. */
const RESOLVES_MAX = 1;
const HELD = 'counts and CPU per operation still hold; repeat it while the machine is calm';
/** With fewer in flight there is little to batch. */
const BATCH_MIN = 10;
/** Maximum number of slower contenders named; tables have all. */
const NAMED_MAX = 4;

/**
 * @param {Comparison} comparison
 * @returns {string[]} the sentences of its load as one; empty without a contender
 */
export function verdictOf(comparison) {
  const { load, standings } = comparison;
  const { rows, resolves, isBusy } = standings;
  const kind = rows.some(({ group }) => group === 'networked') ? 'networked' : 'embedded';
  const [fastest, ...others] = rows.filter(({ group }) => group === kind);
  if (fastest === undefined) return [];
  const what = kind === 'networked' ? 'networked driver' : 'embedded store';
  const where = flightName(load);
  if (others.length === 0) return [`One ${what}, ${where}: ${plainText(fastest.name)}.`];
  if (isBusy) return [busyText(`rank the ${what}s`, comparison)];
  if (fastest.rank === null) {
    const highest = `${plainText(fastest.name)}, ${formatThroughput(1e9 / fastest.nsPerOperation)} ops/s`;
    const next = namedText(others[0].name, others[0].vsFastest);
    const figures = `Highest figure, ${what}, ${where}: ${highest}; next ${next}`;
    return [`${figures}. Not resolved: one round has no interval.`];
  }
  if (resolves !== null && resolves > RESOLVES_MAX) {
    const width = `it resolves differences of ${formatShare(resolves)}`;
    return [`This run cannot rank the ${what}s, ${where}: ${width}; ${HELD}.`];
  }
  const close = others.filter(({ name }) => fastest.tiedWith.includes(name));
  const slower = others.filter((one) => one.vsFastest?.answer === 'slower');
  const parts = [
    `Fastest ${what}, ${where}: ${plainText(fastest.name)}${tieText(close)}.`,
    ...cpuSentence(fastest, close, ceilingsOf(comparison)),
    ...slowerSentence(slower),
    ...(resolves === null ? [] : [`Resolves differences of ${formatShare(resolves)}.`]),
  ];
  return [parts.join(' ')];
}

/**
 * @param {string} what the claim that the run cannot make
 * @param {Comparison} comparison measured while the machine was too busy
 * @returns {string} with its load and its processors
 */
export function busyText(what, { load, machine, standings: { waiting, slow } }) {
  const digits = (machine.load ?? 0) < 10 ? 1 : 0;
  const average = machine.load === null ? '' : `load ${machine.load.toFixed(digits)} `;
  const share =
    slow === null
      ? `clients waited for a processor ${formatShare(waiting ?? 0)} of the time`
      : `${formatShare(slow)} of the segments took over twice as long as usual`;
  const cores = `${average}on ${machine.cores} core${machine.cores === 1 ? '' : 's'}`;
  return `This run cannot ${what}, ${flightName(load)}: ${cores}, ${share}; ${HELD}.`;
}

/**
 * @param {readonly Row[]} close contenders not separated from the fastest
 * @returns {string} `; tied: a (within 4.1 %); not resolved: b, c (below 14 %)`
 */
function tieText(close) {
  const answers = /** @type {const} */ (['tied', 'not resolved', 'split']);
  return answers
    .map((answer) => {
      const rows = close.filter(({ vsFastest }) => vsFastest?.answer === answer);
      if (rows.length === 0) return '';
      if (answer === 'split') {
        const named = rows.map(
          ({ name, vsFastest }) => `${plainText(name)} (${partsText(vsFastest)})`,
        );
        return `; split: ${named.join(', ')}`;
      }
      const most = Math.max(...rows.map(({ vsFastest }) => vsFastest?.possible ?? 0));
      const names = rows.map(({ name }) => plainText(name)).join(', ');
      return `; ${answer}: ${names} (${answer === 'tied' ? 'within' : 'below'} ${formatShare(most)})`;
    })
    .join('');
}

/**
 * @param {readonly Row[]} slower
 * @returns {string[]}
 */
function slowerSentence(slower) {
  if (slower.length === 0) return [];
  const named = slower.slice(0, NAMED_MAX);
  const left = slower.length - named.length;
  const widths = new Set(
    named.flatMap(({ vsFastest }) =>
      vsFastest?.halfWidth ? formatWidth(vsFastest.halfWidth, vsFastest.ratio, formatRatio) : [],
    ),
  );
  const [width] = widths;
  // A pooled interval is equal for all, so it is printed once.
  const isCommon = widths.size === 1 && named.length > 1;
  const names = named.map((row) =>
    isCommon
      ? `${plainText(row.name)} ${formatRatio(row.vsFastest?.ratio ?? null)}`
      : namedText(row.name, row.vsFastest),
  );
  const more = left > 0 ? ` and ${left} more` : '';
  return [`Slower${isCommon ? ` (each${width})` : ''}: ${names.join(', ')}${more}.`];
}

/**
 * @param {string} name
 * @param {Ratio | null} ratio
 */
function namedText(name, ratio) {
  return ratio === null ? plainText(name) : `${plainText(name)} ${ratioText(ratio)}`;
}

/** @param {Comparison} comparison names of the server ceilings, by contender */
const ceilingsOf = ({ entries }) => new Map(entries.map(({ name, ceiling }) => [name, ceiling]));

/**
 * Note if CPU time per operation decides a tie in throughput: of the client, or of the server (only
 * among drivers of one server and protocol).
 * @param {Row} fastest
 * @param {readonly Row[]} tied
 * @param {ReturnType<typeof ceilingsOf>} ceilings
 * @returns {string[]}
 */
function cpuSentence(fastest, tied, ceilings) {
  const sides = /** @type {const} */ ([
    ['clientCpu', 'client'],
    ['serverCpu', 'server'],
  ]);
  const parts = sides.flatMap(([witness, side]) => {
    const decided = tied.flatMap(({ name, witnesses }) => {
      const ratio = witnesses[witness]?.ratio ?? null;
      if (ratio === null || !isDecided(ratio.answer)) return [];
      if (side === 'server' && ceilings.get(name) !== ceilings.get(fastest.name)) return [];
      // Ratios are of speeds, so more CPU time means a smaller ratio.
      return [namedText(name, { ...ratio, ratio: 1 / ratio.ratio })];
    });
    return decided.length === 0 ? [] : [`${side} ${decided.join(', ')}`];
  });
  if (parts.length === 0) return [];
  return [`CPU per operation separates them: ${parts.join('; ')} of ${plainText(fastest.name)}.`];
}

/**
 * @param {readonly Group[]} groups
 * @returns {string[]} remarks on surprising rows
 */
export function comparisonNotes(groups) {
  return groups.flatMap(({ comparison, rows }) => {
    if (!comparison) return [];
    const { standings, load } = comparison;
    return [
      ...batchTexts(rows, load),
      ...standings.rows.flatMap(({ name, ofCeiling, drift, isUneven, vsFastest }) => [
        ...(isUneven && vsFastest?.answer !== 'split'
          ? [`${plainText(name)}, ${flightName(load)}, is ${partsText(vsFastest)} of the fastest`]
          : []),
        ...(ofCeiling !== null && ofCeiling.ratio > 1 ? [aboveText(name, ofCeiling, load)] : []),
        ...(drift?.marked ? [driftText(name, drift, load)] : []),
      ]),
    ];
  });
}

/**
 * Counted system calls as the reason of a speed difference with many in flight.
 * @param {Group['rows']} rows
 * @param {Comparison['load']} load
 * @returns {string[]} one note, if some contenders write each request separately and others do not
 */
function batchTexts(rows, load) {
  if ((load.inFlight ?? 1) < BATCH_MIN) return [];
  const named = (/** @type {(writes: number) => boolean} */ is) =>
    rows.flatMap(({ label, source }) => {
      const writes = countPerOperation(source, 'writes');
      return writes === null || !is(writes)
        ? []
        : [`${plainText(label)} ${formatSignificant(writes)}`];
    });
  const [single, batched] = [named((writes) => writes > 0.9), named((writes) => writes < 0.5)];
  if (single.length === 0 || batched.length === 0) return [];
  const against = batched.join(', ');
  return [
    `Not batched, ${flightName(load)}: ${single.join(', ')} writes per operation, against ${against}`,
  ];
}

/**
 * @param {string} name
 * @param {Ratio} ratio
 * @param {Comparison['load']} load
 */
function aboveText(name, ratio, load) {
  const what =
    ratio.answer === 'faster'
      ? 'more than its server ceiling, which is measured on a single connection'
      : 'its server ceiling within the intervals';
  return `${plainText(name)}, ${flightName(load)}, reaches ${what}: ${ratioText(ratio)}`;
}

/**
 * @param {string} name
 * @param {import('../stats/drift.js').Drift} drift
 * @param {Comparison['load']} load
 */
function driftText(name, { ratio, low, high }, load) {
  const change = ratio < 1 ? 'less' : 'more';
  const half = Math.sqrt(high / low) - 1;
  return (
    `${plainText(name)}, ${flightName(load)}, drifted: the last third of its segments took ` +
    `${formatShare(Math.abs(ratio - 1))} ± ${formatShare(half)} ${change} time than the first`
  );
}

/**
 * From the segments of a run to the rows of its table: pure. One load at a time. A load that ran
 * whole has one segment per round.
 *
 * Networked storages are one contest, embedded stores another: their variances differ, and nobody
 * chooses between a server and a file by this number. Ceilings and the second copy of the first
 * storage (A/A) stand in no contest; their ratios have intervals of the pair's own rounds. A
 * contender without a figure in some round is shown and not ranked: means of other rounds than
 * those of the rest cannot be compared.
 */

import { processMeans, TRIM, trimmedMean, withoutBlockState } from './blocks.js';
import { contest, differenceOf } from './contenders.js';
import { driftOf } from './drift.js';
import { upperMedian } from './percentile.js';
import { rankContenders, toRatio } from './separation.js';

/**
 * Fewer segments per process hardly average out a pause, so that one process may be far from the
 * others: a pair is then judged by its own rounds.
 */
const POOLED_SEGMENTS = 10;

/** @typedef {import('./separation.js').Ratio} Ratio */

/**
 * @typedef {object} Entry
 * @property {string} name
 * @property {'networked' | 'embedded' | 'again' | 'ceiling' | 'overhead' | 'program'} group
 *   program: no row, only of use to tell the state of blocks apart
 * @property {string} [of] of `again`: the name of the one it repeats
 * @property {string} [ceiling] name of the ceiling of its protocol
 * @property {(number | null)[][]} time log of ns per operation, by round and segment; null: no
 *   figure; an empty round is a missing one
 * @property {Record<string, (number | null)[][]>} [witnesses] logs likewise: CPU, latency
 */

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {Entry['group']} group
 * @property {number} nsPerOperation geometric mean over rounds
 * @property {number | null} halfWidth of it by itself, as a share; null: one round
 * @property {number} n rounds with a figure
 * @property {number | null} rank within its group; null: it is not ranked
 * @property {number | null} rankWorst
 * @property {string[]} tiedWith those that it is not separated from
 * @property {Ratio | null} vsFastest speed against the fastest of its group, with the interval of
 *   all
 *   pairs at once, by which the rank is decided
 * @property {Ratio | null} ofCeiling speed against its server ceiling
 * @property {Record<string, Witness>} witnesses
 * @property {import('./drift.js').Drift | null} drift
 */

/** @typedef {{ value: number, halfWidth: number | null, ratio: Ratio | null }} Witness value:
 *   geometric mean; ratio: of the fastest's amount to this one's, as with speeds */

/**
 * @typedef {object} Standings
 * @property {Row[]} rows networked, then embedded, then the others; fastest first
 * @property {Ratio | null} again the A/A ratio
 * @property {number | null} resolves median half-width of vsFastest over networked rows; without
 *   one, over embedded ones
 * @property {number[]} halfWidths of vsFastest of all of these but the fastest; infinite: one round
 */

/** @typedef {{ trim?: number, confidence?: number }} Options */

/**
 * @param {readonly Entry[]} entries
 * @param {Options} [options]
 * @returns {Standings}
 */
export function standingsOf(entries, { trim = TRIM, confidence = 0.95 } = {}) {
  const context = contextOf(entries, { trim, confidence });
  const { sound, means } = context;
  const groups = /** @type {const} */ (['networked', 'embedded']);
  const contests = groups.map((group) => contestOf(context, group));
  const missing = entries.flatMap((entry) => (sound.includes(entry) ? [] : rowOfMissing(entry)));
  const rows = groups.flatMap((group, i) => [
    ...contests[i],
    ...missing.filter((row) => row.group === group),
  ]);
  const residuals = withoutBlockState(sound.map(({ time }) => time));
  for (const [i, { group }] of sound.entries()) {
    if (['again', 'ceiling', 'overhead'].includes(group)) rows.push(bareRow(context, i));
  }
  for (const row of rows) {
    const i = sound.findIndex(({ name }) => name === row.name);
    // All rows are looked at: at 95 % each, one row of twenty would be marked by chance.
    const level = 1 - (1 - confidence) / sound.length;
    if (i >= 0) row.drift = driftOf(residuals[i], { trim, confidence: level });
  }
  const i = sound.findIndex(({ group }) => group === 'again');
  const j = sound.findIndex(({ name }) => name === sound[i]?.of);
  // Without a server, what is compared are the contenders in the process.
  const first = contests.find((one) => one.length > 0) ?? [];
  const halfWidths = first.slice(1).map(({ vsFastest }) => vsFastest?.halfWidth ?? Infinity);
  return {
    rows,
    again: i < 0 || j < 0 ? null : pairRatio(means[i], means[j], confidence),
    resolves: upperMedian(halfWidths.filter(Number.isFinite)),
    halfWidths,
  };
}

/**
 * @param {readonly Entry[]} entries
 * @returns {Entry[]} those with a figure in every round of the run
 */
export function soundOf(entries) {
  const rounds = Math.max(0, ...entries.map(({ time }) => time.length));
  return entries.filter(
    ({ time }) =>
      rounds > 0 &&
      time.length === rounds &&
      time.every((row) => row.some((value) => value !== null)),
  );
}

/**
 * @typedef {object} Context
 * @property {Entry[]} sound
 * @property {number[][]} means of processes, by entry and round
 * @property {Record<string, number[][]>} witnesses the same, by witness
 * @property {boolean} pooled
 * @property {number} confidence
 */

/**
 * @param {readonly Entry[]} entries
 * @param {Required<Options>} options
 * @returns {Context}
 */
function contextOf(entries, { trim, confidence }) {
  const sound = soundOf(entries);
  const times = sound.map(({ time }) => time);
  const names = new Set(sound.flatMap(({ witnesses = {} }) => Object.keys(witnesses)));
  const witnesses = [...names].map((name) => {
    const logs = sound.map(({ witnesses: own, time }) => own?.[name] ?? time.map(() => []));
    return [name, processMeans(logs, { trim })];
  });
  return {
    sound,
    means: processMeans(times, { trim }),
    witnesses: Object.fromEntries(witnesses),
    pooled: times.every((time) => time.every(({ length }) => length >= POOLED_SEGMENTS)),
    confidence,
  };
}

/**
 * Two contenders of a run: their speeds, and what each witness says, by the rounds of the pair.
 * @param {readonly Entry[]} entries of the run: they tell block state apart
 * @param {string} name
 * @param {string} base what it is held against
 * @param {Options} [options] confidence of answers and intervals
 * @returns {{ speed: Ratio, witnesses: Record<string, Ratio> } | null} witnesses as speeds: above 1
 *   takes less; null: one of them has no figure in a round, or there is one round
 */
export function pairOf(entries, name, base, { trim = TRIM, confidence = 0.95 } = {}) {
  const { sound, means, witnesses } = contextOf(entries, { trim, confidence });
  const [i, j] = [name, base].map((one) => sound.findIndex((entry) => entry.name === one));
  if (i < 0 || j < 0 || sound[i].time.length < 2) return null;
  const told = Object.entries(witnesses).filter(
    ([, of]) => of[i].every(Number.isFinite) && of[j].every(Number.isFinite),
  );
  return {
    speed: pairRatio(means[i], means[j], confidence),
    witnesses: Object.fromEntries(
      told.map(([witness, of]) => [witness, pairRatio(of[i], of[j], confidence)]),
    ),
  };
}

/**
 * @param {Context} context
 * @param {'networked' | 'embedded'} group
 * @returns {Row[]} fastest first
 */
function contestOf(context, group) {
  const { sound, means, confidence, pooled } = context;
  const members = [...sound.keys()].filter((i) => sound[i].group === group);
  if (members.length === 0) return [];
  const own = contest(
    members.map((i) => means[i]),
    { confidence, pooled },
  );
  const standings = rankContenders(own);
  const [{ index: fastest }] = standings;
  const isRanked = own.rounds > 1;
  return standings.map(({ index, rank, rankWorst, tiedWith }) => {
    const { value, halfOfAll } = differenceOf(own, index, fastest);
    return {
      ...bareRow(context, members[index], members[fastest]),
      rank: isRanked ? rank : null,
      rankWorst: isRanked ? rankWorst : null,
      tiedWith: tiedWith.map((other) => sound[members[other]].name),
      vsFastest: toRatio(value, index === fastest ? 0 : halfOfAll, own.rounds),
    };
  });
}

/**
 * @param {Context} context
 * @param {number} i
 * @param {number} [fastest] of its group
 * @returns {Row}
 */
function bareRow({ sound, means, witnesses, confidence }, i, fastest) {
  const { name, group, ceiling } = sound[i];
  const limit = sound.findIndex((other) => other.group === 'ceiling' && other.name === ceiling);
  /** @type {Row['witnesses']} */
  const seen = {};
  for (const [witness, of] of Object.entries(witnesses)) {
    if (!of[i].every(Number.isFinite)) continue;
    const { value, halfWidth } = figureOf(of[i], confidence);
    const ratio =
      fastest === undefined || !of[fastest].every(Number.isFinite)
        ? null
        : pairRatio(of[i], of[fastest], confidence);
    seen[witness] = { value, halfWidth, ratio };
  }
  const { value, halfWidth } = figureOf(means[i], confidence);
  return {
    name,
    group,
    n: means[i].length,
    rank: null,
    rankWorst: null,
    tiedWith: [],
    vsFastest: null,
    drift: null,
    nsPerOperation: value,
    halfWidth,
    ofCeiling: limit < 0 ? null : pairRatio(means[i], means[limit], confidence),
    witnesses: seen,
  };
}

/**
 * @param {Entry} entry without a figure in some round
 * @returns {Row[]} by the rounds that have one; none without any
 */
function rowOfMissing({ name, group, time }) {
  const means = time.map((row) => trimmedMean(row)).filter(Number.isFinite);
  if (means.length === 0 || group === 'program') return [];
  const sound = [{ name, group, time: [] }];
  return [bareRow({ sound, means: [means], witnesses: {}, pooled: false, confidence: 0.95 }, 0)];
}

/**
 * @param {readonly number[]} logs of one contender by round
 * @param {number} confidence
 */
function figureOf(logs, confidence) {
  const { estimates, halfAlone } = contest([logs], { confidence });
  const half = Number.isFinite(halfAlone[0]) ? Math.expm1(halfAlone[0]) : null;
  return { value: Math.exp(estimates[0]), halfWidth: half };
}

/**
 * By the pair's own rounds.
 * @param {readonly number[]} own means of processes
 * @param {readonly number[]} base of the other, in the same rounds
 * @param {number} confidence
 * @returns {Ratio} of speeds
 */
export function pairRatio(own, base, confidence) {
  if (own === base) return toRatio(0, 0, own.length);
  const differences = own.map((value, round) => value - base[round]);
  const { estimates, halfAlone } = contest([differences], { confidence });
  return toRatio(estimates[0], halfAlone[0], differences.length);
}

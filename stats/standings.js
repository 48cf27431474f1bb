/**
 * From the segments of a run to the rows of its table: pure. One load at a time. A load that ran
 * whole has one segment per round.
 *
 * Networked storages form one contest, embedded stores another: their variances differ, and the
 * figure does not help to choose between a server and a file. Ceilings and the second copy of the
 * first storage (A/A) are not ranked; their ratios have intervals of the pair's own rounds. A
 * contender without a figure in some round is shown but not ranked, since means over different
 * rounds are not comparable.
 */

import { mean, median } from 'simple-statistics';
import { processMeans, TRIM, trimmedMean, withoutBlockState } from './blocks.js';
import { contest, differenceOf } from './contenders.js';
import { driftOf } from './drift.js';
import { longSlicesOf } from './long-slices.js';
import { upperMedian } from './percentile.js';
import { isDecided, rankContenders, toRatio } from './separation.js';

/**
 * With fewer segments per process a pause is hardly averaged out, so one process may be an outlier:
 * a pair is then judged by its own rounds.
 */
const POOLED_SEGMENTS = 10;
/** Confidence for a difference in shape. */
const SHAPE_CONFIDENCE = 0.995;
/**
 * Limit of the share of time in which clients wait for a processor. On two cores it was 0 to 5 % on
 * a calm machine and 50 to 75 % at a load of 9 to 12, where identical code differed by 20 to 50 %.
 */
export const WAITING_MAX = 0.4;
/**
 * Limit without schedstat: share of a contender's slices longer than twice the median of their
 * process, median over contenders. In 13 recorded calm races on two cores it was 0 to 2.9 %, in
 * three at a load of 12 to 20 it was 14 to 24 %: the limit is between them, a factor of two from
 * both. Over all slices together it is up to 5.7 % on a calm machine, because a driver with stalls
 * has many by itself.
 */
const SLOW_MAX = 0.07;
const SLOW = Math.log(2);

/**
 * Groups whose ratios are based on slices: an uncharged one would have an advantage over others.
 */
const COMPARED = new Set(['networked', 'embedded', 'again']);

/** @typedef {import('./separation.js').Ratio} Ratio */

/**
 * @typedef {object} Entry
 * @property {string} name
 * @property {'networked' | 'embedded' | 'again' | 'ceiling' | 'overhead' | 'program'} group
 *   program: no row, only used to determine the block state
 * @property {string} [of] name of the contender that `again` repeats
 * @property {string} [ceiling] name of the ceiling of its protocol
 * @property {(number | null)[][]} time log of ns per operation, by round and segment; null: no
 *   figure; an empty round is a missing one
 * @property {boolean} [ownGarbage] each segment of all of its processes is charged with its garbage
 * @property {(number | null)[]} [waiting] share of the time in which its thread waited for a
 *   processor, by round
 * @property {Record<string, (number | null)[][]>} [witnesses] logs of CPU and latency, in the same
 *   form
 */

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {Entry['group']} group
 * @property {number} nsPerOperation total time over all operations of a process, geometric mean
 *   over rounds
 * @property {number | null} halfWidth half-width of its own interval, as a share; null: one round
 * @property {number} n rounds with a figure
 * @property {number | null} rank rank within its group; null: unranked
 * @property {number | null} rankWorst
 * @property {string[]} tiedWith contenders tied with it
 * @property {Ratio | null} vsFastest speed relative to the fastest of its group, with the
 *   simultaneous interval of all pairs that decides the rank
 * @property {boolean} isUneven the share of pauses or late operations in its time differs from the
 *   fastest's
 * @property {Ratio | null} ofCeiling speed relative to its server ceiling
 * @property {Record<string, Witness>} witnesses
 * @property {import('./drift.js').Drift | null} drift
 */

/**
 * @typedef {{ value: number, halfWidth: number | null, ratio: Ratio | null }} Witness value:
 *   geometric mean; ratio: the fastest's amount relative to this one's, as with speeds
 */

/**
 * @typedef {object} Standings
 * @property {Row[]} rows networked, then embedded, then the others; fastest first
 * @property {Ratio | null} again the A/A ratio
 * @property {number | null} resolves median half-width of vsFastest over networked rows; without
 *   any, over embedded ones
 * @property {number[]} halfWidths half-widths of vsFastest of all of these except the fastest;
 *   infinite: one round
 * @property {number | null} waiting median share of time in which clients waited for a processor,
 *   over contenders and rounds; null: unknown
 * @property {number | null} slow if that is unknown: median share over contenders of slices longer
 *   than twice the median of their process; null: it is known, or there are too few slices
 * @property {boolean} isBusy one of them exceeds its limit, so there are no ranks
 */

/** @typedef {{ trim?: number, confidence?: number }} Options */

/**
 * @param {readonly Entry[]} entries
 * @param {Options} [options]
 * @returns {Standings}
 */
export function standingsOf(entries, { trim = TRIM, confidence = 0.95 } = {}) {
  const context = contextOf(entries, { trim, confidence });
  const { sound, waiting, slow, isBusy } = context;
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
    // All rows are tested: at 95 % each, one row in twenty would be marked by chance.
    const level = 1 - (1 - confidence) / sound.length;
    if (i >= 0) row.drift = driftOf(residuals[i], { trim, confidence: level });
  }
  const i = sound.findIndex(({ group }) => group === 'again');
  const j = sound.findIndex(({ name }) => name === sound[i]?.of);
  // Without a server, the embedded contenders are compared.
  const first = contests.find((one) => one.length > 0) ?? [];
  const halfWidths = first.slice(1).map(({ vsFastest }) => vsFastest?.halfWidth ?? Infinity);
  return {
    rows,
    again: i < 0 || j < 0 ? null : pairIn(context, i, j),
    resolves: upperMedian(halfWidths.filter(Number.isFinite)),
    halfWidths,
    waiting,
    slow,
    isBusy,
  };
}

/**
 * @param {readonly Entry[]} entries
 * @returns {Entry[]} contenders with a figure in every round of the run
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
 * @property {number[][]} means means of processes, by entry and round: the basis of ratios
 * @property {number[][]} averages the same for total time over all operations
 * @property {Record<string, number[][]>} witnesses the same, by witness
 * @property {boolean} pooled
 * @property {number | null} waiting
 * @property {number | null} slow
 * @property {boolean} isBusy
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
    means: processMeans(times, { trim, figure: figureOfEntries(sound) }),
    averages: processMeans(times, { figure: 'mean' }),
    witnesses: Object.fromEntries(witnesses),
    pooled: isPooled(sound),
    ...busynessOf(sound),
    confidence,
  };
}

/** @param {readonly Entry[]} sound */
function isPooled(sound) {
  return sound.every(({ time }) => time.every(({ length }) => length >= POOLED_SEGMENTS));
}

/**
 * @param {readonly Entry[]} sound
 * @returns {Pick<Standings, 'waiting' | 'slow' | 'isBusy'>} whether the machine was too busy for an
 *   answer by time
 */
export function busynessOf(sound) {
  const own = sound.filter(({ group }) => group === 'networked' || group === 'embedded');
  const waits = own.flatMap((one) => one.waiting?.filter((share) => share !== null) ?? []);
  const waiting = waits.length === 0 ? null : median(waits);
  const isKnown = waiting !== null || own.length === 0 || !isPooled(own);
  const slow = isKnown ? null : median(own.map(slowShareOf));
  return { waiting, slow, isBusy: (waiting ?? 0) > WAITING_MAX || (slow ?? 0) > SLOW_MAX };
}

/** @param {Entry} entry @returns {number} share of its slices */
function slowShareOf({ time }) {
  const rounds = time.map((row) => row.filter((value) => value !== null));
  const slow = rounds.map((row) => {
    const limit = median(row) + SLOW;
    return row.filter((value) => value > limit).length;
  });
  const sum = (/** @type {number[]} */ values) => values.reduce((all, one) => all + one, 0);
  return sum(slow) / sum(rounds.map(({ length }) => length));
}

/**
 * @param {readonly Entry[]} entries
 * @returns {import('./blocks.js').Figure} figures that their ratios are based on
 */
export function figureOfEntries(entries) {
  const compared = entries.filter(({ group }) => COMPARED.has(group));
  return compared.length > 0 && compared.every(({ ownGarbage }) => ownGarbage)
    ? 'typical'
    : 'trimmed';
}

/**
 * @typedef {object} PairFigures
 * @property {Ratio} speed
 * @property {boolean} isUneven the shares of pauses or late operations in the times differ
 * @property {import('./long-slices.js').LongSlices} long long slices of both
 * @property {Record<string, Ratio>} witnesses as speeds: above 1 uses less
 */

/**
 * Deviation of slices relative to that of processes. The difference between the even and the odd
 * slices of a process is the noise due to slices; the rest is between processes.
 * @param {readonly Entry[]} entries entries of a load
 * @returns {number | null} deviation of a slice over that of a process; infinite if the processes
 *   differ only by their slices; null: unknown
 */
export function deviationRatioOf(entries) {
  const sound = soundOf(entries);
  const compared = [...sound.keys()].filter((i) => COMPARED.has(sound[i].group));
  const rounds = sound[0]?.time.length ?? 0;
  if (compared.length < 2 || rounds < 2) return null;
  const figure = figureOfEntries(sound);
  const figuresOf = (/** @type {(block: number) => boolean} */ isOf) => {
    const logs = sound.map(({ time }) => time.map((row) => row.filter((_, block) => isOf(block))));
    const means = processMeans(logs, { figure });
    return compared.map((i) => means[i]);
  };
  const [all, even, odd] = [() => true, isEven, (/** @type {number} */ i) => !isEven(i)].map(
    figuresOf,
  );
  const squares = even
    .flatMap((row, i) => row.map((value, round) => (value - odd[i][round]) ** 2))
    .filter(Number.isFinite);
  if (squares.length === 0) return null;
  const ofSlices = mean(squares) / 4;
  const blocks = mean(compared.flatMap((i) => sound[i].time.map((row) => row.length)));
  const ofProcesses = Math.max(0, contest(all).variance - ofSlices);
  return ofSlices === 0 ? 0 : Math.sqrt((blocks * ofSlices) / ofProcesses);
}

/** @param {number} block */
function isEven(block) {
  return block % 2 === 0;
}

/**
 * Two contenders of a run: their speeds, and the comparison of each witness, by the rounds of the
 * pair.
 * @param {readonly Entry[]} entries entries of the run, used to determine the block state
 * @param {string} name
 * @param {string} base baseline
 * @param {Options} [options] confidence of answers and intervals
 * @returns {PairFigures | null} null: one has no figure in a round, or there is one round
 */
export function pairOf(entries, name, base, { trim = TRIM, confidence = 0.95 } = {}) {
  const context = contextOf(entries, { trim, confidence });
  const { sound, witnesses } = context;
  const [i, j] = [name, base].map((one) => sound.findIndex((entry) => entry.name === one));
  if (i < 0 || j < 0 || sound[i].time.length < 2) return null;
  const both = [sound[i], sound[j]];
  const compared = sound.filter((one) => COMPARED.has(one.group) || both.includes(one));
  const known = Object.entries(witnesses).filter(
    ([, of]) => of[i].every(Number.isFinite) && of[j].every(Number.isFinite),
  );
  return {
    speed: pairIn(context, i, j),
    isUneven: isUneven(context, i, j),
    long: longSlicesOf(
      compared.map(({ time }) => time),
      compared.indexOf(sound[i]),
      compared.indexOf(sound[j]),
    ),
    witnesses: Object.fromEntries(
      known.map(([witness, of]) => [witness, pairRatio(of[i], of[j], confidence)]),
    ),
  };
}

/**
 * @param {Context} context
 * @param {'networked' | 'embedded'} group
 * @returns {Row[]} fastest first
 */
function contestOf(context, group) {
  const { sound, means, averages, confidence, pooled, isBusy } = context;
  const members = [...sound.keys()].filter((i) => sound[i].group === group);
  if (members.length === 0) return [];
  const estimates = contest(
    members.map((i) => means[i]),
    { confidence, pooled },
  );
  const ofAll = members.map((i) => mean(averages[i]));
  const standings = rankContenders(estimates, ofAll);
  const [{ index: fastest }] = standings;
  const isRanked = estimates.rounds > 1 && !isBusy;
  return standings.map(({ index, rank, rankWorst, tiedWith }) => {
    const { value, halfOfAll } = differenceOf(estimates, index, fastest);
    return {
      ...bareRow(context, members[index], members[fastest]),
      rank: isRanked ? rank : null,
      rankWorst: isRanked ? rankWorst : null,
      tiedWith: tiedWith.map((other) => sound[members[other]].name),
      vsFastest:
        index === fastest
          ? toRatio(0, 0, estimates.rounds)
          : toRatio(value, halfOfAll, estimates.rounds, {
              mean: ofAll[index] - ofAll[fastest],
              isBusy,
            }),
      isUneven: index !== fastest && isUneven(context, members[index], members[fastest]),
    };
  });
}

/**
 * @param {Context} context
 * @param {number} i
 * @param {number} [fastest] fastest of its group
 * @returns {Row}
 */
function bareRow(context, i, fastest) {
  const { sound, means, averages, witnesses, confidence } = context;
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
  const { value, halfWidth } = figureOf(averages[i], confidence);
  return {
    name,
    group,
    n: means[i].length,
    rank: null,
    rankWorst: null,
    tiedWith: [],
    vsFastest: null,
    isUneven: false,
    drift: null,
    nsPerOperation: value,
    halfWidth,
    ofCeiling: limit < 0 ? null : pairIn(context, i, limit),
    witnesses: seen,
  };
}

/**
 * @param {Entry} entry contender without a figure in some round
 * @returns {Row[]} row by its rounds with a figure; empty without any
 */
function rowOfMissing({ name, group, time }) {
  const means = time.map((row) => trimmedMean(row)).filter(Number.isFinite);
  if (means.length === 0 || group === 'program') return [];
  const sound = [{ name, group, time: [] }];
  const known = { waiting: null, slow: null, isBusy: false };
  const none = { witnesses: {}, pooled: false, ...known, confidence: 0.95 };
  return [bareRow({ sound, means: [means], averages: [means], ...none }, 0)];
}

/**
 * @param {readonly number[]} logs logs of one contender by round
 * @param {number} confidence
 */
function figureOf(logs, confidence) {
  const { estimates, halfAlone } = contest([logs], { confidence });
  const half = Number.isFinite(halfAlone[0]) ? Math.expm1(halfAlone[0]) : null;
  return { value: Math.exp(estimates[0]), halfWidth: half };
}

/**
 * @param {Context} context
 * @param {number} i
 * @param {number} j
 * @returns {Ratio} ratio of the speed of entry i to that of j, by their own rounds
 */
function pairIn({ means, averages, confidence, isBusy }, i, j) {
  return pairRatio(means[i], means[j], confidence, {
    mean: mean(averages[i]) - mean(averages[j]),
    isBusy,
  });
}

/**
 * More powerful than comparing two intervals: within a process, over all of its slices.
 * @param {Context} context
 * @param {number} i
 * @param {number} j
 * @returns {boolean} whether the shares of pauses and late operations in their times differ
 */
function isUneven({ means, averages }, i, j) {
  const [own, base] = [i, j].map((at) =>
    averages[at].map((average, round) => average - means[at][round]),
  );
  return isDecided(pairRatio(own, base, SHAPE_CONFIDENCE).answer);
}

/**
 * By the pair's own rounds.
 * @param {readonly number[]} own means of processes
 * @param {readonly number[]} base means of the other, in the same rounds
 * @param {number} confidence
 * @param {Parameters<typeof toRatio>[3]} [more]
 * @returns {Ratio} ratio of speeds
 */
export function pairRatio(own, base, confidence, more) {
  if (own === base) return toRatio(0, 0, own.length);
  const differences = own.map((value, round) => value - base[round]);
  const { estimates, halfAlone } = contest([differences], { confidence });
  return toRatio(estimates[0], halfAlone[0], differences.length, more);
}

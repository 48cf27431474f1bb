/**
 * From the slices of a run to the rows of its table: pure. One load at a time.
 *
 * Networked storages are one contest, embedded stores another: their variances differ, and nobody
 * chooses between a server and a file by this number. Ceilings and the second copy of the first
 * storage (A/A) stand in no contest; their ratios have intervals of the pair's own rounds.
 */

import { processMeans, TRIM, withoutBlockState } from './blocks.js';
import { contest, differenceOf } from './contenders.js';
import { driftOf } from './drift.js';
import { rankContenders, ratioTo, toRatio } from './separation.js';

/** @typedef {import('./separation.js').Ratio} Ratio */

/**
 * @typedef {object} Entry
 * @property {string} name
 * @property {'networked' | 'embedded' | 'again' | 'ceiling' | 'overhead' | 'program'} group
 *   program: no row, only of use to tell the state of blocks apart
 * @property {string} [of] of `again`: the name of the one it repeats
 * @property {string} [ceiling] name of the ceiling of its protocol
 * @property {(number | null)[][]} time log of ns per operation, by round and block; null: no slice
 * @property {Record<string, (number | null)[][]>} [witnesses] logs likewise: CPU, latency
 */

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {Entry['group']} group
 * @property {number} nsPerOperation geometric mean over processes
 * @property {number} halfWidth of it by itself, as a share
 * @property {number | null} rank within its group; null: it is not ranked
 * @property {number | null} rankWorst
 * @property {string[]} tiedWith
 * @property {Ratio | null} vsFastest speed against the fastest of its group
 * @property {Ratio | null} ofCeiling speed against its server ceiling
 * @property {Record<string, { value: number, halfWidth: number, ratio: Ratio | null }>} witnesses
 *   value: geometric mean; ratio: of the fastest's amount to this one's, as with speeds
 * @property {import('./drift.js').Drift | null} drift
 */

/**
 * @typedef {object} Standings
 * @property {Row[]} rows networked, then embedded, then the others; fastest first
 * @property {Ratio | null} again the A/A ratio
 * @property {number | null} resolves median half-width of vsFastest over networked rows; without
 *   one, over embedded ones
 * @property {number[]} halfWidths of vsFastest of all of these but the fastest
 * @property {number} variance pooled, of these
 */

/**
 * @param {readonly Entry[]} entries with the same rounds each, two or more
 * @param {{ trim?: number, confidence?: number }} [options]
 * @returns {Standings}
 */
export function standingsOf(entries, options = {}) {
  return standingsOfSound(entries.filter(isSound), options);
}

/**
 * @param {Entry} entry
 * @returns {boolean} it has a valid slice in each round; without, it has no figure there
 */
export function isSound({ time }) {
  return time.every((row) => row.some((value) => value !== null));
}

/**
 * @param {readonly Entry[]} entries
 * @param {{ trim?: number, confidence?: number }} options
 * @returns {Standings}
 */
function standingsOfSound(entries, { trim = TRIM, confidence = 0.95 }) {
  const means = processMeans(
    entries.map(({ time }) => time),
    { trim },
  );
  const residuals = withoutBlockState(entries.map(({ time }) => time));
  const witnesses = witnessMeans(entries, trim);
  const context = { entries, means, witnesses, confidence };
  const groups = /** @type {const} */ (['networked', 'embedded']);
  const contests = groups.map((group) => contestOf(context, group));
  /** @type {Row[]} */
  const rows = contests.flatMap((one) => one?.rows ?? []);
  for (const [i, { group }] of entries.entries()) {
    if (['again', 'ceiling', 'overhead'].includes(group)) rows.push(bareRow(context, i));
  }
  for (const row of rows) {
    const i = entries.findIndex(({ name }) => name === row.name);
    // All rows are looked at: at 95 % each, one row of twenty would be marked by chance.
    row.drift = driftOf(residuals[i], { trim, confidence: 1 - (1 - confidence) / entries.length });
  }
  const i = entries.findIndex(({ group }) => group === 'again');
  const j = entries.findIndex(({ name }) => name === entries[i]?.of);
  // Without a server, what is compared are the contenders in the process.
  const first = contests.find((one) => one !== null) ?? null;
  const halfWidths = (first?.rows ?? []).slice(1).map(({ vsFastest }) => vsFastest?.halfWidth ?? 0);
  return {
    rows,
    again: i < 0 || j < 0 ? null : pairRatio(means, i, j, confidence),
    resolves: medianOf(halfWidths),
    halfWidths,
    variance: first?.variance ?? 0,
  };
}

/**
 * Two contenders of a run: their speeds, and what each witness says, by the rounds of the pair.
 * @param {readonly Entry[]} entries of the run: they tell block state apart
 * @param {string} name
 * @param {string} base what it is held against
 * @param {{ trim?: number, confidence?: number }} [options] confidence of the answers; intervals
 *   are always those of 95 %
 * @returns {{ speed: Ratio, witnesses: Record<string, Ratio> } | null} witnesses as speeds: above 1
 *   takes less; null: one of them has no figure in a round
 */
export function pairOf(entries, name, base, { trim = TRIM, confidence = 0.95 } = {}) {
  const sound = entries.filter(isSound);
  const [i, j] = [name, base].map((one) => sound.findIndex((entry) => entry.name === one));
  if (i < 0 || j < 0 || sound[i].time.length < 2) return null;
  const ratio = (/** @type {readonly (readonly number[])[]} */ means) => {
    const { answer, cannotTellBelow } = pairRatio(means, i, j, confidence);
    return { ...pairRatio(means, i, j, 0.95), answer, cannotTellBelow };
  };
  const means = processMeans(
    sound.map(({ time }) => time),
    { trim },
  );
  const witnesses = Object.entries(witnessMeans(sound, trim)).filter(
    ([, of]) => of[i].every(Number.isFinite) && of[j].every(Number.isFinite),
  );
  return {
    speed: ratio(means),
    witnesses: Object.fromEntries(witnesses.map(([witness, of]) => [witness, ratio(of)])),
  };
}

/** @param {readonly number[]} values */
function medianOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? null : sorted[sorted.length >> 1];
}

/**
 * @param {readonly Entry[]} entries
 * @param {number} trim
 * @returns {Record<string, number[][]>} means of processes by witness, entry and round
 */
function witnessMeans(entries, trim) {
  const names = new Set(entries.flatMap(({ witnesses = {} }) => Object.keys(witnesses)));
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      processMeans(
        entries.map(({ witnesses, time }) => witnesses?.[name] ?? time.map(() => [])),
        { trim },
      ),
    ]),
  );
}

/** @typedef {{ entries: readonly Entry[], means: number[][], witnesses: Record<string, number[][]>,
 *   confidence: number }} Context */

/**
 * @param {Context} context
 * @param {'networked' | 'embedded'} group
 */
function contestOf(context, group) {
  const { entries, means, confidence } = context;
  const members = [...entries.keys()].filter((i) => entries[i].group === group);
  if (members.length === 0) return null;
  const own = contest(
    members.map((i) => means[i]),
    { confidence },
  );
  const { standings } = members.length > 1 ? rankContenders(own) : { standings: [alone()] };
  const [{ index: fastest }] = standings;
  /** @type {Row[]} */
  const rows = standings.map(({ index, rank, rankWorst, tiedWith }) => ({
    ...bareRow(context, members[index], members[fastest]),
    ...{ rank, rankWorst, tiedWith: tiedWith.map((other) => entries[members[other]].name) },
    vsFastest: tiedWith.includes(fastest)
      ? asTie(own, index, fastest)
      : ratioTo(own, index, fastest),
  }));
  return { rows, variance: own.variance };
}

/**
 * The interval is that of the pair, but all pairs at once do not separate the two: what holds for
 * the rank holds for the answer.
 * @param {import('./contenders.js').Contest} own
 * @param {number} index
 * @param {number} fastest
 * @returns {Ratio}
 */
function asTie(own, index, fastest) {
  const { value, halfOfAll } = differenceOf(own, index, fastest);
  const { cannotTellBelow } = toRatio(value, halfOfAll, own.rounds);
  return { ...ratioTo(own, index, fastest), answer: 'cannot tell', cannotTellBelow };
}

function alone() {
  return { index: 0, rank: 1, rankWorst: 1, tiedWith: [] };
}

/**
 * @param {Context} context
 * @param {number} i
 * @param {number} [fastest] of its group
 * @returns {Row}
 */
function bareRow({ entries, means, witnesses, confidence }, i, fastest) {
  const { name, group, ceiling } = entries[i];
  const alone = contest([means[i]], { confidence });
  const limit = entries.findIndex((other) => other.group === 'ceiling' && other.name === ceiling);
  /** @type {Row['witnesses']} */
  const seen = {};
  for (const [witness, of] of Object.entries(witnesses)) {
    if (!of[i].every(Number.isFinite)) continue;
    const { estimates, halfAlone } = contest([of[i]], { confidence });
    const ratio =
      fastest === undefined || !of[fastest].every(Number.isFinite)
        ? null
        : pairRatio(of, i, fastest, confidence);
    const [value, half] = [Math.exp(estimates[0]), Math.expm1(halfAlone[0])];
    seen[witness] = { value, halfWidth: half, ratio };
  }
  return {
    ...{ name, group, rank: null, rankWorst: null, tiedWith: [], vsFastest: null, drift: null },
    nsPerOperation: Math.exp(alone.estimates[0]),
    halfWidth: Math.expm1(alone.halfAlone[0]),
    ofCeiling: limit < 0 ? null : pairRatio(means, i, limit, confidence),
    witnesses: seen,
  };
}

/**
 * By the pair's own rounds.
 * @param {readonly (readonly number[])[]} means
 * @param {number} i
 * @param {number} j
 * @param {number} confidence
 * @returns {Ratio} of speeds
 */
function pairRatio(means, i, j, confidence) {
  if (i === j) return toRatio(0, 0, means[i].length);
  const differences = means[i].map((value, round) => value - means[j][round]);
  const { estimates, halfAlone } = contest([differences], { confidence });
  return toRatio(estimates[0], halfAlone[0], differences.length);
}

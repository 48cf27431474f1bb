/**
 * A against B within one run: another version of a driver against the installed one, or two
 * storages that were raced alone. By blocks, since both ran in every round. Pure.
 */

import { compareAll } from '../../stats/compare.js';
import { pairOf } from '../../stats/standings.js';
import { throughputsOf } from './ranks.js';

/** @typedef {import('./rows.js').Group} Group */
/** @typedef {import('./rows.js').Row} Row */

/**
 * @typedef {object} Pair
 * @property {Row} a
 * @property {Row} b what it is held against
 * @property {import('../../lib/result.js').Load} load
 * @property {import('../../stats/compare.js').Comparison} comparison of A to B; Holm counts all of
 *   the report
 */

/**
 * @param {readonly Group[]} groups of one result
 * @param {import('../../lib/result.js').Result['storages']} storages
 * @returns {Pair[]} none where more than two storages ran and none names its base
 */
export function pairsOf(groups, storages) {
  const bases = basesOf(storages);
  const found = groups.flatMap((group) => {
    // Of slices, slicePairs tells more.
    if (group.comparison !== undefined) return [];
    const rows = group.rows.filter(
      ({ kind, n, wrong, source }) =>
        kind !== 'overhead' && n > 1 && wrong === 0 && source.load.kind !== 'rate',
    );
    return couplesOf(rows, bases).map(([a, b]) => ({ a, b, group }));
  });
  const compared = compareAll(
    found.map(({ a, b, group }) => {
      const [first, second] = [throughputsOf(a.source), throughputsOf(b.source)];
      const blocks = Math.min(first.length, second.length);
      const rounds = { a: first.slice(0, blocks), b: second.slice(0, blocks) };
      return { name: a.source.id, ...rounds, noise: group.noise.noise };
    }),
  );
  return found.map(({ a, b, group }, i) => ({ a, b, load: group.load, comparison: compared[i] }));
}

/**
 * @typedef {object} SlicePair
 * @property {Row} a
 * @property {Row} b what it is held against
 * @property {import('./standings.js').Comparison['load']} load
 * @property {NonNullable<ReturnType<typeof pairOf>>} ratios
 */

/**
 * The same of a run by slices, with what its witnesses say. Answers hold for all pairs together
 * (Bonferroni).
 * @param {readonly Group[]} groups of one result
 * @param {import('../../lib/result.js').Result['storages']} storages
 * @returns {SlicePair[]} only of storages that name their base: of others, the ranks tell
 */
export function slicePairsOf(groups, storages) {
  const bases = basesOf(storages);
  if (bases.size === 0) return [];
  const found = groups.flatMap(({ comparison, rows }) =>
    comparison === undefined
      ? []
      : couplesOf(rows, bases, { others: false }).map(([a, b]) => ({ a, b, comparison })),
  );
  const confidence = 1 - 0.05 / Math.max(1, found.length);
  return found.flatMap(({ a, b, comparison: { load, entries } }) => {
    const ratios = pairOf(entries, a.label, b.label, { confidence });
    return ratios === null ? [] : [{ a, b, load, ratios }];
  });
}

/**
 * @param {import('../../lib/result.js').Result['storages']} storages
 * @returns {Map<string, string>} storage and profile to the name of its base
 */
function basesOf(storages) {
  return new Map(
    storages.flatMap(({ name, profile, base }) => (base ? [[`${name}:${profile}`, base]] : [])),
  );
}

/**
 * @param {Row[]} rows
 * @param {Map<string, string>} bases storage and profile to the name of its base
 * @param {{ others?: boolean }} [options] others: two rows that name no base are a pair too
 * @returns {[Row, Row][]}
 */
function couplesOf(rows, bases, { others = true } = {}) {
  const named = rows.flatMap((a) => {
    const base = bases.get(`${a.source.storage}:${a.source.profile}`);
    const b = rows.find(
      ({ source }) => source.storage === base && source.profile === a.source.profile,
    );
    return b === undefined ? [] : [/** @type {[Row, Row]} */ ([a, b])];
  });
  if (named.length > 0 || !others) return named;
  return rows.length === 2 ? [[rows[0], rows[1]]] : [];
}

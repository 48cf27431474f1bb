/**
 * A against B within one run: another version of a driver against the installed one, or two
 * storages that were raced alone. By blocks, since both ran in every round. Pure.
 */

import { compareAll } from '../../stats/compare.js';
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
  const bases = new Map(
    storages.flatMap(({ name, profile, base }) => (base ? [[`${name}:${profile}`, base]] : [])),
  );
  const found = groups.flatMap((group) => {
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
 * @param {Row[]} rows
 * @param {Map<string, string>} bases storage and profile to the name of its base
 * @returns {[Row, Row][]}
 */
function couplesOf(rows, bases) {
  const named = rows.flatMap((a) => {
    const base = bases.get(`${a.source.storage}:${a.source.profile}`);
    const b = rows.find(
      ({ source }) => source.storage === base && source.profile === a.source.profile,
    );
    return b === undefined ? [] : [/** @type {[Row, Row]} */ ([a, b])];
  });
  if (named.length > 0) return named;
  return rows.length === 2 ? [[rows[0], rows[1]]] : [];
}

/**
 * A against B within one run: another version of a driver against the installed one, or two
 * storages that were raced alone. By blocks, since both ran in every round. Pure.
 */

import { compareAll } from '../../stats/compare.js';
import { throughputsOf } from './places.js';

/** @typedef {import('./rows.js').Group} Group */
/** @typedef {import('./rows.js').Row} Row */

/**
 * @typedef {object} Rivalry
 * @property {Row} a
 * @property {Row} b what it is held against
 * @property {import('../../lib/result.js').Load} load
 * @property {import('../../stats/compare.js').Comparison} comparison of A to B; Holm counts all of
 *   the report
 */

/**
 * @param {readonly Group[]} groups of one result
 * @param {import('../../lib/result.js').Result['storages']} storages
 * @returns {Rivalry[]} none where more than two storages ran and none names its base
 */
export function rivalsOf(groups, storages) {
  const bases = new Map(
    storages.flatMap(({ name, profile, base }) => (base ? [[`${name}:${profile}`, base]] : [])),
  );
  const found = groups.flatMap((group) => {
    const rows = group.rows.filter(
      ({ kind, n, wrong, cell }) =>
        kind !== 'floor' && n > 1 && wrong === 0 && cell.load.kind !== 'rate',
    );
    return pairsOf(rows, bases).map(([a, b]) => ({ a, b, group }));
  });
  const compared = compareAll(
    found.map(({ a, b, group }) => {
      const [first, second] = [throughputsOf(a.cell), throughputsOf(b.cell)];
      const blocks = Math.min(first.length, second.length);
      const rounds = { a: first.slice(0, blocks), b: second.slice(0, blocks) };
      return { name: a.cell.id, ...rounds, noise: group.noise.noise };
    }),
  );
  return found.map(({ a, b, group }, i) => ({ a, b, load: group.load, comparison: compared[i] }));
}

/**
 * @param {Row[]} rows
 * @param {Map<string, string>} bases storage and profile to the name of its base
 * @returns {[Row, Row][]}
 */
function pairsOf(rows, bases) {
  const named = rows.flatMap((a) => {
    const base = bases.get(`${a.cell.storage}:${a.cell.profile}`);
    const b = rows.find(({ cell }) => cell.storage === base && cell.profile === a.cell.profile);
    return b === undefined ? [] : [/** @type {[Row, Row]} */ ([a, b])];
  });
  if (named.length > 0) return named;
  return rows.length === 2 ? [[rows[0], rows[1]]] : [];
}

/**
 * Runs of neighbours in a ranking of which no pair is separated (compact letter display: H.-P.
 * Piepho, 2004). Non-goal: deciding which pairs are separated.
 */

/**
 * @param {number} count of entries, fastest first
 * @param {(i: number, j: number) => boolean} tied whether entries i and j are not separated
 * @returns {[number, number][]} from (inclusive) and to (exclusive) of each maximal run
 */
export function tiedRuns(count, tied) {
  /** @type {[number, number][]} */
  const runs = [];
  let covered = 0;
  for (let from = 0; from < count; from += 1) {
    let to = from + 1;
    while (to < count && isTiedToAll(tied, from, to)) to += 1;
    // A run with the same end as an earlier one is contained in it.
    if (to > covered) runs.push([from, to]);
    covered = Math.max(covered, to);
  }
  return runs;
}

/**
 * @param {(i: number, j: number) => boolean} tied
 * @param {number} from
 * @param {number} to
 */
function isTiedToAll(tied, from, to) {
  for (let i = from; i < to; i += 1) if (!tied(i, to)) return false;
  return true;
}

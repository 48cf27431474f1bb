/**
 * A against B within one run: another version of a driver against the installed one. By blocks,
 * since both ran in every round. Pure.
 */

import { toRatio } from '../../stats/separation.js';
import { pairOf } from '../../stats/standings.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('./standings.js').Comparison} Comparison */
/** @typedef {import('./standings.js').Compared} Compared */
/** @typedef {import('../../stats/separation.js').Ratio} Ratio */

/**
 * @typedef {object} Pair
 * @property {Compared} a
 * @property {Compared} b what it is held against
 * @property {Comparison} comparison
 * @property {{ speed: Ratio, witnesses: Record<string, Ratio> }} ratios of A to B, with the
 *   intervals
 *   that their answers were decided by: a gate's, where there is one on the same pair
 */

/** Ratios of gates that a pair has too: their metrics, and the witness; null: the speed. */
const GATED = Object.freeze(
  /** @type {const} */ ([
    ['throughput', null],
    ['client-cpu', 'clientCpu'],
    ['server-cpu', 'serverCpu'],
  ]),
);

/**
 * Answers hold for all pairs together (Bonferroni).
 * @param {readonly { all: readonly Compared[], comparison: Comparison | null }[]} groups of one
 *   result
 * @param {Pick<Result, 'storages' | 'gates'>} result
 * @returns {Pair[]} only of storages that have a reference: of others, the ranks tell
 */
export function pairsOf(groups, { storages, gates = [] }) {
  const bases = new Map(
    storages.flatMap(({ name, profile, base }) => (base ? [[`${name}:${profile}`, base]] : [])),
  );
  const found = groups.flatMap(({ all, comparison }) =>
    comparison === null ? [] : couplesOf(all, bases, gates).map(([a, b]) => ({ a, b, comparison })),
  );
  const confidence = 1 - 0.05 / Math.max(1, found.length);
  return found.flatMap(({ a, b, comparison }) => {
    const own = pairOf(comparison.entries, a.label, b.label, { confidence });
    if (own === null) return [];
    const ratios = { speed: own.speed, witnesses: { ...own.witnesses } };
    for (const [metric, witness] of GATED) {
      const gate = gates.find(
        (one) =>
          one.isRatio &&
          one.metric === metric &&
          one.benchmark === a.source.id &&
          one.reference === b.source.id,
      );
      const ratio = gate === undefined ? null : ratioOfGate(gate, witness === null);
      if (ratio === null) continue;
      if (witness === null) ratios.speed = ratio;
      else ratios.witnesses[witness] = ratio;
    }
    return [{ a, b, comparison, ratios }];
  });
}

/**
 * @param {import('../../lib/gate.js').GateResult} gate
 * @param {boolean} isSpeed else an amount, of which less is faster
 * @returns {Ratio | null} of speeds; null: the gate has no figure
 */
function ratioOfGate({ value, low, high, n }, isSpeed) {
  if (value === null || low === null || high === null) return null;
  return toRatio((isSpeed ? -1 : 1) * Math.log(value), Math.log(high / low) / 2, n);
}

/**
 * @param {readonly Compared[]} all
 * @param {Map<string, string>} bases storage and profile to the name of its base
 * @param {readonly import('../../lib/gate.js').GateResult[]} gates their references come first
 * @returns {[Compared, Compared][]}
 */
function couplesOf(all, bases, gates) {
  return all.flatMap((a) => {
    const gate = gates.find((one) => one.isRatio && one.benchmark === a.source.id);
    const named = all.find(({ source }) => source.id === gate?.reference);
    if (named !== undefined) return [/** @type {[Compared, Compared]} */ ([a, named])];
    const base = bases.get(`${a.source.storage}:${a.source.profile}`);
    const b = all.find(
      ({ source }) => source.storage === base && source.profile === a.source.profile,
    );
    return b === undefined ? [] : [/** @type {[Compared, Compared]} */ ([a, b])];
  });
}

/**
 * @param {readonly Pair[]} pairs of a comparison
 * @param {Comparison} comparison
 * @returns {boolean} all contenders are held against a reference named beforehand: none is the
 *   fastest
 */
export function isAgainst(pairs, { standings: { rows } }) {
  if (isOfServers(pairs)) return false;
  const named = new Set(pairs.flatMap(({ a, b }) => [a.label, b.label]));
  const contenders = rows.filter(({ vsFastest }) => vsFastest !== null);
  return pairs.length > 0 && contenders.every(({ name }) => named.has(name));
}

/**
 * @param {readonly Pair[]} pairs
 * @returns {boolean} each is one driver on two servers, where the race between all goes on
 */
export function isOfServers(pairs) {
  return pairs.every(({ a, b }) => [a, b].every(({ label }) => / on /.test(label)));
}

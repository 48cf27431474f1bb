/**
 * A against B within one run: another version of a driver against the installed one, block by
 * block, since both ran in every round. Pure.
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
 * @property {Compared} b its reference
 * @property {Comparison} comparison
 * @property {import('../../stats/standings.js').PairFigures} ratios ratios of A to B, with the
 *   intervals that decided them: those of a gate on the same pair, if any
 */

/**
 * Ratios of a pair that gates use as well: their metrics, and the measured amount; null: the speed.
 */
const GATED = Object.freeze(
  /** @type {const} */ ([
    ['throughput', null],
    ['client-cpu', 'clientCpu'],
    ['server-cpu', 'serverCpu'],
  ]),
);

/**
 * Confidence holds for all pairs together (Bonferroni).
 * @param {readonly { all: readonly Compared[], comparison: Comparison | null }[]} groups groups of
 *   one result
 * @param {Pick<Result, 'storages' | 'gates'>} result
 * @returns {Pair[]} only for storages with a reference; others have ranks
 */
export function pairsOf(groups, { storages, gates = [] }) {
  const bases = new Map(
    storages.flatMap(({ name, profile, base }) => (base ? [[`${name}:${profile}`, base]] : [])),
  );
  const couples = groups.flatMap(({ all, comparison }) =>
    comparison === null ? [] : couplesOf(all, bases, gates).map(([a, b]) => ({ a, b, comparison })),
  );
  const confidence = 1 - 0.05 / Math.max(1, couples.length);
  return couples.flatMap(({ a, b, comparison }) => {
    const pair = pairOf(comparison.entries, a.label, b.label, { confidence });
    if (pair === null) return [];
    const ratios = { ...pair, witnesses: { ...pair.witnesses } };
    for (const [metric, witness] of GATED) {
      const gate = gates.find(
        (one) =>
          one.isRatio &&
          one.metric === metric &&
          one.benchmark === a.source.id &&
          one.reference === b.source.id,
      );
      const { isBusy } = comparison.standings;
      const speed = witness === null ? { mean: pair.speed.mean, isBusy } : null;
      const ratio = gate === undefined ? null : ratioOfGate(gate, speed);
      if (ratio === null) continue;
      if (witness === null) ratios.speed = ratio;
      else ratios.witnesses[witness] = ratio;
    }
    return [{ a, b, comparison, ratios }];
  });
}

/**
 * @param {import('../../lib/gate.js').GateResult} gate
 * @param {{ mean: number, isBusy: boolean } | null} speed mean: the ratio of throughputs; null: an
 *   amount, where less is better
 * @returns {Ratio | null} ratio of speeds; null: the gate has no figure
 */
function ratioOfGate({ value, low, high, n }, speed) {
  if (value === null || low === null || high === null) return null;
  const half = Math.log(high / low) / 2;
  if (speed === null) return toRatio(Math.log(value), half, n);
  const { mean, isBusy } = speed;
  return toRatio(-Math.log(value), half, n, { mean: -Math.log(mean), isBusy });
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
 * @param {readonly Pair[]} pairs pairs of a comparison
 * @param {Comparison} comparison
 * @returns {boolean} all contenders are compared with a predefined reference, so none is the
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
 * @returns {boolean} each pair is one driver on two servers; all contenders are ranked as well
 */
export function isOfServers(pairs) {
  return pairs.every(({ a, b }) => [a, b].every(({ label }) => / on /.test(label)));
}

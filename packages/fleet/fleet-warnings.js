/** Warnings of the result derived from the agents' records. Pure. */

import { formatDuration, formatRatio } from '../../lib/format.js';
import { medianOf } from '../../stats/metrics.js';
import { LATE_MAX_NS, LATE_WARNING_NS } from './merge-agents.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../lib/fleet.js').RoundAgent} RoundAgent */

/** Minimum ratio to the others for a warning. */
const DIFFERS = 1.25;

/**
 * @param {Result} result
 * @returns {Result['warnings']}
 */
export function fleetWarnings({ fleet, benchmarks }) {
  if (fleet === undefined) return [];
  return [lossWarning(fleet), lateWarning(benchmarks), benchmarks.flatMap(differing)].flat();
}

/** @param {import('../../lib/fleet.js').Fleet} fleet */
function lossWarning({ lost, onLoss, agents }) {
  if (lost === undefined) return [];
  const { agent, reason, round } = lost;
  const left = agents.length - 1;
  const what =
    onLoss === 'truncate'
      ? `, limited to the seconds with all agents, from the ${left} others`
      : ', which is invalid';
  const when = round === undefined ? 'outside a round' : `in round ${round + 1}${what}`;
  return {
    code: 'W_AGENT_LOST',
    message: `agent ${agent} was lost (${reason}) ${when}; the run was ended`,
    hint: 'npx dragstrip agents lists the waiting agents',
    benchmark: null,
  };
}

/** @param {readonly Benchmark[]} benchmarks */
function lateWarning(benchmarks) {
  const all = benchmarks.flatMap(({ rounds }) => rounds.flatMap(({ agents }) => agents ?? []));
  const texts = [...new Set(all.map(({ agent }) => agent))].flatMap((agent) => {
    const own = all.filter((one) => one.agent === agent);
    const starts = own.map(startsOf);
    const sum = (/** @type {'count' | 'late' | 'invalid'} */ field) =>
      starts.reduce((total, one) => total + one[field], 0);
    if (sum('late') + sum('invalid') === 0) return [];
    const lateNs = Math.max(...own.map((one) => one.lateNs));
    return [
      `agent ${agent} began ${sum('late')} of ${sum('count')} segments more than 10 ms late ` +
        `(up to ${formatDuration(lateNs)}; ${sum('invalid')} not counted)`,
    ];
  });
  if (texts.length === 0) return [];
  return {
    code: 'W_AGENT_LATE',
    message: texts.join('; '),
    hint: 'give the load machines idle processors, and the same clock source',
    benchmark: null,
  };
}

/**
 * @param {RoundAgent} one @returns {NonNullable<RoundAgent['slices']>} a load without blocks is one
 *   segment
 */
function startsOf({ slices, lateNs, durationNs }) {
  if (slices !== undefined) return slices;
  const [late, invalid] = [LATE_WARNING_NS, LATE_MAX_NS].map((limit) => Number(lateNs > limit));
  return { ns: durationNs, count: 1, late, invalid };
}

/**
 * With two agents it is unknown which one differs; from three on each is compared with the median
 * of the others.
 * @param {Benchmark} benchmark
 * @returns {Result['warnings'][number] | []}
 */
function differing({ id, rounds, load }) {
  const agentRecords = rounds
    .filter(({ state }) => state === 'measured')
    .flatMap((r) => r.agents ?? []);
  const names = [...new Set(agentRecords.map(({ agent }) => agent))];
  if (names.length < 2) return [];
  /** @type {[string, (agent: RoundAgent) => number | null][]} */
  const figures = [
    ['median latency', ({ latency }) => latency?.p50Ns ?? null],
    // The throughput of an open loop is its rate, given by the options.
    ...(load.kind === 'rate' ? [] : [throughputFigure]),
  ];
  for (const [what, of] of figures) {
    const typical = names.map((name) =>
      medianOf(agentRecords.filter(({ agent }) => agent === name).flatMap((one) => of(one) ?? [])),
    );
    if (typical.some((value) => value === null)) continue;
    const values = typical.map(Number);
    const ratios = values.map((value, i) => value / Number(medianOf(without(values, i))));
    const [worst] = [...ratios.keys()].sort(
      (a, b) => Math.abs(Math.log(ratios[b])) - Math.abs(Math.log(ratios[a])),
    );
    if (Math.abs(Math.log(ratios[worst])) < Math.log(DIFFERS)) continue;
    const others = names.length === 2 ? `agent ${names[1 - worst]}’s` : 'the median of the others';
    return {
      code: 'W_AGENT_DIFFERS',
      message: `agent ${names[worst]}: its ${what} is ${formatRatio(ratios[worst])} of ${others}`,
      hint: 'compare the machines, and their routes to the server, before you trust the sum',
      benchmark: id,
    };
  }
  return [];
}

/** @type {[string, (agent: RoundAgent) => number | null]} */
const throughputFigure = ['throughput', ({ throughput }) => throughput];

/** @param {readonly number[]} values @param {number} i */
function without(values, i) {
  return values.filter((_, j) => j !== i);
}

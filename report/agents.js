/**
 * The load machines of a run: what each contributed to each row. Pages show it folded, a terminal
 * in one line for each row.
 */

import {
  formatCount,
  formatDuration,
  formatShare,
  formatThroughput,
  plainText,
} from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { loadName } from '../lib/load-name.js';
import { boundOf } from '../stats/bottleneck.js';
import { roundTripTo } from '../stats/fleet.js';
import { medianOfSorted } from '../stats/percentile.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/result.js').Round} Round */
/** @typedef {import('../lib/fleet.js').RoundAgent} RoundAgent */
/** @typedef {import('../lib/report-types.js').AgentTable} AgentTable */

const COLUMNS = Object.freeze([
  { name: 'agent', align: /** @type {const} */ ('left') },
  ...['ops/s', 'p50', 'p99', 'start', 'client CPU', 'late', 'dropped', 'network'].map((name) => ({
    name,
    align: /** @type {const} */ ('right'),
  })),
  { name: 'bottleneck', align: /** @type {const} */ ('left') },
]);

/**
 * @typedef {object} Contribution of one agent to a row
 * @property {string} agent
 * @property {number} throughput median of the rounds
 * @property {number | null} p50Ns
 * @property {number | null} p99Ns
 * @property {number} lateNs greatest delay of a start
 * @property {number | null} clientShare of a processor, of each of its processes
 * @property {number | null} late share of its operations; null: a closed loop
 * @property {number | null} dropped
 * @property {string | null} bottleneck null: unknown
 * @property {number | null} networkNs round trip to the server
 */

/**
 * @param {Result} result
 * @returns {[string, string][]} for the head of a report: who they were, and their clocks
 */
export function agentHead({ fleet }) {
  if (fleet === undefined) return [];
  const { agents } = fleet;
  const names = agents.map(({ name, host, cores }) => `${name} on ${host} (${cores} cores)`);
  const error = Math.max(...agents.map(({ clock }) => clock.roundTripNs / 2));
  const drifts = agents.flatMap(({ clock }) => clock.driftNs ?? []);
  const drift = Math.max(0, ...drifts.map(Math.abs));
  const clocks = `clocks known to ± ${formatDuration(error)}, drift ${formatDuration(drift)}`;
  return [['agents', plainText(`${names.join(', ')}; ${clocks}`)]];
}

/**
 * @param {Result} result
 * @returns {AgentTable[]} for each benchmark that agents took part in
 */
export function agentTables(result) {
  return result.benchmarks.flatMap((source) => {
    const all = contributionsTo(source, result);
    if (all.length === 0) return [];
    const title = `${labelOf(source)}, ${loadName(source.load)}: ${formatCount(all.length)} agents`;
    return [{ title: plainText(title), columns: [...COLUMNS], rows: all.map(textsOf) }];
  });
}

/**
 * @param {Result} result
 * @returns {string[]} one line for each row, for a terminal
 */
export function agentLines(result) {
  return result.benchmarks.flatMap((source) => {
    const all = contributionsTo(source, result);
    if (all.length === 0) return [];
    const parts = all.map(({ agent, throughput, p99Ns, bottleneck, late }) => {
      const bound = bottleneck ?? (late === null ? null : `${formatShare(late)} late`);
      const tail = [p99Ns === null ? null : `p99 ${formatDuration(p99Ns)}`, bound];
      return [`${agent} ${formatThroughput(throughput)} ops/s`, ...tail.filter(Boolean)].join(', ');
    });
    return [
      plainText(`agents of ${labelOf(source)}, ${loadName(source.load)}: ${parts.join('; ')}`),
    ];
  });
}

/**
 * @param {Benchmark} source
 * @param {Result} result
 * @returns {Contribution[]} by agent, in the order of their shares
 */
function contributionsTo(source, result) {
  const measured = source.rounds.filter(({ state }) => state === 'measured');
  // Where every round is invalid, these figures may say why.
  const rounds = measured.length > 0 ? measured : source.rounds;
  const names = [...new Set(rounds.flatMap(({ agents = [] }) => agents.map((one) => one.agent)))];
  return names.map((name) => {
    const own = rounds.flatMap(({ agents = [], server }) =>
      agents.filter(({ agent }) => agent === name).map((one) => ({ ...one, server })),
    );
    return {
      agent: name,
      ...figuresOf(own, source, result),
      networkNs: roundTripTo(source, result, name),
    };
  });
}

/**
 * @param {readonly (RoundAgent & Pick<Round, 'server'>)[]} own rounds of one agent
 * @param {Benchmark} source
 * @param {Result} result
 * @returns {Omit<Contribution, 'agent' | 'networkNs'>}
 */
function figuresOf(own, { load }, { fleet }) {
  const scheduled = sum(own, (one) => one.scheduled) ?? 0;
  const share = (/** @type {number | null} */ count) =>
    count === null || scheduled === 0 ? null : count / scheduled;
  const cores = fleet?.agents.find(({ name }) => name === own[0].agent)?.cores;
  const bound = boundOf({
    durationNs: sum(own, (one) => one.durationNs) ?? 0,
    clientCpuNs: sum(own, (one) => one.clientCpuNs),
    serverCpuNs: sum(own, ({ server }) => server?.cpuNs ?? null),
    serverThreadNs: sum(own, ({ server }) => server?.threadNsMax ?? null),
    ...(cores !== undefined && { cores }),
    processes: own[0].processes,
  });
  // In an open loop the client spends the time between arrivals waiting for the next one.
  const isOpen = load.kind === 'rate';
  return {
    throughput: median(own.map((one) => one.throughput)) ?? 0,
    p50Ns: median(own.flatMap(({ latency }) => latency?.p50Ns ?? [])),
    p99Ns: median(own.flatMap(({ latency }) => latency?.p99Ns ?? [])),
    lateNs: Math.max(...own.map((one) => one.lateNs)),
    clientShare: isOpen ? null : bound.clientShare,
    late: isOpen ? share(sum(own, ({ open }) => open?.late ?? null)) : null,
    dropped: isOpen ? share(sum(own, ({ open }) => open?.dropped ?? null)) : null,
    bottleneck: isOpen ? null : bound.verdict,
  };
}

/** @param {Contribution} one @returns {string[]} by column */
function textsOf(one) {
  const time = (/** @type {number | null} */ ns) => (ns === null ? '–' : formatDuration(ns));
  const part = (/** @type {number | null} */ share) => (share === null ? '–' : formatShare(share));
  return [
    plainText(one.agent),
    formatThroughput(one.throughput),
    time(one.p50Ns),
    time(one.p99Ns),
    `+${formatDuration(Math.max(0, one.lateNs))}`,
    part(one.clientShare),
    part(one.late),
    part(one.dropped),
    time(one.networkNs),
    one.bottleneck ?? '–',
  ];
}

/**
 * @template T
 * @param {readonly T[]} all
 * @param {(one: T) => number | null} of
 * @returns {number | null} null where one is not known
 */
function sum(all, of) {
  let total = 0;
  for (const one of all) {
    const value = of(one);
    if (value === null) return null;
    total += value;
  }
  return total;
}

/** @param {readonly number[]} values */
function median(values) {
  return values.length === 0 ? null : medianOfSorted(Float64Array.from(values).sort());
}

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
import { bottleneckOf } from '../stats/bottleneck.js';
import { roundTripTo } from '../stats/fleet.js';
import { medianOf, metric } from '../stats/metrics.js';
import { sumOf } from './analysis/groups.js';
import { tableOfItems } from './model.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/result.js').Round} Round */
/** @typedef {import('../lib/fleet.js').RoundAgent} RoundAgent */

/** @typedef {import('../lib/report-types.js').Table} Table */

/** @type {Parameters<typeof tableOfItems>[1]} */
const CONTRIBUTION = {
  row: [{ key: 'agent', name: 'agent' }],
  metrics: [
    metric({ key: 'throughput', name: 'ops/s', unit: 'ops/s' }, (one) => one.throughput),
    metric({ key: 'p50', name: 'p50', unit: 'ns' }, (one) => one.p50Ns),
    metric({ key: 'p99', name: 'p99', unit: 'ns' }, (one) => one.p99Ns),
    metric({ key: 'start', name: 'start', unit: 'ns', signed: true }, (one) =>
      Math.max(0, one.lateNs),
    ),
    share('client CPU', (one) => one.clientShare),
    share('late', (one) => one.late),
    share('dropped', (one) => one.dropped),
    metric({ key: 'network', name: 'network', unit: 'ns' }, (one) => one.networkNs),
    metric(
      { key: 'bottleneck', name: 'bottleneck', unit: 'text', align: 'left' },
      (one) => one.bottleneck,
    ),
  ],
};

/**
 * @param {string} name
 * @param {(one: Contribution) => number | null} of
 */
function share(name, of) {
  return metric({ key: name, name, unit: 'text' }, (one) => {
    const value = of(one);
    return value === null ? null : formatShare(value);
  });
}

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
 * @returns {Table[]} for each benchmark that agents took part in
 */
export function agentTables(result) {
  return result.benchmarks.flatMap((source) => {
    const all = contributionsTo(source, result);
    if (all.length === 0) return [];
    const title = `${labelOf(source)}, ${loadName(source.load)}: ${formatCount(all.length)} agents`;
    return [tableOfItems(plainText(title), CONTRIBUTION, all)];
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
  const scheduled = sumOf(own, (one) => one.scheduled) ?? 0;
  const share = (/** @type {number | null} */ count) =>
    count === null || scheduled === 0 ? null : count / scheduled;
  const cores = fleet?.agents.find(({ name }) => name === own[0].agent)?.cores;
  const bound = bottleneckOf({
    cpu: {
      durationNs: sumOf(own, (one) => one.durationNs) ?? 0,
      clientCpuNs: sumOf(own, (one) => one.clientCpuNs),
      serverCpuNs: sumOf(own, ({ server }) => server?.cpuNs ?? null),
      serverThreadNs: sumOf(own, ({ server }) => server?.threadNsMax ?? null),
      ...(cores !== undefined && { cores }),
      processes: own[0].processes,
    },
  });
  // In an open loop the client spends the time between arrivals waiting for the next one.
  const isOpen = load.kind === 'rate';
  return {
    throughput: medianOf(own.map((one) => one.throughput)) ?? 0,
    p50Ns: medianOf(own.flatMap(({ latency }) => latency?.p50Ns ?? [])),
    p99Ns: medianOf(own.flatMap(({ latency }) => latency?.p99Ns ?? [])),
    lateNs: Math.max(...own.map((one) => one.lateNs)),
    clientShare: isOpen ? null : bound.clientShare,
    late: isOpen ? share(sumOf(own, ({ open }) => open?.late ?? null)) : null,
    dropped: isOpen ? share(sumOf(own, ({ open }) => open?.dropped ?? null)) : null,
    bottleneck: isOpen ? null : bound.verdict,
  };
}

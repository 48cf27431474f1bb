/**
 * The load machines of a run: the contribution of each to each row. Folded on pages, one line per
 * row on a terminal.
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
 * @typedef {object} Contribution contribution of one agent to a row
 * @property {string} agent
 * @property {number} throughput median of the rounds
 * @property {number | null} p50Ns
 * @property {number | null} p99Ns
 * @property {number} lateNs maximum delay of a start
 * @property {number | null} clientShare utilisation of a processor per process
 * @property {number | null} late fraction of its operations; null: a closed loop
 * @property {number | null} dropped
 * @property {string | null} bottleneck null: unknown
 * @property {number | null} networkNs round trip to the server
 */

/**
 * @param {Result} result
 * @returns {[string, string][]} agents and their clocks, for the head of a report
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
 * @returns {Table[]} per benchmark with agents
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
 * @returns {string[]} one line per row, for a terminal
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
  // If every round is invalid, these figures may explain it.
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
 * @param {readonly (RoundAgent & Pick<Round, 'server'>)[]} figures rounds of one agent
 * @param {Benchmark} source
 * @param {Result} result
 * @returns {Omit<Contribution, 'agent' | 'networkNs'>}
 */
function figuresOf(figures, { load }, { fleet }) {
  const scheduled = sumOf(figures, (one) => one.scheduled) ?? 0;
  const share = (/** @type {number | null} */ count) =>
    count === null || scheduled === 0 ? null : count / scheduled;
  const cores = fleet?.agents.find(({ name }) => name === figures[0].agent)?.cores;
  const bound = bottleneckOf({
    cpu: {
      durationNs: sumOf(figures, (one) => one.durationNs) ?? 0,
      clientCpuNs: sumOf(figures, (one) => one.clientCpuNs),
      serverCpuNs: sumOf(figures, ({ server }) => server?.cpuNs ?? null),
      serverThreadNs: sumOf(figures, ({ server }) => server?.threadNsMax ?? null),
      ...(cores !== undefined && { cores }),
      processes: figures[0].processes,
    },
  });
  // In an open loop the client also waits for the next arrival.
  const isOpen = load.kind === 'rate';
  return {
    throughput: medianOf(figures.map((one) => one.throughput)) ?? 0,
    p50Ns: medianOf(figures.flatMap(({ latency }) => latency?.p50Ns ?? [])),
    p99Ns: medianOf(figures.flatMap(({ latency }) => latency?.p99Ns ?? [])),
    lateNs: Math.max(...figures.map((one) => one.lateNs)),
    clientShare: isOpen ? null : bound.clientShare,
    late: isOpen ? share(sumOf(figures, ({ open }) => open?.late ?? null)) : null,
    dropped: isOpen ? share(sumOf(figures, ({ open }) => open?.dropped ?? null)) : null,
    bottleneck: isOpen ? null : bound.verdict,
  };
}

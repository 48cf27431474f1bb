/**
 * What came of one benchmark on all agents: one record, as if one process had done it, and what
 * each agent contributed. Pure. Histograms are added bucket by bucket, so that percentiles are
 * those of the union and not means of percentiles.
 */

import { DROPPED_SHARE_MAX, LATE_SHARE_MAX } from '../engine/openloop.js';
import { toLatency } from '../engine/round.js';
import { mergeRecords } from '../engine/share.js';
import { OK, OUTCOMES } from '../lib/outcome.js';
import { SECOND_NS } from '../load/seconds-recorder.js';
import { Histogram } from '../measure/histogram.js';

/** @typedef {import('../engine/record.js').BenchmarkRecord} BenchmarkRecord */
/** @typedef {import('../engine/executor.js').Execution} Execution */
/** @typedef {import('../lib/fleet.js').RoundAgent} RoundAgent */

/** An agent that begins later than this makes a round invalid. */
export const LATE_MAX_NS = 50e6;
/** Later than this is a warning. */
export const LATE_WARNING_NS = 10e6;
const DROPPED = OUTCOMES.indexOf('dropped');
const UNSENT = OUTCOMES.indexOf('unsent');

/**
 * @typedef {object} Contribution
 * @property {string} agent
 * @property {BenchmarkRecord[]} records of its processes, by p
 * @property {number} offsetNs coordinator's time minus its monotonic clock
 */

/**
 * @param {readonly Contribution[]} contributions by seat
 * @param {{ atNs: number }} start the common one, on the coordinator's clock
 * @returns {Promise<Execution>}
 */
export async function mergeContributions(contributions, { atNs }) {
  const all = contributions.map(({ records, offsetNs, agent }) => ({
    agent,
    records: records.map((record) => onCommonClock(record, offsetNs)),
  }));
  const processes = Math.max(...all.map(({ records }) => records.length));
  // Share a + N · p is process p of agent a.
  const byShare = Array.from({ length: processes }, (_, p) => all.map(({ records }) => records[p]));
  const merged = mergeRecords(byShare.flat());
  const agents = await Promise.all(all.map((one) => contributionOf(one, atNs)));
  const record = { ...merged, agents };
  const failure = merged.state === 'measured' ? invalidityOf(agents, merged) : null;
  return {
    record: failure === null ? record : { ...record, state: 'failed', failure },
    failure: null,
    processNs: null,
  };
}

/**
 * @param {BenchmarkRecord} record
 * @param {number} offsetNs
 * @returns {BenchmarkRecord}
 */
function onCommonClock(record, offsetNs) {
  const move = (/** @type {number | null} */ ns) => (ns === null ? null : ns + offsetNs);
  return { ...record, startedNs: move(record.startedNs), endedNs: move(record.endedNs) };
}

/**
 * @param {{ agent: string, records: BenchmarkRecord[] }} one
 * @param {number} atNs
 * @returns {Promise<RoundAgent>}
 */
async function contributionOf({ agent, records }, atNs) {
  // Seconds are merged once, of all agents.
  const own = mergeRecords(records.map(({ seconds: _all, ...record }) => record));
  const started = records.flatMap(({ startedNs }) => startedNs ?? []);
  const { client, durationNs, open } = own;
  const ok = own.outcomes[OK];
  return {
    agent,
    scheduled: own.scheduled,
    ok,
    durationNs,
    throughput: durationNs > 0 ? (ok / durationNs) * 1e9 : 0,
    latency: own.latency === null ? null : await toLatency(Histogram.fromSparse(own.latency)),
    lateNs: started.length === 0 ? 0 : Math.max(...started) - atNs,
    processes: records.length,
    clientCpuNs: client === null ? null : client.userNs + client.systemNs,
    open: open && { dropped: open.dropped, late: open.late, lateNsMax: open.lateNsMax },
  };
}

/**
 * The load was another than the one that was asked for where one agent began late, could not send
 * in time, or had to drop arrivals: the others do not make up for it.
 * @param {readonly RoundAgent[]} agents
 * @param {BenchmarkRecord} merged
 * @returns {{ code: string, message: string } | null} the worst
 */
function invalidityOf(agents, merged) {
  const found = agents.flatMap(faultsOf).sort((a, b) => b.excess - a.excess);
  if (found.length > 0) {
    const [{ code, message }] = found;
    return { code, message: `${message}: the round is invalid` };
  }
  const sum = agents.reduce((total, { scheduled }) => total + scheduled, 0);
  const isWhole = sum === merged.scheduled && (merged.latency?.count ?? 0) === merged.outcomes[OK];
  if (isWhole) return null;
  return { code: 'E_MERGE', message: 'the sums of the agents are not those of the round' };
}

/**
 * @param {RoundAgent} one
 * @returns {{ code: string, message: string, excess: number }[]} excess: times its bound
 */
function faultsOf({ agent, lateNs, open, scheduled }) {
  const { dropped = 0, late = 0 } = open ?? {};
  const all = [
    {
      code: 'E_AGENT_LATE',
      message: `agent ${agent} began ${ms(lateNs)} after the common start`,
      excess: lateNs / LATE_MAX_NS,
    },
    {
      code: 'E_AGENT_FULL',
      message: `agent ${agent} dropped ${dropped} of ${scheduled} arrivals`,
      excess: dropped / (scheduled * DROPPED_SHARE_MAX),
    },
    {
      code: 'E_AGENT_LATE',
      message: `agent ${agent} sent ${late} of ${scheduled} operations too late`,
      excess: late / (scheduled * LATE_SHARE_MAX),
    },
  ];
  return all.filter(({ excess }) => excess > 1);
}

/** @param {number} ns */
function ms(ns) {
  return `${Math.round(ns / 1e6)} ms`;
}

/**
 * Of a round that lost an agent: the seconds in which all were there, of those that are left. What
 * the lost one did in them is not known, so the throughput is that of the others under a load of
 * all.
 * @param {readonly Contribution[]} contributions of the others
 * @param {{ atNs: number, aliveNs: number }} times aliveNs: until when the lost one was heard of
 * @returns {Contribution[] | null} null: not a whole second
 */
export function truncate(contributions, { atNs, aliveNs }) {
  const seconds = Math.floor((aliveNs - atNs) / SECOND_NS);
  if (seconds < 1) return null;
  return contributions.map((one) => ({
    ...one,
    records: one.records.map((record) => firstSeconds(record, seconds)),
  }));
}

/**
 * @param {BenchmarkRecord} record
 * @param {number} count
 * @returns {BenchmarkRecord}
 */
function firstSeconds(record, count) {
  const seconds = (record.seconds ?? []).slice(0, count);
  const latency = new Histogram();
  for (const second of seconds) latency.mergeSparse(second);
  // Other outcomes have no time: all of them are kept, and what was not sent was never due.
  const outcomes = record.outcomes.map((n, code) =>
    code === OK ? latency.count : code === UNSENT ? 0 : n,
  );
  const scheduled = outcomes.reduce((sum, n) => sum + n, 0);
  const durationNs = seconds.length * SECOND_NS;
  const { open, timeline } = record;
  return {
    ...record,
    state: 'measured',
    failure: null,
    ...{ scheduled, outcomes, seconds, durationNs },
    endedNs: record.startedNs === null ? null : record.startedNs + durationNs,
    latency: latency.count === 0 ? null : latency.toMessage(),
    kinds: null,
    open: open && {
      ...open,
      offered: scheduled,
      sent: scheduled - outcomes[DROPPED],
      completed: scheduled - outcomes[DROPPED],
      service: null,
    },
    // Processors were read at both ends of the measurement only.
    client: null,
    server: null,
    serverSpanNs: null,
    timeline: {
      ...timeline,
      operations: timeline.operations.slice(0, Math.floor(durationNs / (timeline.windowNs || 1))),
    },
  };
}

/** @returns {Execution} of a benchmark that did not begin */
export function aborted() {
  const failure = { code: 'E_ABORTED', message: 'an agent was lost before' };
  return { record: null, failure, processNs: null };
}

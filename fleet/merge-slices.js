/**
 * What came of a round of slices on all agents: the slices of all contenders as if one machine had
 * run them. In the window of a slice, which is the same for all, throughputs are added; histograms
 * are added bucket by bucket. A slice that one agent began too late, or before the reply of the one
 * before had come everywhere, is none. Pure.
 */

import { toLatency } from '../engine/round.js';
import { mergeCompared } from '../engine/share.js';
import { OK, OUTCOMES } from '../lib/outcome.js';
import { SAMPLES_MAX } from '../load/recorder.js';
import { Histogram } from '../measure/histogram.js';
import { LATE_MAX_NS, LATE_WARNING_NS } from './merge.js';

/** @typedef {import('../engine/slices/round.js').ContenderRound} ContenderRound */
/** @typedef {import('../engine/slices/round.js').Slice} Slice */
/** @typedef {import('../engine/slices/storage-contender.js').SeriesRecord} SeriesRecord */
/** @typedef {import('../engine/slices/timed-process.js').TimedRecord} TimedRecord */
/** @typedef {import('../engine/slices/timed-round.js').TimedContender} TimedContender */
/** @typedef {import('../engine/slices/timetable.js').Slot} Slot */

/**
 * @typedef {object} SlicesOfAgent
 * @property {string} agent
 * @property {number} offsetNs coordinator's time minus its monotonic clock
 * @property {(TimedContender | null)[]} contenders null: it did not run there
 */

/**
 * @param {readonly SlicesOfAgent[]} all by seat
 * @param {{ slots: readonly Slot[], loads: number, blocks: number, entrants: number,
 *   startNs: number, sliceNs: number, windowNs: number }} plan startNs: of the round, on the
 *   coordinator's clock; windowNs: in which operations of a slice are counted
 * @returns {Promise<{ contenders: ContenderRound[], overrunNs: number }>} overrunNs: how long after
 *   the end of a slice the last reply came, in nine of ten slices
 */
export async function mergeSlices(all, plan) {
  const { slots, loads, blocks, startNs, sliceNs } = plan;
  const moved = all.map((one) => ({
    ...one,
    contenders: one.contenders.map(moveBy(one.offsetNs)),
  }));
  const ends = slots.map((slot, i) =>
    Math.max(0, ...recordsOf(moved, slot.entrant, i).map(({ endNs }) => endNs)),
  );
  /** @type {ContenderRound[]} */
  const contenders = [];
  for (let entrant = 0; entrant < plan.entrants; entrant += 1) {
    const parts = moved.flatMap(({ agent, contenders: own }) => {
      const made = own[entrant];
      return made === null ? [] : [{ agent, ...made }];
    });
    /** @type {(Slice | null)[][]} */
    const slices = Array.from({ length: loads }, () => Array(blocks).fill(null));
    for (const [i, slot] of slots.entries()) {
      if (slot.entrant !== entrant || slot.lead) continue;
      const records = recordsOf(moved, entrant, i);
      if (records.length < parts.length || records.length === 0) continue;
      const beganBefore = i > 0 && startNs + slot.atNs < ends[i - 1];
      slices[slot.load][slot.block] = mergeSlice(records, plan.windowNs, beganBefore);
    }
    contenders.push(await mergeContender(parts, slices, { ...plan, ends, entrant }));
  }
  const overruns = slots.map(({ atNs }, i) => ends[i] - (startNs + atNs + sliceNs));
  overruns.sort((a, b) => a - b);
  return { contenders, overrunNs: Math.max(0, overruns[Math.floor(0.9 * overruns.length)] ?? 0) };
}

/** @param {number} offsetNs @returns {(one: TimedContender | null) => TimedContender | null} */
function moveBy(offsetNs) {
  return (one) =>
    one && {
      ...one,
      records: one.records.map((record) => ({
        ...record,
        startNs: record.startNs + offsetNs,
        endNs: record.endNs + offsetNs,
      })),
    };
}

/**
 * @param {readonly SlicesOfAgent[]} all
 * @param {number} entrant
 * @param {number} slot
 * @returns {TimedRecord[]} of all agents
 */
function recordsOf(all, entrant, slot) {
  return all.flatMap(({ contenders }) => {
    const record = contenders[entrant]?.records.find((one) => one.slot === slot);
    return record === undefined ? [] : [record];
  });
}

/**
 * @param {readonly TimedRecord[]} records of one slice on all agents
 * @param {number} windowNs
 * @param {boolean} beganBefore the slice before it had ended
 * @returns {Slice}
 */
function mergeSlice(records, windowNs, beganBefore) {
  const sum = (/** @type {(one: TimedRecord) => number | null} */ of) =>
    records.reduce((/** @type {number | null} */ total, one) => {
      const value = of(one);
      return total === null || value === null ? null : total + value;
    }, 0);
  const operations = Number(sum((one) => one.operations));
  const mean = (/** @type {(one: TimedRecord) => number} */ of) =>
    Number(sum((one) => of(one) * one.operations)) / operations;
  const perNs = Number(sum(({ spanOperations, spanNs }) => spanOperations / spanNs));
  const isInTime = records.every(({ lateNs }) => lateNs <= LATE_MAX_NS);
  return {
    startNs: Math.min(...records.map(({ startNs }) => startNs)),
    endNs: Math.max(...records.map(({ endNs }) => endNs)),
    ...{ spanNs: windowNs, spanOperations: perNs * windowNs, operations },
    medianNs: medianOf(records) ?? mean(({ medianNs }) => medianNs),
    cappedNs: mean(({ cappedNs }) => cappedNs),
    valid: isInTime && !beganBefore && records.every(({ valid }) => valid),
    ...{ cpuNs: sum(({ cpuNs }) => cpuNs), runNs: sum(({ runNs }) => runNs) },
    waitNs: sum(({ waitNs }) => waitNs),
    // Each agent on the server's machine has read the same counters.
    serverCpuNs: greatestOf(records.map(({ serverCpuNs }) => serverCpuNs)),
    serverWaitNs: greatestOf(records.map(({ serverWaitNs }) => serverWaitNs)),
    gapNs: 0,
  };
}

/** @param {readonly TimedRecord[]} records @returns {number | null} of the latencies of all */
function medianOf(records) {
  const known = records.flatMap(({ latency }) => latency ?? []);
  return known.length < records.length ? null : (add(known)?.percentile(0.5) ?? null);
}

/** @param {readonly (number | null)[]} values */
function greatestOf(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}

/** @param {readonly (import('../engine/record.js').HistogramMessage | null)[]} messages */
function add(messages) {
  const known = messages.filter((message) => message !== null);
  if (known.length === 0) return null;
  const merged = new Histogram();
  for (const message of known) merged.mergeSparse(message);
  return merged;
}

/**
 * @param {readonly (TimedContender & { agent: string })[]} parts
 * @param {(Slice | null)[][]} slices
 * @param {{ slots: readonly Slot[], loads: number, sliceNs: number, startNs: number,
 *   entrant: number, ends: readonly number[] }} plan
 * @returns {Promise<ContenderRound>}
 */
async function mergeContender(parts, slices, plan) {
  const failed = parts.find(({ failure }) => failure !== null);
  const failure = failed?.failure
    ? { ...failed.failure, message: `agent ${failed.agent}: ${failed.failure.message}` }
    : lateFailure(parts, slices);
  const byLoad = Array.from({ length: plan.loads }, (_, load) => load);
  if (failed !== undefined) return { slices, series: [], warmNs: [], failure };
  return {
    ...{ slices, failure },
    warmNs: byLoad.map((load) => Math.max(...parts.map(({ warmNs }) => warmNs[load] ?? 0))),
    series: byLoad.map((load) => mergeSeries(parts.map(({ series }) => series[load]))),
    occupancy: byLoad.map((load) => ({
      client: greatestOf(parts.map(({ occupancy }) => occupancy[load]?.client ?? null)),
      server: greatestOf(parts.map(({ occupancy }) => occupancy[load]?.server ?? null)),
    })),
    servers: byLoad.map((load) => {
      const cpuNs = slices[load].reduce((ns, slice) => ns + (slice?.serverCpuNs ?? 0), 0);
      return cpuNs > 0 ? { cpuNs } : null;
    }),
    agents: await Promise.all(
      byLoad.map((load) => Promise.all(parts.map((part) => agentOf(part, load, plan)))),
    ),
  };
}

/**
 * Without one slice that all began in time there is no figure of this round.
 * @param {readonly (TimedContender & { agent: string })[]} parts
 * @param {(Slice | null)[][]} slices
 * @returns {ContenderRound['failure']}
 */
function lateFailure(parts, slices) {
  const measured = slices.filter((own) => own.some((slice) => slice !== null));
  if (measured.every((own) => own.some((slice) => slice?.valid))) return null;
  // Operations that failed say more.
  if (parts.some(({ records }) => records.some(({ valid }) => !valid))) return null;
  const worst = (/** @type {TimedContender} */ { records }) =>
    Math.max(0, ...records.map(({ lateNs }) => lateNs));
  const [first] = [...parts].sort((a, b) => worst(b) - worst(a));
  const ms = Math.round(worst(first) / 1e6);
  const message = `agent ${first.agent} began slices up to ${ms} ms late: the round is invalid`;
  return { code: 'E_AGENT_LATE', message };
}

/**
 * @param {readonly SeriesRecord[]} all of one load on all agents
 * @returns {SeriesRecord}
 */
function mergeSeries(all) {
  const [first] = all;
  const sum = (/** @type {(one: SeriesRecord) => number} */ of) =>
    all.reduce((total, one) => total + of(one), 0);
  const names = first.kinds?.map(({ name }) => name);
  const durationNs = Math.max(...all.map((one) => one.durationNs));
  return {
    scheduled: sum(({ scheduled }) => scheduled),
    outcomes: OUTCOMES.map((_, code) => sum(({ outcomes }) => outcomes[code])),
    samples: all
      .flatMap(({ samples }, a) =>
        samples.map((one) => ({ ...one, operation: one.operation * all.length + a })),
      )
      .slice(0, SAMPLES_MAX),
    durationNs,
    // By the same time as the throughput, so that Little's law can check both.
    inFlightMean: durationNs > 0 ? sum((one) => one.inFlightMean * one.durationNs) / durationNs : 0,
    ...(first.inFlightSteady !== undefined && {
      inFlightSteady: sum(({ inFlightSteady, inFlightMean }) => inFlightSteady ?? inFlightMean),
    }),
    latency: add(all.map(({ latency }) => latency))?.toMessage() ?? null,
    ...(first.cpu && {
      cpu: {
        userNs: sum(({ cpu }) => cpu?.userNs ?? 0),
        systemNs: sum(({ cpu }) => cpu?.systemNs ?? 0),
      },
    }),
    ...(first.compared && { compared: mergeCompared(all) }),
    ...(first.poolWait !== undefined && {
      poolWait: add(all.map(({ poolWait = null }) => poolWait))?.toMessage() ?? null,
    }),
    ...(names && {
      kinds: names.map((name, i) => {
        const own = add(all.map(({ kinds }) => kinds?.[i]?.latency ?? null));
        return { name, latency: own?.toMessage() ?? null };
      }),
    }),
    rssBytes: Math.max(...all.map(({ rssBytes }) => rssBytes ?? 0)),
  };
}

/**
 * @param {TimedContender & { agent: string }} part
 * @param {number} load
 * @param {{ slots: readonly Slot[], startNs: number, sliceNs: number,
 *   ends: readonly number[] }} plan
 * @returns {Promise<import('../lib/fleet.js').RoundAgent>}
 */
async function agentOf({ agent, records, series }, load, { slots, startNs, sliceNs, ends }) {
  const own = records.filter(({ slot }) => slots[slot].load === load && !slots[slot].lead);
  const counted = own.filter(({ valid }) => valid);
  const spanNs = counted.reduce((sum, one) => sum + one.spanNs, 0);
  const operations = counted.reduce((sum, one) => sum + one.spanOperations, 0);
  const { scheduled, outcomes, durationNs, latency, cpu } = series[load];
  const isInvalid = (/** @type {TimedRecord} */ { slot, lateNs }) =>
    lateNs > LATE_MAX_NS || (slot > 0 && startNs + slots[slot].atNs < ends[slot - 1]);
  return {
    agent,
    scheduled,
    ok: outcomes[OK],
    durationNs,
    throughput: spanNs > 0 ? (operations / spanNs) * 1e9 : 0,
    latency: latency === null ? null : await toLatency(Histogram.fromSparse(latency)),
    lateNs: Math.max(0, ...own.map(({ lateNs }) => lateNs)),
    slices: {
      ns: sliceNs,
      count: own.length,
      late: own.filter(({ lateNs }) => lateNs > LATE_WARNING_NS).length,
      invalid: own.filter(isInvalid).length,
    },
    processes: 1,
    clientCpuNs: cpu === undefined ? null : cpu.userNs + cpu.systemNs,
    open: null,
  };
}

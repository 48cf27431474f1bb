/**
 * Merges the measurements of all agents into one seat per contender. engine/segment.js merges the
 * figures; this module handles the common clock, the bounds of lateness, and the figures of each
 * agent. Pure.
 */

import { DROPPED_SHARE_MAX, LATE_SHARE_MAX } from '../../engine/openloop.js';
import { Seat } from '../../engine/seat.js';
import {
  clientCpuNs,
  emptySegment,
  lengthOf,
  merge,
  parallel,
  spanOfValid,
} from '../../engine/segment.js';
import { latencyOf } from '../../engine/to-round.js';
import { OK, OUTCOMES } from '../../lib/outcome.js';
import { SECOND_NS } from '../../load/seconds-recorder.js';

/** @typedef {import('../../engine/segment.js').Segment} Segment */
/** @typedef {import('../../engine/segment.js').Failure} Failure */
/** @typedef {import('../../engine/schedule/timed.js').Slot} Slot */
/** @typedef {import('../../engine/roles.js').Contender} Contender */
/** @typedef {import('../../lib/fleet.js').RoundAgent} RoundAgent */
/** @typedef {import('./upload.js').UploadedSeat} UploadedSeat */
/** @typedef {UploadedSeat & { agent: string }} Part a seat's part on the common clock */

/** A segment is invalid if an agent starts later than this. */
export const LATE_MAX_NS = 50e6;
/** A later start causes a warning. */
export const LATE_WARNING_NS = 10e6;
const DROPPED = OUTCOMES.indexOf('dropped');
const UNSENT = OUTCOMES.indexOf('unsent');

/**
 * @typedef {object} Contribution
 * @property {string} agent
 * @property {number} offsetNs coordinator's time minus the agent's monotonic clock
 * @property {(UploadedSeat | null)[]} seats by contender; null: it ran on a different machine
 */

/** @param {Segment} segment @param {number} offsetNs @returns {Segment} */
function onCommonClock(segment, offsetNs) {
  const move = (/** @type {Segment['wall']} */ intervals) =>
    intervals.map(([from, to]) => /** @type {const} */ ([from + offsetNs, to + offsetNs]));
  return /** @type {any} */ ({
    ...segment,
    wall: move(segment.wall),
    steady: move(segment.steady),
  });
}

/**
 * @param {readonly Contribution[]} contributions
 * @param {number} contender
 * @param {number} startNs start of the round on the coordinator's clock
 * @returns {Part[]} with times after the start
 */
function partsOf(contributions, contender, startNs) {
  return contributions.flatMap(({ agent, offsetNs, seats }) => {
    const own = seats[contender];
    if (own === null) return [];
    const move = (/** @type {Segment} */ one) => onCommonClock(one, Math.round(offsetNs - startNs));
    const segments = own.segments.map((all) => all.map((one) => one && move(one)));
    return [{ ...own, agent, segments, leads: own.leads.map((all) => all.map(move)) }];
  });
}

/**
 * @param {Contender} contender
 * @param {readonly Part[]} parts
 * @param {Failure | null} failure
 * @returns {Seat} without the segments
 */
export function seatOf({ name, spec }, parts, failure) {
  const seat = new Seat({ name, spec }, () => {
    throw new Error('agents start the processes');
  });
  seat.failure = failure;
  for (const [load] of spec.tasks.entries()) {
    seat.leads[load] = parts.flatMap(({ leads }) => leads[load]);
    seat.kept[load] = parts.flatMap(({ kept }) => kept[load]);
  }
  seat.processRecords = parts.flatMap(({ processRecords }) => processRecords);
  return seat;
}

/**
 * @param {readonly Contribution[]} contributions by agent
 * @param {{ contender: Contender, failure: Failure | null, atNs: number }} about one contender
 *   without blocks; atNs: its start on the coordinator's clock
 * @returns {Promise<Seat>}
 */
export async function mergeWhole(contributions, { contender, failure, atNs }) {
  const parts = failure === null ? partsOf(contributions, 0, atNs) : [];
  const seat = seatOf(contender, parts, failure);
  if (parts.length === 0) return seat;
  const [task] = contender.spec.tasks;
  const agents = await Promise.all(
    parts.map(async (part) => {
      const all = measuredOf(part, 0);
      const { wall, figures } = all[0] ?? emptySegment();
      return {
        ...(await figuresOf(part.agent, [...all, ...part.kept[0]])),
        // With several processes the first one defines the interval, and the last one the figures.
        lateNs: Math.max(wall[0]?.[0] ?? 0, figures?.lateNs ?? 0),
        processes: task?.load.processes ?? 1,
      };
    }),
  );
  const all = parts.flatMap((part) => measuredOf(part, 0));
  const merged = merge(all) ?? emptySegment();
  seat.segments[0] = [{ ...merged, agents, figures: parallel(all) }];
  seat.failure = merged.state === 'measured' ? invalidityOf(agents, seat) : null;
  return seat;
}

/** @param {Part} part @param {number} load @returns {Segment[]} present segments */
function measuredOf({ segments }, load) {
  return segments[load].flatMap((one) => one ?? []);
}

/**
 * @param {string} agent
 * @param {readonly Segment[]} segments
 * @returns {Promise<RoundAgent>}
 */
async function figuresOf(agent, segments) {
  const merged = merge(segments) ?? emptySegment();
  const { scheduled, outcomes, wall, histograms, open } = merged;
  const durationNs = lengthOf(wall);
  const { dropped = 0, late = 0, lateNsMax = 0 } = /** @type {Record<string, any>} */ (open ?? {});
  return {
    agent,
    scheduled,
    ok: outcomes[OK],
    durationNs,
    throughput: durationNs > 0 ? (outcomes[OK] / durationNs) * 1e9 : 0,
    latency: await latencyOf(histograms['latency'] ?? null),
    lateNs: 0,
    processes: 1,
    clientCpuNs: clientCpuNs(merged),
    open: open && { dropped, late, lateNsMax },
  };
}

/**
 * The load differed from the requested one if an agent started late, sent late, or dropped
 * arrivals, because the others do not compensate for it.
 * @param {readonly RoundAgent[]} agents
 * @param {Seat} seat
 * @returns {Failure | null} the worst
 */
function invalidityOf(agents, seat) {
  const faults = agents.flatMap(faultsOf).sort((a, b) => b.excess - a.excess);
  if (faults.length > 0) {
    const [{ code, message }] = faults;
    return { code, message: `${message}: the round is invalid` };
  }
  const { scheduled, outcomes, histograms } = seat.merged([0]) ?? emptySegment();
  const sum = agents.reduce((total, one) => total + one.scheduled, 0);
  const { latency } = histograms;
  // Wire loops record none.
  const isCounted = latency === undefined || (latency?.count ?? 0) === outcomes[OK];
  if (sum === scheduled && isCounted) return null;
  return { code: 'E_MERGE', message: 'the sums of the agents differ from those of the round' };
}

/**
 * @param {RoundAgent} one
 * @returns {{ code: string, message: string, excess: number }[]} excess: times its bound
 */
function faultsOf({ agent, lateNs, open, scheduled }) {
  const { dropped = 0, late = 0 } = open ?? {};
  const ms = Math.round(lateNs / 1e6);
  const all = [
    {
      code: 'E_AGENT_LATE',
      message: `agent ${agent} began ${ms} ms after the common start`,
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

/**
 * @typedef {object} Played slot of a timetable
 * @property {Slot} slot
 * @property {{ agent: string, segment: Segment | null }[]} parts null: no parts of the agent,
 *   because its process was busy or failed
 * @property {number} endNs time of the last reply; 0: none
 * @property {boolean} isBeside whether a reply of the previous slot was outstanding
 */

/**
 * @param {readonly Contribution[]} contributions by agent
 * @param {{ contenders: readonly Contender[], slots: readonly Slot[], failure: Failure | null,
 *   startNs: number, segmentNs: number }} round startNs: on the coordinator's clock
 * @returns {Promise<{ seats: Seat[], overrunNs: number }>} overrunNs: 90th percentile of the time
 *   from the end of a segment to its last reply
 */
export async function mergeBlocks(contributions, round) {
  const { contenders, slots, failure, startNs, segmentNs } = round;
  const all = failure === null ? contributions : [];
  const parts = contenders.map((_, i) => partsOf(all, i, startNs));
  const played = playedSlots(slots, parts);
  const seats = await Promise.all(
    contenders.map(async (contender, i) => {
      const slotsOfSeat = played.filter(({ slot }) => slot.seat === i);
      const failed = parts[i].find((one) => one.failure !== null);
      const seat = seatOf(contender, parts[i], failure ?? failureOf(failed));
      if (seat.failure !== null) return seat;
      for (const [load] of contender.spec.tasks.entries()) {
        const counted = slotsOfSeat.filter(({ slot }) => slot.load === load && !slot.lead);
        seat.segments[load] = segmentsOf(counted, seat.kept[load]);
        const agents = parts[i].map((part) => agentOf(part, load, counted, segmentNs));
        seat.kept[load].push({ ...emptySegment(), agents: await Promise.all(agents) });
      }
      seat.failure = lateFailure(seat, slotsOfSeat, segmentNs);
      return seat;
    }),
  );
  const overruns = played.map(({ slot, endNs }) => endNs - (slot.atNs + segmentNs));
  overruns.sort((a, b) => a - b);
  return { seats, overrunNs: Math.max(0, overruns[Math.floor(0.9 * overruns.length)] ?? 0) };
}

/** @param {Part | undefined} part @returns {Failure | null} */
function failureOf(part) {
  if (!part?.failure) return null;
  return { ...part.failure, message: `agent ${part.agent}: ${part.failure.message}` };
}

/**
 * @param {readonly Slot[]} slots
 * @param {readonly (readonly Part[])[]} parts by contender
 * @returns {Played[]}
 */
function playedSlots(slots, parts) {
  /** Number of previous ones of the same contender, load and kind. @type {Map<string, number>} */
  const counts = new Map();
  let beforeNs = 0;
  return slots.map((slot) => {
    const { seat, load, lead, atNs } = slot;
    const key = [seat, load, lead].join();
    const nth = counts.get(key) ?? 0;
    counts.set(key, nth + 1);
    const shares = parts[seat].map(({ agent, leads, segments }) => ({
      agent,
      segment: (lead ? leads : segments)[load][nth] ?? null,
    }));
    const ends = shares.flatMap(({ segment }) => segment?.wall.at(-1)?.[1] ?? []);
    const isBeside = beforeNs > atNs;
    beforeNs = Math.max(0, ...ends);
    return { slot, parts: shares, endNs: beforeNs, isBeside };
  });
}

/**
 * @param {readonly Played[]} played slots of one contender and load
 * @param {Segment[]} kept receives those of blocks that an agent has not run
 * @returns {(Segment | null)[]} by block
 */
function segmentsOf(played, kept) {
  /** @type {(Segment | null)[]} */
  const blocks = [];
  for (const { slot, parts, isBeside } of played) {
    while (blocks.length <= slot.block) blocks.push(null);
    const all = parts.flatMap(({ segment }) => segment ?? []);
    const merged = merge(all);
    if (merged === null) continue;
    if (all.length < parts.length) {
      kept.push(merged);
      continue;
    }
    const figures = parallel(all);
    const isInTime = figures.lateNs <= LATE_MAX_NS && !isBeside;
    blocks[slot.block] = { ...merged, figures: { ...figures, valid: figures.valid && isInTime } };
  }
  return blocks;
}

/**
 * @param {Part} part
 * @param {number} load
 * @param {readonly Played[]} played its counted slots
 * @param {number} ns duration of a segment
 * @returns {Promise<RoundAgent>}
 */
async function agentOf(part, load, played, ns) {
  const { agent, leads, kept } = part;
  const all = measuredOf(part, load);
  const { spanNs, operations } = spanOfValid(all);
  const late = played.map((one) => ({ ...one, lateNs: lateNsOf(one, agent, ns) }));
  return {
    ...(await figuresOf(agent, [...leads[load], ...all, ...kept[load]])),
    throughput: spanNs > 0 ? (operations / spanNs) * 1e9 : 0,
    lateNs: Math.max(0, ...late.map(({ lateNs }) => lateNs)),
    slices: {
      ns,
      count: played.length,
      late: late.filter(({ lateNs }) => lateNs > LATE_WARNING_NS).length,
      invalid: late.filter(({ lateNs, isBeside }) => lateNs > LATE_MAX_NS || isBeside).length,
    },
  };
}

/**
 * @param {Played} played
 * @param {string} agent
 * @param {number} segmentNs
 * @returns {number} time after the end of the slot; the whole length if not started in time
 */
function lateNsOf({ parts }, agent, segmentNs) {
  const own = parts.find((one) => one.agent === agent);
  return own?.segment?.figures?.lateNs ?? segmentNs;
}

/**
 * Without a segment that all agents started in time the round has no figure.
 * @param {Seat} seat
 * @param {readonly Played[]} played
 * @param {number} segmentNs
 * @returns {Failure | null}
 */
function lateFailure(seat, played, segmentNs) {
  const all = played.flatMap(({ parts }) => parts);
  // Failed or stopped operations are more informative.
  const isWhole = all.every(
    ({ segment }) =>
      segment === null ||
      (segment.state !== 'aborted' && segment.outcomes[OK] === segment.scheduled),
  );
  const loads = new Set(played.map(({ slot }) => slot.load));
  const lacks = [...loads].filter(
    (load) =>
      !seat.kept[load].some(({ refused }) => refused) &&
      !seat.segments[load].some((segment) => segment?.figures?.valid),
  );
  if (!isWhole || lacks.length === 0) return null;
  const worst = [...new Set(all.map(({ agent }) => agent))]
    .map((agent) => ({
      agent,
      lateNs: Math.max(...played.map((one) => lateNsOf(one, agent, segmentNs))),
    }))
    .reduce((a, b) => (b.lateNs > a.lateNs ? b : a));
  const ms = Math.round(worst.lateNs / 1e6);
  const message = `agent ${worst.agent} started segments up to ${ms} ms late: the round is invalid`;
  return { code: 'E_AGENT_LATE', message };
}

/**
 * Truncates a round that lost an agent to the seconds in which all agents were alive. The lost
 * agent's operations in them are unknown, so the throughput is that of the others under a load of
 * all.
 * @param {readonly Contribution[]} contributions contributions of the others to one load without
 *   blocks
 * @param {{ atNs: number, aliveNs: number }} times aliveNs: last heartbeat of the lost agent
 * @returns {Contribution[]} empty: less than a whole second
 */
export function truncate(contributions, { atNs, aliveNs }) {
  const seconds = Math.floor((aliveNs - atNs) / SECOND_NS);
  if (seconds < 1) return [];
  return contributions.map((one) => ({
    ...one,
    seats: one.seats.map(
      (seat) =>
        seat && {
          ...seat,
          failure: null,
          segments: seat.segments.map((all) => all.map((own) => own && firstSeconds(own, seconds))),
        },
    ),
  }));
}

/** @param {Segment} segment @param {number} count @returns {Segment} */
function firstSeconds(segment, count) {
  const { figures, outcomes, wall, open, timeline, inFlightAreaNs } = segment;
  const seconds = Object.entries(segment.histograms).filter(
    ([name]) => name.startsWith('second ') && Number(name.slice('second '.length)) < count,
  );
  const sum = merge(seconds.map(([, latency]) => ({ ...emptySegment(), histograms: { latency } })));
  const latency = sum?.histograms['latency'] ?? null;
  const ok = latency?.count ?? 0;
  // Other outcomes have no time, so all are kept; unsent operations count as never due.
  const kept = outcomes.map((n, code) => (code === OK ? ok : code === UNSENT ? 0 : n));
  const scheduled = kept.reduce((all, n) => all + n, 0);
  const [[fromNs]] = wall;
  const durationNs = seconds.length * SECOND_NS;
  const sent = scheduled - kept[DROPPED];
  // Late operations are scaled to the counted part, because they have no times.
  const late = Math.round((Number(open?.['late']) * sent) / Number(open?.['sent'])) || 0;
  return {
    ...emptySegment(),
    scheduled,
    outcomes: kept,
    samples: segment.samples,
    wall: [[fromNs, fromNs + durationNs]],
    inFlightAreaNs: Math.round((inFlightAreaNs / lengthOf(wall)) * durationNs),
    histograms: { latency: ok === 0 ? null : latency, ...Object.fromEntries(seconds) },
    open: open && { ...open, offered: scheduled, sent, completed: sent, late },
    conditions: segment.conditions,
    // CPU time was read only at both ends of the measurement.
    timeline: timeline && {
      ...timeline,
      operations: timeline.operations.slice(0, Math.floor(durationNs / (timeline.windowNs || 1))),
    },
    figures: figures && { ...figures, spanNs: durationNs, spanOperations: ok },
  };
}

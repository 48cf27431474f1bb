/**
 * Rounds on several machines: orders, their execution by each agent, and merging the uploads into
 * one round. A load without blocks begins on all agents at the same time; segments in blocks follow
 * a timetable that all agents draw from the seed before the clock starts
 * (engine/schedule/timed.js).
 */

import { createProcesses } from '../../engine/contender-process.js';
import { segmentsPerBlock } from '../../engine/roles.js';
import { playRound } from '../../engine/round.js';
import { timed, timetableOf, wholeSegment } from '../../engine/schedule/index.js';
import { ROUNDS_LEAST } from '../../stats/precision.js';
import { mergeBlocks, mergeWhole, seatOf } from './merge-agents.js';
import { portable, specForAgent, targetOf } from './portable.js';

/** @typedef {import('../../engine/contender.js').ContenderSpec} ContenderSpec */
/** @typedef {import('../../engine/contender.js').Amount} Amount */
/** @typedef {import('../../engine/roles.js').Contender} Contender */
/** @typedef {import('../../engine/rounds.js').RoundRunner} RoundRunner */
/** @typedef {import('./upload.js').UploadedSeat} UploadedSeat */

/**
 * A segment: some hundred milliseconds, since starts are some milliseconds apart. Its first part,
 * in which machines may start late, is not counted: LATE_MAX_NS of merge-agents.js.
 */
const SEGMENT_NS = 200e6;
const RAMP_NS = 50e6;
/** Gap before the next segment, for outstanding replies and to wake the next process. */
const GAP_NS_MIN = 50e6;
const GAP_NS_MAX = 500e6;
const LEAD_BLOCKS = 1;
/** Such a segment is as long as 19 counted ones of a single machine. */
const BLOCKS_MIN = 4;
const BLOCKS_MAX = 20;
const ROUNDS_AIM = 8;
/** Attempts of a round that is invalid because machines started too late. */
const ATTEMPTS = 3;
/** Time limit to start, open and warm up the processes of a round. */
const START_NS = 4e9;

/**
 * @typedef {object} Order names and options, never functions
 * @property {{ every: number, isLocal: boolean, spec: ContenderSpec }[]} contenders isLocal: on the
 *   first agent only, such as the storage that measures the harness itself
 * @property {Amount} [amount] amount of one contender with one load, without blocks
 * @property {number} [processes] processes per agent
 * @property {import('../../engine/schedule/timed.js').TimetableOptions} [timetable] timetable of
 *   segments in blocks
 */

/** @param {Order} order */
function slotsOf({ contenders, timetable }) {
  if (timetable === undefined) return [];
  return timetableOf(contenders, contenders[0].spec.tasks.length, timetable);
}

/**
 * Runs the share of one agent in an order.
 * @param {Order} order
 * @param {{ share: import('../../engine/share.js').Share, home: string, sameMachine: boolean,
 *   signal: AbortSignal, atStart: () => Promise<number>, processes?:
 *   import('../../engine/contender-process.js').ProcessFactory }} agent processes: by default
 *   separate ones
 * @returns {Promise<(UploadedSeat | null)[]>} by contender; null: it runs on a different machine
 */
export async function playShare(order, agent) {
  const { contenders, amount, timetable } = order;
  const { share, signal, atStart, processes = createProcesses() } = agent;
  const mine = [...contenders.keys()].filter((i) => !contenders[i].isLocal || share.index === 0);
  const slots = slotsOf(order);
  const { seats } = await playRound({
    seats: contenders.map(({ spec, isLocal }) => ({
      name: spec.storage.storage,
      spec: specForAgent(spec, agent),
      shares: isLocal ? undefined : sharesOf(share, order.processes ?? 1),
    })),
    schedule: (seen) =>
      timetable === undefined
        ? wholeSegment(0, /** @type {Amount} */ (amount), seen)
        : timed(mine, slots, timetable, seen),
    processes,
    signal,
    atStart,
  });
  return contenders.map((_, i) => {
    const seat = mine.includes(i) ? seats[i] : undefined;
    if (seat === undefined) return null;
    const { segments, leads, kept, processRecords, failure } = seat;
    return { segments, leads, kept, processRecords, failure };
  });
}

/**
 * Process p of agent a has share a + N · p of N · P: operation k belongs to agent k mod N.
 * @param {import('../../engine/share.js').Share} agent
 * @param {number} processes
 */
function sharesOf({ index, count }, processes) {
  return Array.from({ length: processes }, (_, p) => ({
    index: index + count * p,
    count: count * processes,
  }));
}

/**
 * @param {import('./controller.js').Fleet} fleet
 * @param {Parameters<RoundRunner['playWhole']>} step
 */
async function playWhole(fleet, [contender, amount, { signal, onProgress }]) {
  const { spec } = contender;
  const [task] = spec.tasks;
  const processes = task?.load.processes ?? 1;
  if (fleet.signal.aborted) {
    const failure = { code: 'E_ABORTED', message: 'an agent was lost earlier' };
    return mergeWhole([], { contender, failure, atNs: 0 });
  }
  await fleet.requireTargets(targetOf(spec));
  onProgress({ phase: 'warmup', settled: 0 });
  const order = {
    contenders: [portable({ ...contender, spec: { ...spec, isLong: true, perSecond: true } })],
    amount,
    processes,
  };
  const leases = order.contenders[0].isLocal ? [fleet.leases.all[0]] : fleet.leases.all;
  const onStart = () => onProgress({ phase: 'measure', settled: 0 });
  const step = await fleet.runStep(leases, order, { signal, onStart });
  return fleet.mergeStep(step, contender);
}

/**
 * @param {import('./controller.js').Fleet} fleet
 * @returns {RoundRunner} rounds of all agents
 */
export function runnerOf(fleet) {
  let gapNs = GAP_NS_MIN;
  return {
    playWhole: (...step) => playWhole(fleet, step),
    segmentNs: SEGMENT_NS,
    reason: 'several machines share the load',
    leastNs(loads, rounds) {
      // The first storage has a copy (A/A).
      const slots = loads.reduce((sum, count) => sum + count, loads[0] ?? 0);
      const blockNs = slots * (SEGMENT_NS + GAP_NS_MIN);
      return (rounds ?? ROUNDS_LEAST) * (BLOCKS_MIN + LEAD_BLOCKS) * blockNs;
    },
    blocksFor(contenders, { budgetNs, rounds = ROUNDS_AIM }) {
      const slots = segmentsPerBlock(contenders);
      const fitting = (budgetNs / rounds - START_NS) / (slots * (SEGMENT_NS + GAP_NS_MIN));
      return Math.min(BLOCKS_MAX, Math.max(BLOCKS_MIN, Math.floor(fitting) - LEAD_BLOCKS));
    },
    async playBlocks(contenders, { round, blocks, orderSeed, signal, onPhase, onStart }) {
      for (const { spec } of contenders) await fleet.requireTargets(targetOf(spec));
      return untilInTime(async () => {
        /** @type {Order} */
        const order = {
          contenders: contenders.map(portable),
          timetable: {
            round,
            blocks,
            orderSeed,
            segmentNs: SEGMENT_NS,
            rampNs: RAMP_NS,
            gapNs,
            leadBlocks: LEAD_BLOCKS,
          },
        };
        const slots = slotsOf(order);
        onPhase?.('warming up', 0.05);
        const step = await fleet.runStep(fleet.leases.all, order, {
          signal,
          onStart() {
            onPhase?.(`${slots.length} segments on all machines`, 0.3);
            onStart?.();
          },
        });
        const failure = fleet.lost === null ? step.failure() : fleet.lossFailure();
        const merged = await mergeBlocks(failure === null ? step.contributions() : [], {
          contenders,
          slots,
          failure,
          startNs: step.atNs,
          segmentNs: SEGMENT_NS,
        });
        gapNs = Math.min(GAP_NS_MAX, Math.max(GAP_NS_MIN, 2 * merged.overrunNs));
        return merged.seats;
      }, signal);
    },
    // The duration of an amount is unknown in advance, so it has no timetable: each segment has a
    // separate common start.
    async playAmounts(contenders, amounts, { round, orderSeed, signal, onPhase, onStart }) {
      const seats = contenders.map((one) => seatOf(one, [], null));
      const all = contenders.map((one) => ({ ...one, every: 1 }));
      const once = {
        round,
        orderSeed,
        blocks: 1,
        leadBlocks: 0,
        segmentNs: 0,
        rampNs: 0,
        gapNs: 0,
      };
      const slots = timetableOf(all, amounts.length, once);
      for (const [i, { seat: index, load }] of slots.entries()) {
        const seat = seats[index];
        if (signal?.aborted && fleet.lost === null) break;
        if (seat.isOut) continue;
        const { name, spec } = contenders[index];
        const contender = { ...contenders[index], spec: { ...spec, tasks: [spec.tasks[load]] } };
        const onProgress = (/** @type {{ phase: string }} */ { phase }) => {
          onPhase?.(`${name}, ${phase}`, i / slots.length);
          if (phase === 'measure') onStart?.();
        };
        const how = { signal, onProgress };
        const [played] = await untilInTime(
          async () => [await playWhole(fleet, [contender, amounts[load], how])],
          signal,
        );
        seat.takeLoad(load, played);
      }
      return seats;
    },
  };
}

/**
 * A round is repeated if machines started too late, which is not a fault of a contender.
 * @param {() => Promise<import('../../engine/seat.js').Seat[]>} play
 * @param {AbortSignal} [signal]
 */
async function untilInTime(play, signal) {
  for (let attempt = 1; ; attempt += 1) {
    const seats = await play();
    const isLate = seats.some(({ failure }) => failure?.code === 'E_AGENT_LATE');
    if (!isLate || attempt === ATTEMPTS || signal?.aborted) return seats;
  }
}

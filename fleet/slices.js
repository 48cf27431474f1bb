/**
 * Rounds of slices on several machines: what is ordered, what each agent runs of it, and how the
 * controller makes one round of what they uploaded. Everything is fixed before the clock starts:
 * all agents draw the same timetable from the seed (engine/slices/timetable.js).
 */

import path from 'node:path';
import { runTimedRound } from '../engine/slices/timed-round.js';
import { timetableOf } from '../engine/slices/timetable.js';
import { mergeSlices } from './merge-slices.js';

/** @typedef {import('../engine/slices/storage-contender.js').SliceSpec} SliceSpec */
/** @typedef {import('../engine/slices/storage-contender.js').SliceLoad} SliceLoad */
/** @typedef {import('../engine/benchmark.js').BenchmarkSpec} BenchmarkSpec */
/** @typedef {import('../engine/slices/round.js').Entrant} Entrant */
/** @typedef {import('../engine/slices/round.js').ContenderRound} ContenderRound */
/** @typedef {import('../engine/slices/comparison.js').RoundRunner} RoundRunner */

/**
 * A slice: some hundred milliseconds, since starts are some milliseconds apart. Its first part, in
 * which machines may still begin, is not counted: LATE_MAX_NS of merge.js.
 */
const SLICE_NS = 200e6;
const RAMP_NS = 50e6;
/** Until the next slice: replies come back, and the process of the next one wakes up. */
const GAP_NS_MIN = 50e6;
const GAP_NS_MAX = 500e6;
const LEAD_BLOCKS = 1;
/** One of these slices is as long as 19 counted ones of a single machine. */
const BLOCKS_MIN = 4;
const BLOCKS_MAX = 20;
const ROUNDS_AIM = 8;
/** Of a round that is invalid, since machines began too late: no contender is to blame for that. */
const ATTEMPTS = 3;
/** Of a round: to start, open and warm up its processes. */
const START_NS = 4e9;

/**
 * @typedef {object} RoundOrder names and options, never functions
 * @property {{ every: number, isLocal: boolean, spec: SliceSpec }[]} entrants isLocal: on the first
 *   agent only, such as the storage that measures the harness itself
 * @property {SliceLoad[]} loads
 * @property {import('../engine/slices/timetable.js').TimetableOptions} timetable
 * @property {number} rampNs
 * @property {number} [warmNsMax]
 */

/**
 * @param {{ spec: SliceSpec }} entrant
 * @returns {Pick<BenchmarkSpec, 'address' | 'credentialVariables'> & Partial<BenchmarkSpec>} the
 *   server that it loads, and by what
 */
export function targetOf({ spec: { kind, wire, benchmark } }) {
  if (kind === 'storage' || wire === undefined) return benchmark;
  const { endpoint, credentialVariables } = wire;
  return { address: { main: endpoint }, credentialVariables };
}

/** @param {RoundOrder} round */
function slotsOf({ entrants, loads, timetable }) {
  const shapes = entrants.map(({ every, spec }) => ({ every, loads: spec.loads }));
  return timetableOf(shapes, loads.length, timetable);
}

/**
 * What one agent does of a round.
 * @param {RoundOrder} round
 * @param {{ share: import('../engine/share.js').Share, home: string, sameMachine: boolean,
 *   signal: AbortSignal, atStart: () => Promise<number> }} own
 */
export async function runShare(round, { share, home, sameMachine, signal, atStart }) {
  const { entrants, loads, timetable, rampNs, warmNsMax } = round;
  const specs = entrants.map(({ spec, isLocal }) => {
    if (isLocal && share.index > 0) return null;
    const whole = { index: 0, count: 1 };
    return ownSpec(spec, { share: isLocal ? whole : share, home, sameMachine });
  });
  return runTimedRound(specs, slotsOf(round), {
    ...{ loads, round: timetable.round, orderSeed: timetable.orderSeed, warmNsMax },
    ...{ sliceNs: timetable.sliceNs, rampNs, signal, atStart },
  });
}

/**
 * @param {SliceSpec} spec
 * @param {{ share: import('../engine/share.js').Share, home: string, sameMachine: boolean }} own
 * @returns {SliceSpec} its part: every N-th operation, and as many in flight
 */
function ownSpec(spec, { share, home, sameMachine }) {
  const { index, count } = share;
  return {
    ...spec,
    timed: true,
    loads: spec.loads.map((load) => {
      if (load === null || load.kind === 'sync') return load;
      const inFlight = Math.floor(load.inFlight / count) + (index < load.inFlight % count ? 1 : 0);
      return { ...load, inFlight };
    }),
    benchmark: {
      ...spec.benchmark,
      folder: path.join(home, 'embedded'),
      // Of another machine these would be the numbers of any processes.
      serverPids: sameMachine ? (spec.benchmark.serverPids ?? []) : [],
      share,
    },
  };
}

/**
 * @param {import('./controller.js').Fleet} fleet
 * @returns {RoundRunner} rounds of all agents, for a comparison by slices
 */
export function slicesOf(fleet) {
  let gapNs = GAP_NS_MIN;
  return {
    sliceNs: SLICE_NS,
    reason: 'several machines share the load',
    blocksFor(entrants, { budgetNs, rounds = ROUNDS_AIM }) {
      const slots = entrants.reduce(
        (sum, { spec, every }) => sum + spec.loads.filter((load) => load !== null).length / every,
        0,
      );
      const fitting = (budgetNs / rounds - START_NS) / (slots * (SLICE_NS + GAP_NS_MIN));
      return Math.min(BLOCKS_MAX, Math.max(BLOCKS_MIN, Math.floor(fitting) - LEAD_BLOCKS));
    },
    async runRound(entrants, loads, { round, blocks, orderSeed, warmNsMax, signal, onPhase }) {
      /** @type {RoundOrder} */
      const order = {
        entrants: entrants.map(portable),
        loads: [...loads],
        ...{ rampNs: RAMP_NS, warmNsMax },
        timetable: {
          ...{ round, blocks, orderSeed, sliceNs: SLICE_NS, gapNs, leadBlocks: LEAD_BLOCKS },
        },
      };
      const failed = (/** @type {{ code: string, message: string }} */ failure) =>
        entrants.map(() => ({ slices: loads.map(() => []), series: [], warmNs: [], failure }));
      for (const entrant of entrants) await fleet.requireTargets(targetOf(entrant));
      const slots = slotsOf(order);
      onPhase?.('warming up', 0.05);
      const onStart = () => onPhase?.(`${slots.length} slices on all machines`, 0.3);
      const work = { type: /** @type {const} */ ('slices'), round: order };
      for (let attempt = 1; ; attempt += 1) {
        const step = await fleet.runStep(fleet.seats.all, work, { signal, onStart });
        if (fleet.lost !== null) return failed(fleet.lossFailure());
        const { failure = null } = step.failure() ?? {};
        if (failure !== null) return failed(failure);
        const merged = await mergeSlices(step.slices(), {
          ...{ slots, loads: loads.length, blocks, entrants: entrants.length },
          ...{ startNs: step.atNs, sliceNs: SLICE_NS, windowNs: SLICE_NS - RAMP_NS },
        });
        gapNs = Math.min(GAP_NS_MAX, Math.max(GAP_NS_MIN, 2 * merged.overrunNs));
        const isLate = merged.contenders.some((one) => one.failure?.code === 'E_AGENT_LATE');
        if (!isLate || attempt === ATTEMPTS || signal?.aborted) return merged.contenders;
      }
    },
  };
}

/**
 * @param {Entrant} entrant
 * @returns {RoundOrder['entrants'][number]}
 */
function portable({ every, spec }) {
  const { driver: _here, cpus: _pinned, ...benchmark } = spec.benchmark;
  const isLocal = spec.kind === 'storage' && Object.keys(benchmark.address).length === 0;
  return { every, isLocal, spec: { ...spec, benchmark } };
}

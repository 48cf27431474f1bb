/**
 * A comparison by slices: round after round until the intervals are narrow enough or the budget is
 * spent. It never stops because of what the intervals show.
 */

import { availableParallelism } from 'node:os';
import { OK } from '../../lib/outcome.js';
import { createRandom, shuffled } from '../../lib/random.js';
import { blocksFor, ROUNDS_LEAST, stopReason } from '../../stats/precision.js';
import { standingsOf } from '../../stats/standings.js';
import { entrantsOf, weightOf } from './entrants.js';
import { runRound } from './round.js';
import { shapeOf } from './shape.js';

/** Between two slices, and what they take longer than planned, as a share of a slice. */
const SLICE_EXTRA = 1.12;
/** To start, open and warm up a contender, until the first round has shown it: per load. */
const START_NS_GUESS = 0.22e9;
/** More variants of a workload share the time of a warm-up. */
const LOADS_GUESS = 3;
/** Apart from the streams of the blocks. */
const WHOLE_STREAM = 0x77680000;

/** @typedef {import('./round.js').ContenderRound} ContenderRound */
/** @typedef {import('./storage-contender.js').SliceLoad} SliceLoad */
/** @typedef {import('./entrants.js').RoleEntrant} RoleEntrant */
/** @typedef {import('../../stats/standings.js').Standings} Standings */

/**
 * @typedef {object} ComparisonOptions
 * @property {import('../plan.js').RunPlan} plan
 * @property {readonly import('../targets.js').StorageTarget[]} targets those that can run
 * @property {readonly SliceLoad[]} loads
 * @property {string} folder of embedded stores
 * @property {readonly import('../targets.js').ServerTarget[]} [others] further servers
 * @property {string | null} [program] name of another program that takes part
 * @property {boolean} [overhead] the harness overhead takes part; default: yes
 * @property {number} orderSeed new in each run
 * @property {number} precision half-width as a share
 * @property {number} budgetNs
 * @property {boolean} [holdsBudget] by fewer rounds than six, if need be
 * @property {number} [rounds] fixed by hand
 * @property {number} [blocks] fixed by hand
 * @property {number} [sliceNs]
 * @property {number} [trim]
 * @property {number[]} [cpus] processors of the contenders; absent: all
 * @property {import('../../measure/clock.js').Clock} clock
 * @property {import('./placement.js').Placement} [placement]
 * @property {AbortSignal} [signal]
 * @property {RoundRunner} [runner] of several load machines; absent: rounds on this one
 * @property {(progress: Progress) => unknown} [onRound] awaited
 * @property {(soFar: SoFar) => unknown} [onBlock] of the round under way, awaited
 * @property {() => boolean} [isDecided] after a round: what it is run for, in the place of the
 *   precision
 * @property {(round: number, phase: string, share: number) => void} [onPhase]
 * @property {((round: number, position: number) => Promise<unknown>)[]} [wholes] what cannot be
 *   sliced: once per round, in the same random order
 *
 * @typedef {object} Progress
 * @property {number} sliceNs
 * @property {number} round
 * @property {number} blocks
 * @property {number} spentNs
 * @property {number} roundNs
 * @property {(Standings | null)[]} standings by load; null: one round
 * @property {RoleEntrant[]} entrants that took part
 * @property {ContenderRound[]} done by these
 *
 * @typedef {Pick<Progress, 'round' | 'blocks' | 'entrants' | 'done'>} SoFar
 *
 * @typedef {object} Comparison
 * @property {RoleEntrant[]} entrants those that did not fail
 * @property {{ name: string, failure: { code: string, message: string } }[]} failed
 * @property {ContenderRound[][]} rounds by round and entrant
 * @property {(Standings | null)[]} standings by load; null: fewer than two rounds
 * @property {'precise' | 'decided' | 'budget' | 'rounds' | 'aborted' | 'failed'} stopped
 * @property {number} spentNs
 */

/**
 * @typedef {object} RoundRunner
 * @property {number} sliceNs
 * @property {string} reason why nothing is held in its place
 * @property {(entrants: readonly RoleEntrant[],
 *   run: { budgetNs: number, rounds?: number }) => number} blocksFor a round, in all rounds
 * @property {typeof runRound} runRound
 */

/**
 * @param {ComparisonOptions} options
 * @returns {Promise<Comparison>}
 */
export async function runComparison(options) {
  const { clock, targets, loads, plan, folder, signal, budgetNs } = options;
  const { orderSeed, trim, cpus, placement, runner, wholes = [] } = options;
  const { others = [], program, overhead } = options;
  const beside = { folder, others, program, overhead };
  const startNs = clock.now();
  let entrants = entrantsOf(targets, loads, plan, { ...beside, round: 0 });
  const shape = shapeOf(entrants, { budgetNs, lanes: availableParallelism() });
  const { sliceNs = runner?.sliceNs ?? shape.sliceNs } = options;
  const isStorage = (/** @type {RoleEntrant} */ { role }) => role === 'storage';
  const hasStorages = entrants.some(isStorage);
  /** @type {ContenderRound[][]} */
  let rounds = [];
  /** @type {Comparison['failed']} */
  const failed = [];
  /** @type {Comparison['stopped'] | null} */
  let stopped = null;
  /** Of the first round, in which the machine shows how busy it is. */
  const firstEndNs = startNs + budgetNs / (ROUNDS_LEAST + 1);
  const fixed = options.blocks ?? runner?.blocksFor(entrants, options);
  let blocks = fixed ?? blocksFor(guessOf(entrants, sliceNs), options);
  const soFar = () => ({
    ...{ sliceNs, spentNs: clock.now() - startNs },
    standings: standingsSoFar(entrants, rounds, loads, trim),
  });
  for (let round = 0; stopped === null; round += 1) {
    const roundStartNs = clock.now();
    const names = entrants.map(({ name }) => name);
    const all = entrantsOf(targets, loads, plan, { ...beside, round });
    const taking = all.filter(({ name }) => names.includes(name));
    /** @type {ContenderRound[]} */
    let done = [];
    // Slices of few slow operations are longer than planned: the first round shows it.
    const fitBlocks = (/** @type {number} */ leadNs) => {
      const cost = { startNs: clock.now() - roundStartNs, blockNs: leadNs };
      return (blocks = Math.min(blocks, blocksFor(cost, options)));
    };
    const slices = async () => {
      done = await (runner?.runRound ?? runRound)(taking, loads, {
        ...{ round, blocks, orderSeed, sliceNs, cpus, placement, signal },
        ...{ leadBlocks: shape.leadBlocks, warmNsMax: shape.warmNsMax },
        ...(options.holdsBudget && round === 0 && { isOver: () => clock.now() > firstEndNs }),
        ...(round === 0 && fixed === undefined && { fitBlocks }),
        onPhase: (phase, share) => options.onPhase?.(round, phase, share),
        onBlock: (count, begun) =>
          options.onBlock?.({ round, blocks: count, entrants: taking, done: begun }),
      });
    };
    const random = createRandom(orderSeed, WHOLE_STREAM + round);
    for (const [position, run] of shuffled([slices, ...wholes], random).entries()) {
      if (!signal?.aborted) await run(round, position);
    }
    if (signal?.aborted) {
      stopped = 'aborted';
      if (!done.some(isLost)) break;
      // The round in which a machine was lost is stored as failed; those before it stay.
      await options.onRound?.({ ...soFar(), round, blocks: 0, roundNs: 0, done, entrants: taking });
      break;
    }
    rounds.push(done);
    blocks = fixed ?? blocksOf(done) ?? blocks;
    ({ entrants, rounds } = withoutFailed(taking, rounds, failed));
    const roundNs = clock.now() - roundStartNs;
    const state = soFar();
    await options.onRound?.({ ...state, round, blocks, roundNs, done, entrants: taking });
    if (hasStorages && !entrants.some(isStorage)) stopped = 'failed';
    if (fixed === undefined && round === 0) {
      // The same number for all rounds: a process is still getting faster while its blocks run.
      const cost = costOf(done, { roundNs, blocks });
      blocks = Math.min(blocks, blocksFor(cost, options));
    }
    stopped ??= whyStop(options, { rounds: rounds.length, roundNs, ...state });
  }
  return {
    ...{ entrants, failed, rounds, stopped, spentNs: clock.now() - startNs },
    standings: standingsSoFar(entrants, rounds, loads, trim),
  };
}

/**
 * @param {ComparisonOptions} options
 * @param {{ rounds: number, standings: readonly (Standings | null)[], spentNs: number,
 *   roundNs: number }} soFar
 * @returns {Comparison['stopped'] | null}
 */
function whyStop({ loads, precision, budgetNs, holdsBudget, ...options }, { standings, ...soFar }) {
  const isDecided = options.isDecided?.();
  if (options.rounds !== undefined) return soFar.rounds >= options.rounds ? 'rounds' : null;
  // What runs once per round has few values: it does not keep the others waiting.
  const halfWidths = standings.flatMap((one, i) => (loads[i].whole ? [] : (one?.halfWidths ?? [])));
  return stopReason({ ...soFar, halfWidths, isDecided, precision, budgetNs, holdsBudget });
}

/**
 * @param {readonly RoleEntrant[]} entrants
 * @param {ContenderRound[][]} rounds
 * @param {readonly SliceLoad[]} loads
 * @param {number} [trim]
 * @returns {(Standings | null)[]} by load
 */
function standingsSoFar(entrants, rounds, loads, trim) {
  return loads.map((_, load) =>
    rounds.length < 2 ? null : standingsOf(entriesOf(entrants, rounds, load), { trim }),
  );
}

/**
 * A contender that failed in one round, or gave a wrong reply, is out of the comparison: means of
 * other rounds than those of the rest cannot be compared.
 * @param {RoleEntrant[]} entrants
 * @param {ContenderRound[][]} rounds
 * @param {Comparison['failed']} failed is added to
 */
function withoutFailed(entrants, rounds, failed) {
  const last = rounds[rounds.length - 1];
  const failures = last.map(failureOf);
  for (const [i, failure] of failures.entries()) {
    if (failure !== null) failed.push({ name: entrants[i].name, failure });
  }
  const whole = [...entrants.keys()].filter((i) => failures[i] === null);
  return {
    entrants: whole.map((i) => entrants[i]),
    rounds: rounds.map((round) => whole.map((i) => round[i])),
  };
}

/** @param {ContenderRound} round */
function isLost({ failure }) {
  return failure?.code === 'E_AGENT_LOST';
}

/** @param {ContenderRound} round @returns {ContenderRound['failure']} */
function failureOf({ failure, series }) {
  if (failure !== null) return failure;
  const wrong = series.some(
    ({ outcomes, refused }) => !refused && outcomes.some((n, code) => code !== OK && n > 0),
  );
  return wrong ? { code: 'E_INVALID', message: 'operations failed or gave wrong replies' } : null;
}

/**
 * @param {readonly RoleEntrant[]} entrants
 * @param {number} sliceNs
 * @returns {import('../../stats/precision.js').RoundCost} before anything has run
 */
function guessOf(entrants, sliceNs) {
  const loadsOf = (/** @type {RoleEntrant} */ { spec }) =>
    spec.loads.filter((load) => load !== null).length;
  const sum = (/** @type {(entrant: RoleEntrant) => number} */ of) =>
    entrants.reduce((all, entrant) => all + of(entrant), 0);
  const slices = sum((entrant) => loadsOf(entrant) * weightOf(entrant));
  return {
    startNs: sum((entrant) => Math.min(LOADS_GUESS, loadsOf(entrant))) * START_NS_GUESS,
    blockNs: slices * sliceNs * SLICE_EXTRA,
  };
}

/**
 * @param {readonly ContenderRound[]} done
 * @returns {number | null} blocks that were run; null: nothing was
 */
function blocksOf(done) {
  return Math.max(0, ...done.flatMap(({ slices }) => slices.map(({ length }) => length))) || null;
}

/**
 * @param {readonly ContenderRound[]} done
 * @param {{ roundNs: number, blocks: number }} round
 * @returns {import('../../stats/precision.js').RoundCost} as it was seen
 */
function costOf(done, { roundNs, blocks }) {
  const slices = done.flatMap((one) => one.slices.flat()).flatMap((slice) => slice ?? []);
  const first = Math.min(...slices.map(({ startNs }) => startNs));
  const last = Math.max(first, ...slices.map(({ endNs }) => endNs));
  const blocksNs = slices.length === 0 ? 0 : last - first;
  return { startNs: Math.max(0, roundNs - blocksNs), blockNs: Math.max(1, blocksNs / blocks) };
}

const GROUPS = Object.freeze({
  ...{ again: 'again', ceiling: 'ceiling', overhead: 'overhead', program: 'program' },
});

/**
 * @param {Pick<RoleEntrant, 'role' | 'server'>} entrant
 * @returns {import('../../stats/standings.js').Entry['group']}
 */
export function groupOf({ role, server }) {
  return role === 'storage' ? (server === null ? 'embedded' : 'networked') : GROUPS[role];
}

/**
 * @param {readonly RoleEntrant[]} entrants
 * @param {ContenderRound[][]} rounds
 * @param {number} load
 * @returns {import('../../stats/standings.js').Entry[]}
 */
export function entriesOf(entrants, rounds, load) {
  return entrants.map(({ name, role, of, server, ceiling }, i) => {
    const group = groupOf({ role, server });
    const ofRounds = (/** @type {(slice: import('./round.js').Slice) => number | null} */ value) =>
      rounds.map((round) => round[i].slices[load].map((slice) => logOf(slice, value)));
    return {
      ...{ name, group, of, ceiling },
      time: ofRounds(({ spanNs, spanOperations }) => spanNs / spanOperations),
      witnesses: {
        clientCpu: ofRounds(({ cpuNs, operations }) => cpuNs && cpuNs / operations),
        serverCpu: ofRounds(
          ({ serverCpuNs, operations }) => serverCpuNs && serverCpuNs / operations,
        ),
        latency: ofRounds(({ medianNs }) => medianNs),
      },
    };
  });
}

/**
 * @param {import('./round.js').Slice | null} slice
 * @param {(slice: import('./round.js').Slice) => number | null} value
 */
function logOf(slice, value) {
  if (slice === null || !slice.valid) return null;
  const number = value(slice);
  return number === null || !(number > 0) ? null : Math.log(number);
}

/**
 * Synthetic segments in blocks for synthetic results: each round is one process with equal
 * segments.
 */

import { benchmark, buildResult, measuredRound, SYNC } from './result-builder.js';

/** @typedef {import('../../lib/result.js').Result} Result */

const CEILING = 1_000_000;
const OVERHEAD = 5_000_000;

/**
 * @param {Result} result result whose benchmarks have equal numbers of rounds
 * @param {{ machine?: number }} [options] machine: speed of the whole machine
 * @returns {Result} the same in blocks, with a server ceiling and harness overhead
 */
export function withSlices(result, { machine = 1 } = {}) {
  const loads = new Map(result.benchmarks.map(({ load }) => [JSON.stringify(load), load]));
  const [{ rounds }] = result.benchmarks;
  return {
    ...result,
    comparison: {
      orderSeed: 1,
      precision: 0.03,
      budgetNs: 120e9,
      sliceNs: 8e6,
      stopped: 'rounds',
      spentNs: 1e9,
      blocks: rounds.map(() => 1),
      failed: [],
      loads: [...loads].map(([key, { kind, inFlight }]) => {
        const benchmarks = result.benchmarks.filter(({ load }) => JSON.stringify(load) === key);
        const contenders = benchmarks.map(({ id, storage, rounds: all }) => ({
          ...of(
            storage,
            all.map(({ throughput }) => throughput),
          ),
          group: /** @type {'embedded' | 'networked'} */ (
            storage === 'lmdb' ? 'embedded' : 'networked'
          ),
          ...(storage !== 'lmdb' && { ceiling: 'ceiling' }),
          benchmark: id,
        }));
        const same = (/** @type {string} */ name, /** @type {number} */ speed) =>
          of(
            name,
            rounds.map((_, i) => speed * machine * (1 + 0.001 * Math.sin(5 * i))),
          );
        const copy = contenders[0].rounds.map((round, i) => ({
          ...round,
          timePs: round.timePs.map((time) => time * (1 + 0.001 * Math.sin(2 * i))),
        }));
        return {
          kind: /** @type {'sync'} */ (kind),
          inFlight: inFlight ?? 1,
          placement: { kind: /** @type {const} */ ('free'), client: [], server: [], reason: null },
          contenders: [
            ...contenders,
            { ...same('ceiling', CEILING), group: /** @type {const} */ ('ceiling') },
            { ...same('memory', OVERHEAD), group: /** @type {const} */ ('overhead') },
            {
              name: 'copy',
              group: /** @type {const} */ ('again'),
              of: contenders[0].name,
              benchmark: null,
              rounds: copy,
            },
          ],
        };
      }),
    },
  };
}

/**
 * A race of one load in blocks: a tie that only CPU time separates, a version of a driver against
 * the installed one, a row with drift and one above its ceiling.
 * @returns {Result}
 */
export function slicedResult() {
  const speeds = {
    'manual-hs': 51_000,
    hiredis: 50_800,
    ioredis: 46_000,
    'ioredis@5': 45_900,
    redis: 31_000,
    mysql2: 20_000,
    lmdb: 390_000,
  };
  const benchmarks = Object.entries(speeds).map(([storage, speed], k) =>
    benchmark({
      storage,
      load: { ...SYNC, operations: null },
      rounds: Array.from({ length: 6 }, (_, i) => ({
        ...measuredRound(i, SYNC, { throughput: speed * (1 + 0.01 * Math.sin(4 * i + k)) }),
        compared: { replies: 5000, bytes: 205_000 },
      })),
    }),
  );
  const base = buildResult({ benchmarks });
  const [ioredis] = base.storages.filter(({ name }) => name === 'ioredis');
  const result = withSlices({
    ...base,
    storages: [...base.storages, { ...ioredis, name: 'ioredis@5', base: 'ioredis' }],
  });
  for (const { name, rounds } of result.comparison?.loads[0].contenders ?? []) {
    const load = { hiredis: 1.3, 'ioredis@5': 1.1 }[name] ?? 1;
    for (const round of rounds) {
      const [time] = round.timePs;
      round.clientCpuPs = round.clientCpuPs.map((one) => (one === null ? null : one * load));
      // Nine blocks, the last third of them slower with drift.
      const drift = name === 'mysql2' ? 1.1 : 1;
      round.timePs = Array.from({ length: 9 }, (_, i) => (time ?? 0) * (i < 6 ? 1 : drift));
    }
    if (name === 'ceiling') for (const round of rounds) round.timePs = round.timePs.map(() => 20e6);
  }
  return result;
}

/** @param {string} name @param {number[]} speeds operations per second, by round */
function of(name, speeds) {
  const rounds = speeds.map((speed) => ({
    operations: 100,
    timePs: [1e12 / speed],
    clientCpuPs: [1e11 / speed],
    serverCpuPs: [null],
    medianNs: [1e9 / speed],
  }));
  return { name, benchmark: null, rounds };
}

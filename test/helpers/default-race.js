/**
 * A synthetic race in blocks with the size of a default one: 13 storages, two loads, real numbers
 * of rounds and blocks, and values that compress no better than measured ones.
 */

import { createRandom, drawBelow } from '../../lib/random.js';
import { Histogram } from '../../measure/histogram.js';
import { benchmark, buildResult, latencyFields, measuredRound } from './result-builder.js';
import { withSlices } from './slices.js';

/** @typedef {import('../../lib/result.js').Load} Load */

const STORAGES = [
  ...['redis', 'ioredis', 'hiredis', 'node-handlersocket', 'manual-hs', 'tarantool', 'mysql2'],
  ...['mariadb', 'mysql', 'iovalkey', 'valkey-glide', 'lmdb', 'sqlite'],
];
const LOADS = /** @type {Load[]} */ ([
  { kind: 'sync', inFlight: 1, operations: null, durationNs: null },
  { kind: 'window', inFlight: 100, operations: null, durationNs: null },
]);
const ROUNDS = 6;
const BLOCKS = 20;
const NO_CURVE = Object.freeze({ operations: 0, durationNs: 0, curve: [], windowNs: 0 });

/**
 * @param {{ storages?: number, rounds?: number }} [size]
 * @returns {import('../../lib/result.js').Result}
 */
export function defaultRace({ storages = STORAGES.length, rounds = ROUNDS } = {}) {
  const random = createRandom(1, 7);
  const draw = () => drawBelow(random, 1e6) / 1e6;
  const names = Array.from({ length: storages }, (_, i) => STORAGES[i] ?? `driver-${i}`);
  const result = buildResult({
    command: 'race',
    servers: [],
    storages: names.map((name) => ({
      name,
      profile: 'default',
      package: name,
      version: '1.2.3',
      calls: 'promise',
      summary: `made-up driver ${name}`,
      server: /^(lmdb|sqlite)$/.test(name) ? null : 'redis',
      options: { keepAlive: true },
    })),
    benchmarks: LOADS.flatMap((load) =>
      names.map((storage, i) => {
        const inFlight = load.inFlight ?? 1;
        /** Repeated for further rounds. @type {import('../../lib/result.js').Latency[]} */
        const latencies = [];
        return benchmark({
          storage,
          load,
          id: `${storage}:default/get/${load.kind}`,
          rounds: Array.from({ length: rounds }, (_, round) => {
            const throughput = (50_000 / (1 + i / 3)) * (0.95 + 0.1 * draw()) * inFlight ** 0.2;
            const counted = { ...load, operations: 5000 };
            const latency = (latencies[round % ROUNDS] ??= latencyOf(
              (inFlight * 1e9) / throughput,
              draw,
            ));
            const measured = measuredRound(round, counted, {
              throughput,
              inFlightMean: 1,
              latency,
            });
            const timeline = { windowNs: 0, operations: [] };
            return { ...measured, conditions: undefined, warmup: NO_CURVE, timeline };
          }),
        });
      }),
    ),
  });
  const sliced = withSlices(result);
  for (const load of sliced.comparison?.loads ?? []) {
    for (const { rounds: own } of load.contenders) {
      for (const round of own) Object.assign(round, slicesOf(round, draw));
    }
  }
  return sliced;
}

/**
 * @param {{ timePs: (number | null)[] }} round round of one segment
 * @param {() => number} draw
 */
function slicesOf({ timePs: [time] }, draw) {
  const near = (/** @type {number} */ value) =>
    Array.from({ length: BLOCKS }, () => Math.round(value * (0.9 + 0.2 * draw())));
  const ps = Number(time);
  const [clientCpuPs, serverCpuPs] = [near(ps * 0.8), near(ps * 0.3)];
  return { timePs: near(ps), clientCpuPs, serverCpuPs, medianNs: near(ps / 1e3) };
}

/**
 * @param {number} meanNs
 * @param {() => number} draw
 * @returns {import('../../lib/result.js').Latency} with a tail, like measured ones
 */
function latencyOf(meanNs, draw) {
  const histogram = new Histogram();
  for (let i = 0; i < 5000; i += 1) {
    const spread = draw() + draw() + draw() - 1.5;
    histogram.record(meanNs * Math.exp(spread) * (1 + 0.02 / (draw() + 1e-3)));
  }
  return latencyFields(histogram);
}

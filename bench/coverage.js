/**
 * How often the intervals of a comparison cover the truth, by simulation: `node bench/coverage.js
 * [races]`. Nominal 95 %. For each deviation between processes and number of rounds: single
 * intervals, any false pair by Tukey's range, equal contenders called different, and the same with
 * a run that stops by its precision.
 */

import { blockMeansOf } from './coverage-counts.js';

const races = Number(process.argv[2] ?? 1000);
console.log(`${races} races each, 9 equal contenders, heavy tails, 30 blocks`);
console.log('process sd  rounds  trim   covered  false pair  half-width');
for (const processDeviation of [0.01, 0.03, 0.08, 0.15]) {
  for (const rounds of [6, 8, 16]) {
    for (const trim of [0.05, 0.2]) {
      const race = { logs: Array(9).fill(8), rounds, blocks: 30, processDeviation };
      const { covered, falsePair, half } = blockMeansOf(race, { races, trim, seed: rounds });
      console.log(
        `${(100 * processDeviation).toFixed(0).padStart(8)} %  ${String(rounds).padStart(6)}  ` +
          `${trim.toFixed(2)}   ${(100 * covered).toFixed(1)} %   ${(100 * falsePair).toFixed(1)} %` +
          `       ± ${(100 * half).toFixed(1)} %`,
      );
    }
  }
}
const unequal = {
  ...{ logs: Array(9).fill(8), rounds: 8, blocks: 30, processDeviation: 0.03 },
  factors: [1, 1, 1, 1, 1, 1, 1, 1, 5],
};
for (const rounds of [6, 8, 16]) {
  const counts = blockMeansOf({ ...unequal, rounds }, { races, trim: 0.05, seed: 9 });
  console.log(
    `one contender five times as noisy, ${rounds} rounds: ${(100 * counts.covered).toFixed(1)} % ` +
      `covered, false pair ${(100 * counts.falsePair).toFixed(1)} %, not all pooled in ` +
      `${(100 * counts.unpooled).toFixed(0)} %`,
  );
}
const sequential = { logs: Array(9).fill(8), rounds: 30, blocks: 30, processDeviation: 0.03 };
const stopped = blockMeansOf(sequential, { races, trim: 0.05, seed: 10, precision: 0.025 });
console.log(
  `stopped by precision (± 2.5 %, after ${stopped.rounds.toFixed(1)} rounds on average): ` +
    `${(100 * stopped.covered).toFixed(1)} % covered, false pair ` +
    `${(100 * stopped.falsePair).toFixed(1)} %`,
);

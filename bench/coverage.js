/**
 * Coverage of the intervals of reports, by simulating whole races with their estimator: `node
 * bench/coverage.js [races] [contenders]`. Nominal 95 %; below 94 % is marked and exits with 1.
 * Columns: intervals of ops/s; ratios to the fastest, all of a race at once; A/A; pairs with a
 * claim, and split ones; mean half-width of the ratios on logs; bias against the mean of segments.
 * Then the figures that detect each defect.
 *
 * The standard error of a fraction over 2,000 races is 0.5 %, so one exact cell of fifty is below
 * 94 % by chance: repeat such a cell with more races.
 */

import { coverageOf, foundBy } from './coverage-counts.js';
import { DEFECTS } from './simulated-race.js';

/** @typedef {import('./coverage-counts.js').Cell} Cell */

const COVERED_MIN = 0.94;
const races = Number(process.argv[2] ?? 2000);
const only = process.argv[3] === undefined ? null : Number(process.argv[3]);

const percent = (/** @type {number} */ share) =>
  Number.isNaN(share) ? '–'.padStart(8) : `${(100 * share).toFixed(1).padStart(6)} %`;

/** @param {string} name @param {Cell} cell */
function show(name, cell) {
  if (only !== null && cell.contenders !== only) return;
  const found = coverageOf(cell, { races, seed: cell.rounds });
  const { own, ratio, allRatios, again, claimed, split, half, bias, rounds } = found;
  const isLow = [own, allRatios, again].some((share) => share < COVERED_MIN);
  if (isLow) process.exitCode = 1;
  const shown = [own, ratio, allRatios, again, claimed, split, half, bias].map(percent).join(' ');
  const shape = `${cell.contenders}  ${rounds.toFixed(1)}  ${cell.segments}`;
  console.log(`${name.padEnd(24)} ${shape.padEnd(12)} ${shown}${isLow ? '  low' : ''}`);
}

console.log(`${races} races each; contenders, rounds, segments per process; covered:`);
console.log(
  `${' '.repeat(37)}    ops/s    ratio all ratios    A/A  claimed    split     half     bias`,
);
for (const contenders of [2, 5, 12]) {
  for (const rounds of [3, 5, 10]) {
    for (const segments of [1, 3, 12]) {
      show('equal', { contenders, rounds, segments });
      show('one stalled round', { contenders, rounds, segments, stalled: true });
    }
  }
}
for (const processDeviation of [0.01, 0.08, 0.15]) {
  const name = `${100 * processDeviation} % between processes`;
  for (const segments of [1, 20])
    show(name, { contenders: 5, rounds: 8, segments, processDeviation });
}
for (const rounds of [6, 8, 16]) {
  const factors = [1, 1, 1, 1, 1, 1, 1, 1, 5];
  show('one five times as noisy', { contenders: 9, rounds, segments: 20, factors });
}
for (const ownGarbage of [false, true]) {
  const name = ownGarbage ? 'typical, ' : '';
  for (const processDeviation of ownGarbage ? [0.01, 0.03, 0.08, 0.15] : []) {
    const cell = { contenders: 5, rounds: 8, segments: 30, processDeviation, ownGarbage };
    show(`${name}${100 * processDeviation} %`, cell);
  }
  const cell = { contenders: 5, rounds: 30, segments: 20, precision: 0.05, ownGarbage };
  show(`${name}stopped by precision`, cell);
}

console.log(`\n${races} races of two drivers; claimed of the second, which has`);
for (const [name, defect] of [['no defect', null], ...Object.entries(DEFECTS)]) {
  const found = foundBy(/** @type {import('./simulated-race.js').Defect | null} */ (defect), {
    races,
  });
  const parts = Object.entries(found).map(
    ([by, count]) => `${by} ${percent(count / races).trim()}`,
  );
  console.log(`${name}: ${parts.join(', ')}`);
}

/**
 * Fuzzes the parsers of external input: replies of servers, stored results, addresses. Each case is
 * a valid message with a few mutations; the parser must quickly return a value or throw a Dragstrip
 * error, independent of the splitting of the bytes. Prints its seed, which reproduces a failure.
 * Not part of the tests, which run 2,000 cases per parser (test/fast/fuzz.test.js).
 *
 *     npm run fuzz -- [--cases 1000000] [--seed 1] [--only resp]
 */

import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { fuzz } from '../bench/fuzz/run.js';
import { SUBJECTS } from '../bench/fuzz/subjects.js';

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    only: { type: 'string', default: '' },
  },
});
const cases = Number(values.cases);
const seed = Number(values.seed);
console.log(`seed ${seed}, ${cases.toLocaleString('en-US')} cases per parser`);
let failed = 0;
for (const subject of SUBJECTS.filter(({ name }) => name.includes(values.only))) {
  const { failure, refused, slowestNs, spentNs } = fuzz(subject, { cases, seed });
  const share = Math.round((100 * refused) / cases);
  const slowest = (slowestNs / 1e6).toFixed(1);
  const took = `${(spentNs / 1e9).toFixed(1)} s, ${share} % refused, slowest ${slowest} ms`;
  console.log(`${failure === null ? 'ok  ' : 'FAIL'} ${subject.name.padEnd(24)} ${took}`);
  if (failure !== null) {
    failed += 1;
    console.log(`     case ${failure.index}: ${failure.what}\n     ${failure.hex}`);
  }
}
process.exitCode = failed > 0 ? 1 : 0;

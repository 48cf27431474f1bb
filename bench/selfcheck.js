/**
 * Self-check of the harness: rate of false differences between equal benchmarks, and the cost per
 * operation of its window loop compared with tinybench and mitata.
 */

import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { pairedRatio } from '../stats/ratio.js';
import { isDecided } from '../stats/separation.js';
import { measure } from './figures.js';

const TWINS = fileURLToPath(new URL('./twins.js', import.meta.url));
const LOOPS = fileURLToPath(new URL('./loops.js', import.meta.url));

/** If all 200 are equal, at most 21 differ at 5 % in 999 of 1000 cases. */
const DIFFERENT_MAX = 21;

/**
 * @param {import('./figures.js').BenchContext} context
 * @returns {AsyncGenerator<import('./figures.js').Figure>}
 */
export async function* run({ smoke }) {
  yield* equalThings(smoke);
  yield* loops(smoke);
}

/** @param {boolean} smoke */
async function* equalThings(smoke) {
  const processes = smoke ? 1 : 10;
  const sizes = smoke ? [4, 3, 500] : [20, 5, 20_000];
  const all = processes * sizes[0];
  let different = 0;
  let separated = 0;
  for (let i = 0; i < processes; i += 1) {
    const args = ['--expose-gc', TWINS, ...sizes, 1000 * i + 1].map(String);
    const { stdout } = await execa(process.execPath, args);
    for (const { a, b } of JSON.parse(stdout)) {
      const found = pairedRatio(a, b);
      if (found === null) continue;
      const { answer, low, high } = found;
      if (isDecided(answer)) different += 1;
      if ((low ?? 0) > 1 || (high ?? 1) < 1) separated += 1;
    }
  }
  const limit = { target: DIFFERENT_MAX * (all / 200), better: /** @type {const} */ ('lower') };
  yield measure(`A/A: called different, of ${all}`, [different], { ...limit, unit: '' });
  yield measure(`A/A: interval without 1, of ${all}`, [separated], { better: 'lower', unit: '' });
}

/** @typedef {{ nsPerOperation: number, cpuNs: number }} LoopCost */

/**
 * Each in a separate process, alternately and in mirrored order. CPU time, because wall time
 * includes other load. tinybench with defaults (one sample per call), mitata also with one sample
 * per call: its default for calls this short is one per 4096.
 * @param {boolean} smoke
 */
async function* loops(smoke) {
  const pairs = smoke ? 1 : 11;
  const operations = smoke ? 5000 : 1_000_000;
  const names = ['ours', 'ours-verified', 'tinybench', 'mitata'];
  /** @type {Map<string, number[]>} */
  const costs = new Map(names.map((name) => [name, []]));
  for (let pair = 0; pair < pairs; pair += 1) {
    for (const name of pair % 2 === 0 ? names : [...names].reverse()) {
      const args = ['--expose-gc', LOOPS, name, String(operations)];
      const { stdout } = await execa(process.execPath, args);
      costs.get(name)?.push(/** @type {LoopCost} */ (JSON.parse(stdout)).cpuNs);
    }
  }
  const of = (/** @type {string} */ name) => costs.get(name) ?? [];
  for (const name of names) {
    yield measure(`CPU of an operation in the loop: ${name}`, of(name), {
      better: 'lower',
      unit: 'ns',
    });
  }
  for (const other of ['tinybench', 'mitata']) {
    const ratios = of('ours').map((cost, i) => cost / of(other)[i]);
    const name = `our loop, every latency recorded, over ${other}`;
    yield measure(name, ratios, { target: 1, better: 'lower', unit: '×' });
  }
}

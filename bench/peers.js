/**
 * Other tools with the same question and time: is one driver slower than the other? `node
 * bench/peers.js [--races N] [--seconds S] [--out FILE]`, with a private Redis.
 *
 * Two sides read the same keys over ioredis, one request in flight; the second reads every n-th key
 * twice, or is equal. Each tool has the same time for a pair, and is interpreted like its users do:
 *
 * - one run per side: throughputs that differ by more than 1 %;
 * - hyperfine over a script: a printed ratio further from 1 than its ± ;
 * - mitata, both sides in one process: averages that differ by more than 1 %;
 * - tinybench, the engine of `vitest bench`: means whose margins of error do not overlap.
 */

import { appendFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { execa } from 'execa';
import { getLoader } from '../data/loaders/index.js';
import { resolveAddress } from '../engine/addresses.js';
import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { startServers } from '../servers/index.js';
import { shareCredentials } from './login.js';
import { isMain } from './main.js';

const SIDE = fileURLToPath(new URL('./peers/side.js', import.meta.url));
/** Every n-th key read twice; 0: equal sides. */
const DEFECTS = [0, 20, 10, 5];
/** Minimum difference, as in Dragstrip's verdicts. */
const EFFECT_MIN = 0.01;
/** Duration of a script of hyperfine, which includes Node's start. */
const SCRIPT_SECONDS = 1.5;

const { values } = parseArgs({
  options: {
    races: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '20' },
    out: { type: 'string' },
  },
});
const seconds = Number(values.seconds);

/** @typedef {'slower' | 'faster' | 'equal'} Answer verdict about the second side */
/** @typedef {(twiceEvery: number) => Promise<Answer>} Tool */

let folder = '';
/** @type {Map<string, Record<Answer, number>>} */
const counts = new Map();

async function main() {
  const home = findHome();
  const { servers, stop } = await startServers(['redis'], { home, owned: true });
  folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-peers-'));
  try {
    await shareCredentials(servers);
    const { address, credentials } = await resolveAddress('redis', { home });
    const loader = await getLoader('redis');
    await loader.seed({ address, credentials, dataset: createDataset({}) });
    const { main } = /** @type {any} */ (address);
    const env = { PEER_REDIS: JSON.stringify({ host: main.host, port: main.port }) };
    const tools = await toolsFor(env);
    for (let race = 1; race <= Number(values.races); race += 1) {
      for (const twiceEvery of DEFECTS) {
        for (const [name, tool] of Object.entries(tools)) {
          keep(name, twiceEvery, await tool(twiceEvery));
        }
      }
      console.error(`race ${race}, load ${loadavg()[0].toFixed(1)}`);
    }
  } finally {
    await stop();
    await rm(folder, { recursive: true, force: true });
  }
  print();
}

/**
 * @param {Record<string, string>} env
 * @returns {Promise<Record<string, Tool>>} the available tools
 */
async function toolsFor(env) {
  const { failed } = await execa('hyperfine', ['--version'], { reject: false });
  if (failed) console.error('hyperfine is left out: it is not installed');
  const side = (/** @type {string[]} */ ...args) =>
    execa(process.execPath, [SIDE, ...args], { env });
  return {
    'one run per side': async (twiceEvery) => {
      const [a, b] = [
        await side('run', '0', `${seconds / 2}`),
        await side('run', `${twiceEvery}`, `${seconds / 2}`),
      ];
      return answerOf(Number(b.stdout) / Number(a.stdout), EFFECT_MIN);
    },
    ...(!failed && { hyperfine: (twiceEvery) => hyperfine(twiceEvery, env) }),
    mitata: async (twiceEvery) => {
      const { stdout } = await side('mitata', `${twiceEvery}`, `${seconds}`);
      const [a, b] = JSON.parse(stdout);
      return answerOf(a.mean / b.mean, EFFECT_MIN);
    },
    tinybench: async (twiceEvery) => {
      const { stdout } = await side('tinybench', `${twiceEvery}`, `${seconds}`);
      const [a, b] = JSON.parse(stdout);
      return Math.abs(a.mean - b.mean) > a.margin + b.margin
        ? answerOf(a.mean / b.mean, 0)
        : 'equal';
    },
  };
}

/**
 * @param {number} twiceEvery
 * @param {Record<string, string>} env
 * @returns {Promise<Answer>}
 */
async function hyperfine(twiceEvery, env) {
  const file = path.join(folder, 'hyperfine.json');
  const runs = Math.max(2, Math.round(seconds / 2 / SCRIPT_SECONDS));
  const command = (/** @type {number} */ every) =>
    `${process.execPath} ${SIDE} work ${every} 20000`;
  await execa(
    'hyperfine',
    [
      '-N',
      '--warmup',
      '1',
      '--runs',
      `${runs}`,
      '--export-json',
      file,
      command(0),
      command(twiceEvery),
    ],
    { env },
  );
  const [a, b] = JSON.parse(await readFile(file, 'utf8')).results;
  const ratio = a.mean / b.mean;
  // As in hyperfine: the ratio of the means and its propagated standard deviation.
  const error = ratio * Math.hypot(a.stddev / a.mean, b.stddev / b.mean);
  return Math.abs(ratio - 1) > error ? answerOf(ratio, 0) : 'equal';
}

/**
 * @param {number} ratio speed of the second side relative to the first
 * @param {number} least
 * @returns {Answer}
 */
function answerOf(ratio, least) {
  if (Math.abs(ratio - 1) <= least) return 'equal';
  return ratio < 1 ? 'slower' : 'faster';
}

/** @param {string} tool @param {number} twiceEvery @param {Answer} answer */
function keep(tool, twiceEvery, answer) {
  const key = `${tool}|${twiceEvery === 0 ? 'equal' : `every ${twiceEvery}th twice`}`;
  const one = counts.get(key) ?? { slower: 0, faster: 0, equal: 0 };
  one[answer] += 1;
  counts.set(key, one);
  if (values.out === undefined) return;
  const line = { tool, twiceEvery, answer, seconds, load1: loadavg()[0] };
  appendFileSync(values.out, `${JSON.stringify(line)}\n`);
}

function print() {
  const table = new Table({
    head: ['tool', 'second side', 'slower', 'faster', 'no difference'],
    style: { head: [], border: [], compact: true },
  });
  for (const [key, { slower, faster, equal }] of counts) {
    const [tool, defect] = key.split('|');
    table.push([tool, defect, slower, faster, equal]);
  }
  console.log(table.toString());
}

if (isMain(import.meta.filename)) await main();

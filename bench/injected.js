/**
 * What a default race finds of known defects: races of two equal contenders and of ones with a
 * defect put in, through the programming interface, with a Redis of their own. `node
 * bench/injected.js [--races N] [--budget SECONDS] [--precision SHARE] [--busy N]
 * [--busy-on 0,2] [--contenders equal,slow-start] [--out FILE]`
 *
 * --busy: busy loops beside the races, each on a processor that the scheduler chooses; --busy-on:
 * one on each of these processors (a neighbour); --contenders: those beside the plain one; --out: a
 * line of JSON per comparison, with the mean of each process (log of ns per operation). Printed per
 * load and contender: how often it was found slower, called faster (a wrong sign), or could not be
 * told from the plain one, by its time and by the client's CPU time per operation, which a verdict
 * names where time does not tell.
 */

import { appendFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { execa } from 'execa';
import { getLoader } from '../data/loaders/index.js';
import { resolveAddress } from '../engine/addresses.js';
import { run } from '../index.js';
import { entriesOf } from '../lib/comparison.js';
import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { startServers } from '../servers/index.js';
import { processMeans } from '../stats/blocks.js';
import { pairOf } from '../stats/standings.js';
import { shareCredentials } from './login.js';
import { isMain } from './main.js';

const NAMES = ['equal', 'twice-20', 'twice-10', 'twice-5', 'late-200'];
const FOLDER = fileURLToPath(new URL('./injected/', import.meta.url));
const { values } = parseArgs({
  options: {
    races: { type: 'string', default: '20' },
    budget: { type: 'string', default: '120' },
    precision: { type: 'string', default: '0.03' },
    busy: { type: 'string', default: '0' },
    'busy-on': { type: 'string' },
    contenders: { type: 'string', default: NAMES.join() },
    out: { type: 'string' },
  },
});

/** @type {Map<string, { slower: number, faster: number, untold: number, halves: number[] }>} */
const counts = new Map();

async function main() {
  const home = findHome();
  const { servers, stop } = await startServers(['redis'], { home, owned: true });
  const busy = startBusyLoops();
  try {
    await shareCredentials(servers);
    const { address, credentials } = await resolveAddress('redis', { home });
    const loader = await getLoader('redis');
    await loader.seed({ address, credentials, dataset: createDataset({}) });
    for (let race = 1; race <= Number(values.races); race += 1) {
      const result = await run(
        /** @type {any} */ ({
          storages: ['plain', ...values.contenders.split(',')].map((name) =>
            path.join(FOLDER, `${name}.js`),
          ),
          loads: [{ kind: 'sync' }, { kind: 'window', inFlight: 100 }],
          precision: Number(values.precision),
          budget: 1000 * Number(values.budget),
          home,
        }),
      );
      score(race, result);
    }
  } finally {
    for (const loop of busy) loop.kill('SIGKILL');
    await stop();
  }
  print();
}

/** @returns {import('execa').ResultPromise[]} */
function startBusyLoops() {
  const loop = [process.execPath, '-e', 'for (;;);'];
  const free = Array.from({ length: Number(values.busy) }, () => loop);
  const pinned = values['busy-on']?.split(',').map((cpu) => ['taskset', '-c', cpu, ...loop]) ?? [];
  return [...free, ...pinned].map(([program, ...args]) =>
    execa(program, args, { reject: false, cleanup: true }),
  );
}

/**
 * @param {number} race
 * @param {import('../lib/result.js').Result} result
 */
function score(race, { comparison }) {
  if (!comparison) throw new Error('the race did not run by slices');
  const { loads, spentNs, blocks, stopped } = comparison;
  const about = `${blocks.length} rounds, ${(spentNs / 1e9).toFixed(0)} s, ${stopped}`;
  console.log(`race ${race}: ${about}, load ${loadavg()[0].toFixed(1)}`);
  for (const load of loads) {
    const entries = entriesOf(load).filter(({ group }) => ['networked', 'again'].includes(group));
    const means = processMeans(entries.map(({ time }) => time));
    const plain = entries.findIndex(({ name }) => name === 'plain');
    const answers = entries.flatMap(({ name }, i) => {
      if (i === plain) return [];
      const pair = pairOf(entries, name, 'plain');
      if (pair === null) return [];
      const { speed: ratio, witnesses } = pair;
      const cpu = witnesses['clientCpu'];
      count(`${load.kind} ${name}`, ratio);
      count(`${load.kind} ${name}, CPU`, cpu);
      const logs = { plain: means[plain], own: means[i] };
      keep({ race, load: load.kind, name, seconds: spentNs / 1e9, ...ratio, cpu, logs });
      return [`${name} ${shown(ratio)}, CPU ${shown(cpu)}`];
    });
    console.log(`  ${load.kind}: ${answers.join('; ')}`);
  }
}

/** @param {import('../stats/separation.js').Ratio} ratio */
function shown({ ratio, halfWidth }) {
  return `${ratio.toFixed(3)} ±${(100 * (halfWidth ?? 0)).toFixed(1)}%`;
}

/** @param {string} key @param {import('../stats/separation.js').Ratio} ratio */
function count(key, { answer, halfWidth }) {
  const one = counts.get(key) ?? { slower: 0, faster: 0, untold: 0, halves: [] };
  if (answer === 'faster' || answer === 'slower') one[answer] += 1;
  else one.untold += 1;
  one.halves.push(halfWidth ?? Infinity);
  counts.set(key, one);
}

/** @param {Record<string, unknown>} line */
function keep(line) {
  if (values.out === undefined) return;
  appendFileSync(values.out, `${JSON.stringify({ ...line, load1: loadavg()[0] })}\n`);
}

function print() {
  const table = new Table({
    head: ['load, contender', 'slower', 'faster', 'not shown', 'median ±'],
    style: { head: [], border: [], compact: true },
  });
  for (const [key, { slower, faster, untold, halves }] of counts) {
    const middle = halves.sort((a, b) => a - b)[halves.length >> 1];
    table.push([key, slower, faster, untold, `${(100 * middle).toFixed(1)} %`]);
  }
  console.log(table.toString());
}

if (isMain(import.meta.filename)) await main();

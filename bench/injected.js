/**
 * Known defects in a default race: races of equal contenders, and of contenders with an injected
 * defect, through the programming interface, with a private Redis. `node bench/injected.js [--races
 * N] [--budget SECONDS] [--precision SHARE] [--busy N] [--busy-on 0,2] [--contenders
 * equal,slow-start] [--out FILE]`
 *
 * --busy: busy loops beside the races, on processors chosen by the scheduler; --busy-on: one on
 * each of these processors (a neighbour); --precision: with 0.001 no race ends before its budget;
 * --contenders: contenders beside the plain one; --out: a line of JSON per comparison, with the
 * deciding figure and the figure of each process (log of ns per operation). Prints per load and
 * contender how often it was slower, faster (wrong sign), split, or tied with the plain one, by
 * time and by the client's CPU time per operation, which decides a verdict if the times are tied;
 * how often its pauses were named (uneven, long segments), the machine was too busy, and the
 * interval contains 1.
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
import { busynessOf, figureOfEntries, pairOf } from '../stats/standings.js';
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

/**
 * @typedef {object} Line a contender against the plain one, in a race and under a load
 * @property {number} race
 * @property {string} load
 * @property {string} name
 * @property {number} seconds
 * @property {import('../stats/blocks.js').Figure} figure deciding figure
 * @property {boolean} isBusy
 * @property {boolean} isUneven
 * @property {import('../stats/long-slices.js').LongSlices} long
 * @property {import('../stats/separation.js').Ratio} speed
 * @property {import('../stats/separation.js').Ratio} cpu
 * @property {{ plain: number[], own: number[] }} logs logs of processes
 */

async function main() {
  const home = findHome();
  const { servers, stop } = await startServers(['redis'], { home, owned: true });
  const busy = startBusyLoops();
  /** @type {Line[]} */
  const lines = [];
  try {
    await shareCredentials(servers);
    const { address, credentials } = await resolveAddress('redis', { home });
    const loader = await getLoader('redis');
    await loader.seed({ address, credentials, dataset: createDataset({}) });
    const isBusy = Number(values.busy) > 0 || values['busy-on'] !== undefined;
    for (let race = 1; race <= Number(values.races); race += 1) {
      const linesOfRace = await raceOf(race, values.contenders.split(','), {
        precision: Number(values.precision),
        budget: 1000 * Number(values.budget),
        home,
        ...(isBusy && { anyway: true }),
      });
      lines.push(...linesOfRace);
      show(linesOfRace);
      for (const line of values.out === undefined ? [] : linesOfRace) {
        appendFileSync(values.out ?? '', `${JSON.stringify({ ...line, load1: loadavg()[0] })}\n`);
      }
    }
  } finally {
    for (const loop of busy) loop.kill('SIGKILL');
    await stop();
  }
  console.log(tableOf(lines));
}

/**
 * @param {number} race its number
 * @param {readonly string[]} names names of contenders beside the plain one
 * @param {Record<string, unknown>} options options of the run
 * @returns {Promise<Line[]>}
 */
export async function raceOf(race, names, options) {
  const result = await run(
    /** @type {any} */ ({
      storages: ['plain', ...names].map((name) => path.join(FOLDER, `${name}.js`)),
      loads: [{ kind: 'sync' }, { kind: 'window', inFlight: 100 }],
      ...options,
    }),
  );
  return linesOf(race, result);
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
 * @returns {Line[]}
 */
function linesOf(race, { comparison }) {
  if (!comparison) throw new Error('the race did not run by slices');
  return comparison.loads.flatMap((load) => {
    const entries = entriesOf(load);
    const figure = figureOfEntries(entries);
    const means = processMeans(
      entries.map(({ time }) => time),
      { figure },
    );
    const plain = entries.findIndex(({ name }) => name === 'plain');
    const { isBusy } = busynessOf(entries);
    return entries.flatMap(({ name, group }, i) => {
      const pair = pairOf(entries, name, 'plain');
      if (i === plain || pair === null || !['networked', 'again'].includes(group)) return [];
      const { speed, isUneven, long, witnesses } = pair;
      const about = { race, load: load.kind, name, seconds: comparison.spentNs / 1e9 };
      const logs = { plain: means[plain], own: means[i] };
      return [
        { ...about, figure, isBusy, isUneven, long, speed, cpu: witnesses['clientCpu'], logs },
      ];
    });
  });
}

/** @param {readonly Line[]} lines lines of a race */
function show(lines) {
  const [{ race, seconds, figure, isBusy, speed }] = lines;
  const about = `${speed.n} rounds, ${seconds.toFixed(0)} s, ${figure}${isBusy ? ', too busy' : ''}`;
  console.log(`race ${race}: ${about}, load ${loadavg()[0].toFixed(1)}`);
  for (const load of new Set(lines.map((line) => line.load))) {
    const own = lines.filter((line) => line.load === load);
    const texts = own.map((one) => `${one.name} ${shown(one.speed)}, CPU ${shown(one.cpu)}`);
    console.log(`  ${load}: ${texts.join('; ')}`);
  }
}

/** @param {import('../stats/separation.js').Ratio} ratio */
function shown({ ratio, halfWidth }) {
  return `${ratio.toFixed(3)} ±${(100 * (halfWidth ?? 0)).toFixed(1)}%`;
}

/**
 * @param {readonly Line[]} lines lines of all races
 * @returns {string} table with a row per load and contender, by time and by CPU time
 */
export function tableOf(lines) {
  const table = new Table({
    head: [
      ...['load, contender', 'slower', 'faster', 'split', 'not shown', 'contains 1', 'median ±'],
      ...['uneven', 'long', 'busy'],
    ],
    style: { head: [], border: [], compact: true },
  });
  const names = new Set(lines.map(({ load, name }) => `${load} ${name}`));
  for (const key of names) {
    const own = lines.filter(({ load, name }) => `${load} ${name}` === key);
    const count = (/** @type {(line: Line) => boolean} */ is) => own.filter(is).length;
    table.push([
      key,
      ...answersOf(own.map(({ speed }) => speed)),
      count(({ isUneven }) => isUneven),
      count(({ long }) => long.isDecided),
      count(({ isBusy }) => isBusy),
    ]);
    table.push([`${key}, CPU`, ...answersOf(own.map(({ cpu }) => cpu)), '', '', '']);
  }
  return table.toString();
}

/** @param {readonly import('../stats/separation.js').Ratio[]} ratios */
function answersOf(ratios) {
  const count = (/** @type {string[]} */ ...answers) =>
    ratios.filter(({ answer }) => answers.includes(answer)).length;
  const contain = ratios.filter(({ low, high }) => Number(low) <= 1 && Number(high) >= 1);
  const halves = ratios.map(({ halfWidth }) => halfWidth ?? Infinity).sort((a, b) => a - b);
  return [
    ...[count('slower'), count('faster'), count('split'), count('tied', 'not resolved')],
    ...[contain.length, `${(100 * halves[halves.length >> 1]).toFixed(1)} %`],
  ];
}

if (isMain(import.meta.filename)) await main();

/**
 * Whether a gate finds a slower driver: from an empty folder, with the packed tarball, forks of
 * ioredis are raced against ioredis. One sends every 20th GET twice (5 % more commands), one is
 * equal, one sends every 50th twice (2 %). Not part of the tests: a race takes up to --budget.
 *
 *     node bench/forks.js [--equal 20] [--five 5] [--two 3] [--budget 40s] [--minutes 28]
 *       [--gates "throughput<0.975,client-cpu>1.025"] [--in-flight 100]
 *       [--fetched .dragstrip/packages] [--out forks-results]
 *
 * --equal, --five, --two: how many races of each, mixed. --minutes: no race is started that would
 * end later than this after the start. --fetched: servers that were downloaded before; without it
 * they are downloaded into the folder. --out: races.jsonl with a line per race, table.md with what
 * there is so far, the result and the output of each race.
 */

import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { systemClock } from '../measure/clock.js';
import { orderOf, raceLine, tableOf } from './forks-table.js';

/** @typedef {import('./forks-table.js').ForkRace} ForkRace */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Of how many GET commands one is sent twice. @type {Readonly<Record<string, number | null>>} */
const CASES = Object.freeze({ equal: null, '5 %': 20, '2 %': 50 });
/** A race that none has told the length of yet. */
const LONGEST_S = 60;

const { values } = parseArgs({
  options: {
    equal: { type: 'string', default: '20' },
    five: { type: 'string', default: '5' },
    two: { type: 'string', default: '3' },
    budget: { type: 'string', default: '40s' },
    minutes: { type: 'string', default: '28' },
    gates: { type: 'string', default: 'throughput<0.975,client-cpu>1.025' },
    'in-flight': { type: 'string', default: '100' },
    fetched: { type: 'string' },
    out: { type: 'string', default: 'forks-results' },
  },
});
const counts = { equal: values.equal, '5 %': values.five, '2 %': values.two };
for (const text of [...Object.values(counts), values.minutes]) {
  if (/^\d+$/.test(text)) continue;
  console.error(`${text}: not a whole number; --equal 20 --five 5 --two 3 --minutes 28`);
  process.exit(2);
}
const startNs = systemClock.now();
const out = path.resolve(values.out);

/** @param {number} sinceNs */
const secondsSince = (sinceNs) => (systemClock.now() - sinceNs) / 1e9;

/**
 * An empty project with Dragstrip as npm packs it, and the forks.
 * @param {string} folder
 */
async function prepare(folder) {
  const run = (/** @type {string[]} */ words) => execa('npm', words, { cwd: folder });
  await execa('npm', ['pack', '--ignore-scripts=false', '--silent', '--pack-destination', folder], {
    cwd: ROOT,
  });
  const [tarball] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  await run(['init', '-y']);
  await run(['install', '--ignore-scripts', '--no-audit', '--no-fund', `./${tarball}`]);
  for (const name of Object.keys(CASES)) await makeFork(folder, name);
  if (values.fetched !== undefined) {
    await mkdir(path.join(folder, '.dragstrip'));
    await symlink(path.resolve(values.fetched), path.join(folder, '.dragstrip/packages'));
  }
}

/** @param {string} name @returns {string} of a case, for files: `fork-5-percent` */
function fileNameOf(name) {
  return `fork-${name.replace(' %', '-percent')}`;
}

/**
 * @param {string} folder
 * @param {string} name of the case
 */
async function makeFork(folder, name) {
  const fork = path.join(folder, fileNameOf(name));
  await cp(path.join(folder, 'node_modules/ioredis'), fork, { recursive: true });
  const entry = path.join(fork, 'built/index.js');
  const every = CASES[name];
  const change = every === null ? '// equal\n' : twice(every);
  await writeFile(entry, `${await readFile(entry, 'utf8')}\n${change}`);
}

/** @param {number} every @returns {string} code that sends each of so many GET commands twice */
function twice(every) {
  return `const { Command: Again, default: Client } = exports;
const send = Client.prototype.sendCommand;
let gets = 0;
Client.prototype.sendCommand = function (command, stream) {
  if (command.name === 'get' && ++gets % ${every} === 0) {
    const again = new Again('get', command.args, { replyEncoding: null });
    send.call(this, again, stream).catch(() => {});
  }
  return send.call(this, command, stream);
};
`;
}

/**
 * @param {string} name of the case
 * @returns {string[]} the command line, without where the result goes
 */
function wordsOf(name) {
  const gates = values.gates.split(',').flatMap((gate) => ['--fail-if', gate]);
  const load = ['--load', 'window', '--in-flight', values['in-flight'], '--budget', values.budget];
  return ['race', '--against', `ioredis@./${fileNameOf(name)}`, ...load, ...gates];
}

/**
 * @param {string} folder
 * @param {{ name: string, number: number }} which
 * @returns {Promise<ForkRace>}
 */
async function race(folder, { name, number }) {
  const file = `${fileNameOf(name)}-${number}`;
  const json = path.join(out, `${file}.json`);
  const load = loadavg()[0];
  const raceNs = systemClock.now();
  const words = ['dragstrip', ...wordsOf(name), '--json', json, '--no-html', '--force'];
  const ended = await execa('npx', words, { cwd: folder, reject: false, all: true });
  const seconds = secondsSince(raceNs);
  await writeFile(path.join(out, `${file}.txt`), ended.all);
  const stored = await readFile(json, 'utf8').catch(() => '{}');
  const { gates = [] } = JSON.parse(stored);
  return { name, number, status: Number(ended.exitCode), seconds, load, gates };
}

/**
 * @param {string} folder
 * @returns {Promise<ForkRace[]>} written as they end
 */
async function raceAll(folder) {
  /** @type {ForkRace[]} */
  const races = [];
  const wanted = Object.fromEntries(Object.entries(counts).map(([name, n]) => [name, Number(n)]));
  const order = orderOf(wanted);
  for (const which of order) {
    const longest = Math.max(...races.map(({ seconds }) => seconds), 0) || LONGEST_S;
    if (secondsSince(startNs) + longest > Number(values.minutes) * 60) {
      console.log(`time is up: ${races.length} of ${order.length} races`);
      break;
    }
    const one = await race(folder, which);
    races.push(one);
    console.log(raceLine(one));
    await appendFile(path.join(out, 'races.jsonl'), `${JSON.stringify(one)}\n`);
    await writeFile(path.join(out, 'table.md'), `${tableOf(races)}\n`);
  }
  return races;
}

const folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-forks-'));
const servers = (/** @type {string} */ what) =>
  execa('npx', ['dragstrip', 'servers', what, 'redis'], { cwd: folder });
try {
  await mkdir(out, { recursive: true });
  await rm(path.join(out, 'races.jsonl'), { force: true });
  await prepare(folder);
  await servers('start');
  await execa('npx', ['dragstrip', 'seed', 'redis'], { cwd: folder });
  console.log(`npx dragstrip ${wordsOf('5 %').join(' ')}`);
  console.log(`prepared in ${secondsSince(startNs).toFixed(0)} s\n`);
  const races = await raceAll(folder);
  const minutes = (secondsSince(startNs) / 60).toFixed(1);
  console.log(
    `\n${tableOf(races)}\n\nraces: ${races.length}; ${minutes} minutes in all; results in ${out}`,
  );
} finally {
  await servers('stop').catch(() => {});
  await rm(folder, { recursive: true, force: true });
}

/**
 * Detection of slower drivers by a gate, and its time: from an empty folder, with the packed
 * tarball, forks of ioredis race against ioredis. One sends every 20th GET twice (5 % more
 * commands), others each 5th, 10th, 33rd or 50th, one is equal. A fork of redis writes each command
 * separately, with a gate on the count of writes. Not part of the tests: a race takes up to
 * --budget.
 *
 *     node bench/forks.js [--races "equal=20,20 %=5,10 %=5,5 %=5,3 %=5,2 %=3,unbatched=10"]
 *       [--budget 40s] [--minutes 28] [--gates "throughput<0.975,client-cpu>1.025"]
 *       [--in-flight 100] [--fetched .dragstrip/packages] [--out forks-results]
 *
 * --races: number per case, mixed. --minutes: time limit, within which every started race must end.
 * --fetched: downloaded servers; otherwise they are downloaded into the folder. --out: races.jsonl
 * with a line per race, table.md with the table so far, the result and the output of each race.
 * Time to decision is the time of the rounds (`spentNs` of the result), with running servers.
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
import { isMain } from './main.js';

/** @typedef {import('./forks-table.js').ForkRace} ForkRace */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** One GET in this many is sent twice. @type {Readonly<Record<string, number | null>>} */
const CASES = Object.freeze({
  equal: null,
  '20 %': 5,
  '10 %': 10,
  '5 %': 20,
  '3 %': 33,
  '2 %': 50,
});
/** A fork of redis instead of ioredis. */
const UNBATCHED = 'unbatched';
export const FORKS = [...Object.keys(CASES), UNBATCHED];
/** Estimated duration of a race before the first one. */
const LONGEST_S = 60;

const { values } = parseArgs({
  options: {
    races: { type: 'string', default: 'equal=20,20 %=5,10 %=5,5 %=5,3 %=5,2 %=3,unbatched=10' },
    budget: { type: 'string', default: '40s' },
    minutes: { type: 'string', default: '28' },
    gates: { type: 'string', default: 'throughput<0.975,client-cpu>1.025' },
    'in-flight': { type: 'string', default: '100' },
    fetched: { type: 'string' },
    out: { type: 'string', default: 'forks-results' },
  },
});
const startNs = systemClock.now();
const out = path.resolve(values.out);

/** @returns {Record<string, number>} races by case */
function countsOf() {
  const counts = Object.fromEntries(values.races.split(',').map((one) => one.trim().split('=')));
  for (const [name, text] of Object.entries(counts)) {
    if (FORKS.includes(name) && /^\d+$/.test(text)) continue;
    console.error(`--races ${name}=${text}: not a number of races of ${FORKS.join(', ')}`);
    process.exit(2);
  }
  return Object.fromEntries(Object.entries(counts).map(([name, text]) => [name, Number(text)]));
}

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
  const packages = path.join(folder, 'node_modules');
  for (const name of FORKS) await makeFork(folder, name, packages);
  if (values.fetched !== undefined) {
    await mkdir(path.join(folder, '.dragstrip'));
    await symlink(path.resolve(values.fetched), path.join(folder, '.dragstrip/packages'));
  }
}

/** @param {string} name @returns {string} name of a case for files: `fork-5-percent` */
function fileNameOf(name) {
  return `fork-${name.replace(' %', '-percent')}`;
}

/**
 * @param {string} folder
 * @param {string} name name of the case
 * @param {string} packages packages with the driver
 * @returns {Promise<string>} folder of the fork
 */
export async function makeFork(folder, name, packages) {
  const isRedis = name === UNBATCHED;
  const fork = path.join(folder, fileNameOf(name));
  await cp(path.join(packages, isRedis ? 'redis' : 'ioredis'), fork, { recursive: true });
  const entry = path.join(fork, isRedis ? 'dist/index.js' : 'built/index.js');
  const every = CASES[name];
  const change = isRedis ? UNBATCHING : every === null ? '// equal\n' : twice(every);
  await writeFile(entry, `${await readFile(entry, 'utf8')}\n${change}`);
  return fork;
}

/** Code that passes each command to the socket separately, so that each is one write. */
const UNBATCHING = `const path = require('node:path');
const client = path.dirname(require.resolve('@redis/client'));
const { default: Socket } = require(path.join(client, 'lib/client/socket.js'));
const writeAll = Socket.prototype.write;
Socket.prototype.write = function (commands) {
  for (const command of commands) writeAll.call(this, [command]);
};
`;

/** @param {number} every @returns {string} code that sends every n-th GET command twice */
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
 * @param {string} name name of the case
 * @returns {string[]} the command line, without the destination of the result
 */
function wordsOf(name) {
  const isRedis = name === UNBATCHED;
  const own = isRedis ? ['writes>1.02'] : values.gates.split(',');
  const gates = own.flatMap((gate) => ['--fail-if', gate]);
  const load = ['--load', 'window', '--in-flight', values['in-flight'], '--budget', values.budget];
  const driver = isRedis ? 'redis' : 'ioredis';
  return ['race', '--against', `${driver}@./${fileNameOf(name)}`, ...load, ...gates];
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
  const { gates = [], comparison } = JSON.parse(stored);
  const spent = comparison === undefined ? null : comparison.spentNs / 1e9;
  const rounds = comparison?.blocks.length ?? 0;
  return { name, number, status: Number(ended.exitCode), seconds, spent, rounds, load, gates };
}

/**
 * @param {string} folder
 * @returns {Promise<ForkRace[]>} resolves when all have ended; written one by one
 */
async function raceAll(folder) {
  /** @type {ForkRace[]} */
  const races = [];
  const order = orderOf(countsOf());
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

async function main() {
  countsOf();
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
}

if (isMain(import.meta.filename)) await main();

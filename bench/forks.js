/**
 * Whether a gate finds a slower driver: from an empty folder, with the packed tarball, forks of
 * ioredis are raced against ioredis. One sends every 20th GET twice (5 % more commands), one is
 * equal, one sends every 50th twice (2 %). Not part of the tests: a race takes up to --budget.
 *
 *     node bench/forks.js [--cases 5%,equal,2%] [--repeat 20] [--budget 2m]
 *       [--gates client-cpu>1.01,server-cpu>1.01] [--fetched .dragstrip/packages] [--out FOLDER]
 *
 * --fetched: servers that were downloaded before; without it they are downloaded into the folder.
 * --out: keeps the result and the output of each race.
 */

import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { systemClock } from '../measure/clock.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Of how many GET commands one is sent twice. @type {Readonly<Record<string, number | null>>} */
const CASES = Object.freeze({ '5%': 20, equal: null, '2%': 50 });

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: Object.keys(CASES).join(',') },
    repeat: { type: 'string', default: '20' },
    budget: { type: 'string', default: '2m' },
    gates: { type: 'string', default: 'client-cpu>1.01,server-cpu>1.01' },
    fetched: { type: 'string' },
    out: { type: 'string' },
  },
});
const cases = values.cases.split(',');
const unknown = cases.find((name) => !(name in CASES));
if (unknown !== undefined) {
  console.error(`--cases ${unknown}: one of ${Object.keys(CASES).join(', ')}`);
  process.exit(2);
}

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
  for (const name of cases) await makeFork(folder, name);
  if (values.fetched !== undefined) {
    await mkdir(path.join(folder, '.dragstrip'));
    await symlink(path.resolve(values.fetched), path.join(folder, '.dragstrip/packages'));
  }
}

/** @param {string} name */
function folderOf(name) {
  return `fork-${name.replace('%', '-percent')}`;
}

/**
 * @param {string} folder
 * @param {string} name of the case
 */
async function makeFork(folder, name) {
  const fork = path.join(folder, folderOf(name));
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
 * @param {string} folder
 * @param {string} name
 * @param {number} number
 * @returns {Promise<{ status: number, seconds: number, outcomes: string[] }>} outcomes of gates
 */
async function race(folder, name, number) {
  const json = `${folderOf(name)}-${number}.json`;
  const gates = values.gates.split(',').flatMap((gate) => ['--fail-if', gate]);
  const words = ['race', '--storages', 'ioredis', '--against', `ioredis@./${folderOf(name)}`];
  const more = ['--budget', values.budget, '--json', json, '--no-html'];
  const startNs = systemClock.now();
  const ended = await execa('npx', ['dragstrip', ...words, ...gates, ...more], {
    ...{ cwd: folder, reject: false, all: true },
  });
  const seconds = (systemClock.now() - startNs) / 1e9;
  if (values.out !== undefined) await writeFile(path.join(values.out, `${json}.txt`), ended.all);
  const stored = await readFile(path.join(folder, json), 'utf8').catch(() => null);
  if (stored === null) throw new Error(`${name}: no result\n${ended.all}`);
  if (values.out !== undefined) await writeFile(path.join(values.out, json), stored);
  const outcomes = (JSON.parse(stored).gates ?? []).map(
    (/** @type {{ outcome: string }} */ { outcome }) => outcome,
  );
  return { status: Number(ended.exitCode), seconds, outcomes };
}

/** @param {number[]} all @returns {string} median and range */
function spread(all) {
  const sorted = all.toSorted((a, b) => a - b);
  const shown = [sorted[sorted.length >> 1], sorted[0], sorted[sorted.length - 1]];
  const [median, least, most] = shown.map((value) => value.toFixed(0));
  return `${median} (${least}–${most})`;
}

const folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-forks-'));
const servers = (/** @type {string} */ what) =>
  execa('npx', ['dragstrip', 'servers', what, 'redis'], { cwd: folder });
try {
  if (values.out !== undefined) await mkdir(values.out, { recursive: true });
  await prepare(folder);
  await servers('start');
  await execa('npx', ['dragstrip', 'seed', 'redis'], { cwd: folder });
  console.log(`gates ${values.gates}, budget ${values.budget}`);
  console.log('case  races  exit 6  exit 0, all passed  exit 0, undecided  other  seconds  load');
  for (const name of cases) {
    /** @type {Awaited<ReturnType<typeof race>>[]} */
    const races = [];
    const loads = [];
    for (let i = 0; i < Number(values.repeat); i += 1) {
      loads.push(loadavg()[0]);
      races.push(await race(folder, name, i + 1));
    }
    const count = (/** @type {(one: (typeof races)[number]) => boolean} */ is) =>
      races.filter(is).length;
    const failed = count(({ status }) => status === 6);
    const isPassed = (/** @type {(typeof races)[number]} */ { outcomes }) =>
      outcomes.length > 0 && outcomes.every((outcome) => outcome === 'passed');
    const passed = count((one) => one.status === 0 && isPassed(one));
    const undecided = count((one) => one.status === 0 && !isPassed(one));
    const counts = [races.length, failed, passed, undecided];
    const other = races.length - failed - passed - undecided;
    const times = spread(races.map(({ seconds }) => seconds));
    console.log([name, ...counts, other, times, spread(loads)].join('  '));
  }
} finally {
  await servers('stop').catch(() => {});
  await rm(folder, { recursive: true, force: true });
}

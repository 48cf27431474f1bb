/**
 * Three paths of values through the source text; `--write` updates them in docs/architecture.md.
 *
 * A walk has legs: [from, to, word]. Files of a leg are on an import path between the two that a
 * race loads, and contain the word in code, not only in comments, imports or with a constant. A
 * file that passes the value on inside another one does not contain it.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isCounted } from './count.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENT = path.join(ROOT, 'docs/architecture.md');
const MARKED = /(<!-- walks:start -->\n)([\s\S]*?)(<!-- walks:end -->)/;

const CONTENDER = 'engine/storage-contender.js';
/** Modules that a race loads by `import()`, without other workloads, contenders and commands. */
const LAZY = new Set([
  ...[CONTENDER, 'workloads/get/index.js', 'workloads/get/report.js'],
  ...['cli/run-command.js', 'cli/race-session.js'],
]);

/**
 * max: current number of files, an upper limit; aside: manual list of files that use the word for a
 * different purpose
 */
export const WALKS = Object.freeze({
  key: {
    title: 'A key, from where it is drawn to the call of the driver',
    max: 5,
    legs: [
      ['workloads/get/index.js', 'workloads/get/keys.js', /\bdrawKeys\(/],
      [CONTENDER, 'load/workers.js', /\bop\(/],
      ['storages/ioredis.js', 'storages/ioredis-family.js', /\bredis\.get\(/],
    ],
    aside: { 'workloads/get/own.js': "the user's keys of `--read-only`" },
  },
  inFlight: {
    title: '`--in-flight`, from the command line to the loop',
    max: 12,
    legs: [
      ...['workloads/get/presets.js', 'engine/load-options.js', 'engine/loads.js'],
      ...['engine/benchmarks.js', 'engine/roles.js', 'engine/schedule/choose.js', 'engine/seat.js'],
      ...['engine/schedule/blocks.js', 'engine/share.js', 'engine/pool.js', 'load/workers.js'],
    ].map((to) => ['cli/commands/run.js', to, /\binFlight\b(?!: (null|\d))/]),
    aside: {
      'cli/options.js': '`limit`',
      'engine/client-ceilings.js': '`limit`',
      'engine/server-ceilings.js': '`limit`',
      'engine/wire-contender.js': 'the loop of server ceilings',
    },
  },
  p99: {
    title: 'A p99, from the recorder to the cell of a table in every format',
    max: 12,
    legs: [
      [CONTENDER, 'measure/histogram.js', /\b(histograms?|latency)\b/],
      ['engine/rounds.js', 'engine/segment.js', /\b(histograms?|latency|p99Ns)\b/],
      ['engine/to-round.js', 'measure/hdr.js', /\bencode\(/],
      ['report/document.js', 'measure/hdr.js', /\bmergedHistogram\(/],
      ['workloads/get/report.js', 'stats/metrics.js', /\bp99\b/],
      ['report/index.js', 'report/model.js', /\btabulate\(/],
    ],
    aside: {
      'engine/store.js': 'parts of a row of `mget`',
      'report/analysis/rates.js': 'further histograms of open loops',
      'workloads/operations-plots.js': 'plots',
    },
  },
});

/** @param {string} file @param {string} code @returns {string[]} files that it loads */
function loadedBy(file, code) {
  return [...code.matchAll(/(\bfrom|\bimport\(?)\s*'(\.[^']+)'/g)]
    .map(([, how, to]) => ({ how, to: path.posix.join(path.posix.dirname(file), to) }))
    .filter(({ how, to }) => how !== 'import(' || LAZY.has(to))
    .map(({ to }) => to);
}

/** @param {Map<string, string[]>} arrows @param {string} start */
function reachable(arrows, start) {
  const found = new Set([start]);
  for (const file of found) for (const to of arrows.get(file) ?? []) found.add(to);
  return found;
}

/** @returns {Record<string, string[]>} files by walk, including those aside */
export function filesOfWalks() {
  const [code, imports, importers] = [new Map(), new Map(), new Map()];
  const names = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  for (const file of names.filter((name) => isCounted(name) && name.endsWith('.js'))) {
    if (!existsSync(path.join(ROOT, file))) continue;
    const text = readFileSync(path.join(ROOT, file), 'utf8')
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/^\s*\/\/.*$/gm, '');
    code.set(file, text.replace(/^(import|export) [^;()]*from '[^']*';/gm, ''));
    imports.set(file, loadedBy(file, text));
    for (const to of imports.get(file)) importers.set(to, [...(importers.get(to) ?? []), file]);
  }
  const legOf = (/** @type {any} */ [from, to, word]) => {
    const above = reachable(importers, to);
    if (!above.has(from)) throw new Error(`no imports lead from ${from} to ${to}`);
    const between = [...reachable(imports, from)].filter((file) => above.has(file));
    return between.filter((file) => word.test(code.get(file)));
  };
  const filesOf = (/** @type {any} */ { legs }) => [...new Set(legs.flatMap(legOf))].sort();
  return Object.fromEntries(Object.entries(WALKS).map(([name, walk]) => [name, filesOf(walk)]));
}

export function walksText() {
  const walks = filesOfWalks();
  const texts = Object.entries(WALKS).map(([name, { title, aside }]) => {
    const files = walks[name].filter((file) => !Object.hasOwn(aside, file));
    const others = Object.entries(aside).map(([file, why]) => `\`${file}\` (${why})`);
    const list = files.map((file) => `\`${file}\``).join(', ');
    return `**${title}: ${files.length} files**: ${list}. Not counted: ${others.join(', ')}.\n`;
  });
  return texts.join('\n');
}

export const walksInDocument = () => MARKED.exec(readFileSync(DOCUMENT, 'utf8'))?.[2] ?? '';

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = walksText();
  if (!process.argv.includes('--write')) console.log(text);
  else writeFileSync(DOCUMENT, readFileSync(DOCUMENT, 'utf8').replace(MARKED, `$1${text}$3`));
}

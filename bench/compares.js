/**
 * Rate of false differences of `compare` between equal code: consecutive races, each with private
 * servers, then comparisons of all pairs of results. `node bench/compares.js FOLDER [--runs N]
 * [--budget SECONDS] [--storages a,b]`
 *
 * FOLDER keeps the results; existing runs are not repeated. Prints the pairs with a claim (a
 * benchmark called faster or slower), the benchmarks with a verdict, and the number of intervals of
 * the second copy (A/A) that contain 1.
 */

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { execa } from 'execa';
import { compareResults, parseResult } from '../index.js';
import { entriesOf } from '../lib/comparison.js';
import { standingsOf } from '../stats/standings.js';

/** @typedef {import('../lib/result.js').Result} Result */

const PROGRAM = fileURLToPath(new URL('../bin/dragstrip.js', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '11' },
    budget: { type: 'string', default: '60' },
    storages: { type: 'string' },
  },
});
const [folder] = positionals;
if (folder === undefined) {
  console.error(
    'usage: node bench/compares.js FOLDER [--runs N] [--budget SECONDS] [--storages a,b]',
  );
  process.exit(2);
}

mkdirSync(folder, { recursive: true });
const files = Array.from({ length: Number(values.runs) }, (_, i) =>
  path.join(folder, `run-${String(i + 1).padStart(2, '0')}.json`),
);
for (const file of files) if (!existsSync(file)) await race(file);
show(files.map((file) => ({ file, result: parseResult(readFileSync(file, 'utf8'), file) })));

/** @param {string} file */
async function race(file) {
  const storages = values.storages === undefined ? [] : ['--storages', values.storages];
  const words = [
    'race',
    '--setup',
    '--quiet',
    '--budget',
    `${values.budget}s`,
    '--json',
    file,
    ...storages,
  ];
  const { exitCode } = await execa(process.execPath, [PROGRAM, ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
    reject: false,
  });
  console.log(`${path.basename(file)}: exit status ${exitCode}, load ${loadavg()[0].toFixed(1)}`);
}

/** @param {{ file: string, result: Result }[]} runs */
function show(runs) {
  const counts = { pairs: 0, claims: 0, benchmarks: 0, verdicts: 0, different: 0 };
  for (const [i, base] of runs.entries()) {
    for (const other of runs.slice(i + 1)) {
      const [{ benchmarks }] = compareResults(base, [other]).others;
      const claimed = benchmarks.filter(({ verdict }) => ['faster', 'slower'].includes(verdict));
      counts.pairs += 1;
      counts.claims += claimed.length > 0 ? 1 : 0;
      counts.benchmarks += benchmarks.length;
      counts.verdicts += benchmarks.filter(({ reference }) => reference !== null).length;
      counts.different += claimed.length;
      for (const { benchmark, ratio } of claimed) {
        const names = `${path.basename(base.file)} and ${path.basename(other.file)}`;
        console.log(`  ${names}: ${benchmark} ${ratio?.toFixed(3)}`);
      }
    }
  }
  const again = runs.flatMap(({ result }) => witnesses(result));
  const table = new Table({ style: { head: [], border: [], compact: true } });
  table.push(
    ['reports that claim a difference', `${counts.claims} of ${counts.pairs}`],
    ['benchmarks called different', `${counts.different} of ${counts.benchmarks}`],
    ['benchmarks with a sound reference', `${counts.verdicts} of ${counts.benchmarks}`],
    ['A/A intervals that contain 1', `${again.filter(Boolean).length} of ${again.length}`],
  );
  console.log(table.toString());
}

/**
 * @param {Result} result
 * @returns {boolean[]} per load, whether the interval of the second copy contains 1
 */
function witnesses({ comparison }) {
  return (comparison?.loads ?? []).flatMap((load) => {
    const { again } = standingsOf(entriesOf(load));
    return again === null ? [] : [(again.low ?? 0) <= 1 && (again.high ?? Infinity) >= 1];
  });
}

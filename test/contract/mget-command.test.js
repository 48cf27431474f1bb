/** `dragstrip mget` on the memory storage: its lines, its options and its refusals. */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure } from '../helpers/command-line.js';

const MEMORY = ['--storages', 'memory', '--rows', '300', '--data-size', '32', '--warmup', '20'];
const gnuplot = spawnSync('gnuplot', ['--version']).status === 0;

const { callHere, file, resultIn, textOf } = withCommands();

const mget = (/** @type {string[]} */ ...words) => callHere('mget', ...words);

describe('mget concurrency', () => {
  test('prints the original program’s table, of medians that can be recomputed from the result', async () => {
    const { status, stdout, stderr } = await mget(
      ...['concurrency', ...MEMORY, '--cycles', '6', '--max-conc', '5', '--json', 'a.json'],
    );
    assert.equal(status, 0, stderr);
    const [held, head, ...more] = stdout.split('\n');
    assert.equal(held, 'Holding 300 keys');
    assert.equal(head, 'keys\tc=1\tc=2\tc=4', 'doubled from 1, 5 is not reached');
    const rows = more.slice(0, 22).map((line) => line.split('\t'));
    assert.equal(more[22], 'Deleted 300 test keys');
    const keys = rows.map(([count]) => Number(count));
    assert.deepEqual(keys, [1, 1, ...Array.from({ length: 20 }, (_, i) => 5 + 5 * i)]);
    const { benchmarks } = resultIn('a.json');
    assert.deepEqual(
      benchmarks.map(({ load }) => load.inFlight),
      [1, 2, 4],
    );
    benchmarks.forEach(({ rounds }, column) => {
      rounds[0].series?.forEach(({ latenciesNs }, row) => {
        const sorted = [...(latenciesNs ?? [])].sort((a, b) => a - b);
        assert.equal(sorted.length, 6);
        const expected = ((sorted[2] + sorted[3]) / 2 / 1e6).toFixed(3);
        assert.equal(rows[row][column + 1], expected, `row ${row}, column ${column}`);
      });
    });
  });

  test('accepts two cycles, and one', async () => {
    for (const cycles of ['2', '1']) {
      const words = [...MEMORY, '--max-conc', '1', '--cycles', cycles, '--quiet'];
      const { status, stdout } = await mget('concurrency', ...words);
      assert.equal(status, 0);
      assert.match(stdout, /^keys\tc=1\n(\d+\t\d+\.\d{3}\n){22}$/);
    }
  });

  test('also accepts its options before the name of the test', async () => {
    const { status, stdout } = await mget(
      ...['--cycles', '2', ...MEMORY, '--min-conc', '3', '--max-conc', '6', 'concurrency'],
    );
    assert.equal(status, 0);
    assert.match(stdout, /^Holding 300 keys\nkeys\tc=3\tc=6\n/);
  });

  test('names each table if there are several, and shows single reads beside MGET', async () => {
    const words = [...MEMORY, '--max-conc', '1', '--cycles', '20', '--pipelined'];
    const { status, stdout } = await mget('concurrency', ...words);
    assert.equal(status, 0);
    assert.match(stdout, /^Holding 300 keys\nmemory\nkeys\tc=1\n/);
    assert.match(stdout, /\nmemory, single reads at once\nkeys\tc=1\n/);
    assert.match(stdout, /memory, MGET: fetch of k keys = .* k \(1\)/);
    assert.match(stdout, /fetches\/s +keys\/s +MB\/s +\/ MGET/);
  });

  test('removes the files of embedded stores', async () => {
    const words = ['--storages', 'lmdb', '--rows', '200', '--data-size', '32', '--warmup', '10'];
    const { status, stdout, stderr } = await mget(
      ...['concurrency', ...words, '--cycles', '2', '--max-conc', '2', '--quiet'],
    );
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^keys\tc=1\tc=2\n/);
    const embedded = file('state/embedded');
    assert.deepEqual(existsSync(embedded) ? readdirSync(embedded) : [], []);
  });
});

describe('mget scatter', () => {
  const words = ['scatter', ...MEMORY, '--min-keys', '2', '--max-keys', '4', '--cycles', '60'];

  test('prints a line per fetch, from the fewest to the most keys, and nothing else', async () => {
    const { status, stdout, stderr } = await mget(...words, '--json', 's.json');
    assert.equal(status, 0);
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.length, 60);
    for (const line of lines) assert.match(line, /^[234]\t\d+\.\d{3}$/);
    assert.deepEqual([...new Set(lines.map((line) => line[0]))].sort(), ['2', '3', '4']);
    assert.match(stderr, /Holding 300 keys[\s\S]*Deleted 300 test keys/);
    const [series] = resultIn('s.json').benchmarks[0].rounds[0].series ?? [];
    const points = series.keysOf?.map((keys, i) => {
      return `${keys}\t${((series.latenciesNs?.[i] ?? 0) / 1e6).toFixed(3)}`;
    });
    assert.deepEqual(lines, points);
  });

  test('makes a script that gnuplot turns into a PNG', {
    skip: gnuplot ? false : 'there is no gnuplot: apt-get install gnuplot-nox',
  }, async () => {
    const extra = ['--gnuplot-extra', "set title 'of mine'", '--gnuplot-extra', 'set grid'];
    const { status, stdout } = await mget(...words, '--gnuplot', ...extra);
    assert.equal(status, 0);
    assert.match(stdout, /\n\$points << EOD\n([234]\t\d+\.\d+\n){60}EOD\n/);
    assert.match(stdout, /\nset title 'of mine'\nset grid\nplot /, 'extra lines before the plot');
    const png = execFileSync('gnuplot', { input: stdout });
    assert.equal(png.toString('latin1', 1, 4), 'PNG');
    assert.ok(png.length > 2000, `${png.length} bytes`);
    const complaints = spawnSync('gnuplot', { input: stdout }).stderr.toString();
    assert.equal(complaints, '', 'gnuplot has nothing to complain of');
  });

  test('makes one for a single number of keys, without a fitted line', {
    skip: gnuplot ? false : 'there is no gnuplot: apt-get install gnuplot-nox',
  }, async () => {
    const same = ['--min-keys', '3', '--max-keys', '3', '--cycles', '5', '--gnuplot'];
    const { stdout } = await mget('scatter', ...MEMORY, ...same);
    const { status, stderr, stdout: png } = spawnSync('gnuplot', { input: stdout });
    assert.equal(status, 0, stderr.toString());
    assert.equal(png.toString('latin1', 1, 4), 'PNG');
  });

  test('draws an SVG without gnuplot: each fetch, and the line with its equation', async () => {
    const { status, stderr } = await mget(...words, '--svg', 'plots', '--quiet');
    assert.equal(status, 0, stderr);
    const [own] = readdirSync(file('plots')).filter((name) => name.startsWith('mget'));
    const svg = textOf(path.join('plots', own));
    assert.match(svg, /^<svg xmlns[\s\S]*<\/svg>\s*$/);
    assert.match(svg, /memory, MGET: each fetch by its keys/);
    assert.match(svg, /-?\d\.\d{4} x [+-] \d\.\d{4} ms/);
    assert.equal((svg.match(/<circle/g) ?? []).length, 60);
  });
});

describe('mget refuses', () => {
  for (const flag of ['-a', '--password']) {
    test(`a password by ${flag}, without repeating it`, async () => {
      const ended = await callHere('mget', 'concurrency', flag, 'hunter2');
      assertFailure(ended, 2, /--password-from-env NAME/);
      assert.doesNotMatch(ended.stderr, /hunter2/);
    });
  }

  for (const [title, words, says] of /** @type {[string, string[], RegExp][]} */ ([
    ['an unknown test', ['frobnicate'], /tests: concurrency, scatter/],
    ['options of the other test', ['concurrency', '--max-keys', '5'], /an option of mget scatter/],
    ['a window of the other test', ['scatter', '--max-conc', '5'], /an option of mget concurrency/],
    ['extra lines without a script', ['scatter', '--gnuplot-extra', 'x'], /add --gnuplot/],
    ['turned ends of a range', ['concurrency', '--min-conc', '8', '--max-conc', '4'], /exchange/],
    ['turned numbers of keys', ['scatter', '--min-keys', '8', '--max-keys', '4'], /exchange/],
    ['no cycles', ['concurrency', '--cycles', '0'], /--cycles "0": not a whole number/],
    ['two addresses of Redis', ['scatter', '--redis', 'h:1', '-h', 'h'], /cannot be combined/],
    [
      'a variable that is not set',
      ['scatter', '--password-from-env', 'NO_SUCH_ONE'],
      /unknown variable/,
    ],
    ['several storages for gnuplot', ['scatter', '--gnuplot', '--storages', 'all'], /one storage/],
    [
      'a storage that has no list of keys',
      ['concurrency', '--storages', 'node-handlersocket'],
      /does not support mget/,
    ],
    ['more keys than are held', ['scatter', ...MEMORY, '--max-keys', '301'], /only 300 are stored/],
  ])) {
    test(title, async () => {
      assertFailure(await callHere('mget', ...words), /support/.test(says.source) ? 4 : 2, says);
    });
  }
});

/** `dragstrip report` and `dragstrip history`: files, their places, and refusals. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { sealResult } from '../../lib/digest.js';
import { assertFailure, callCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { raceResult } from '../helpers/result-builder.js';

const folder = withFolder();
const at = (/** @type {string} */ name) => path.join(folder, name);

/** @param {string} id @param {number} [factor] factor of ioredis' throughput @param {number} [day] */
function smallResult(id, factor = 1, day = 1) {
  const result = raceResult();
  result.id = id;
  result.startedAt = `2026-11-${String(day).padStart(2, '0')}T10:00:00.000Z`;
  result.benchmarks = result.benchmarks.filter(
    ({ storage }) => storage === 'redis' || storage === 'ioredis',
  );
  for (const { storage, rounds } of result.benchmarks) {
    if (storage !== 'ioredis') continue;
    for (const round of rounds) {
      round.durationNs /= factor;
      round.throughput = (round.outcomes.ok / round.durationNs) * 1e9;
    }
  }
  return result;
}

writeFileSync(at('a.json'), JSON.stringify(sealResult(smallResult('first'))));
writeFileSync(at('b.json'), JSON.stringify(sealResult(smallResult('second', 1.3))));
const report = (/** @type {string[]} */ ...words) =>
  callCommand(['bin/dragstrip.js', 'report', ...words]);

test('a page, pictures, markdown and CSV are written, and their names printed', async () => {
  const { status, stdout } = await report(
    ...[at('a.json'), '--html', at('a.html'), '--svg', at('svg'), '--markdown', at('a.md')],
    ...['--csv', at('a.csv'), '--theme', 'dark'],
  );
  assert.equal(status, 0);
  const lines = stdout.trim().split('\n');
  assert.deepEqual([lines[0], lines.at(-2), lines.at(-1)], [at('a.html'), at('a.md'), at('a.csv')]);
  assert.match(readFileSync(at('a.html'), 'utf8'), /^<!doctype html>/);
  assert.match(readFileSync(at('a.md'), 'utf8'), /^# Dragstrip/);
  assert.match(readFileSync(at('a.csv'), 'utf8'), /^table,result_id,/);
  const pictures = readdirSync(at('svg'));
  assert.ok(pictures.includes('throughput-get-sync.svg'));
  assert.match(readFileSync(path.join(at('svg'), pictures[0]), 'utf8'), /fill="#12161c"/);
});

test('existing files are not overwritten without --force, and then nothing is written', async () => {
  writeFileSync(at('there.html'), 'mine');
  const words = [at('a.json'), '--csv', at('new.csv'), '--html', at('there.html')];
  assertFailure(await report(...words), 2, /there\.html: the file exists; .*--force/);
  assert.equal(readFileSync(at('there.html'), 'utf8'), 'mine');
  assert.ok(!readdirSync(folder).includes('new.csv'));
  assert.equal((await report(...words, '--force')).status, 0);
  assert.match(readFileSync(at('there.html'), 'utf8'), /^<!doctype html>/);
});

test('a folder instead of a file, a file instead of a folder, an unknown theme', async () => {
  mkdirSync(at('folder'));
  assertFailure(await report(at('a.json'), '--html', at('folder')), 2, /it is a folder/);
  assertFailure(await report(at('a.json'), '--svg', at('a.json')), 2, /--svg .*ENOTDIR/);
  for (const kind of ['svg', 'png']) {
    const named = await report(at('a.json'), `--${kind}`, at(`plot.${kind}`));
    assertFailure(
      named,
      2,
      new RegExp(`a run has several plots; name a folder: --${kind} plots$`, 'm'),
    );
  }
  assertFailure(await report(at('a.json'), '--svg', at('x'), '--theme', 'red'), 2, /light, dark/);
});

test('two results are shown side by side in one table', async () => {
  const { status } = await report(
    ...[at('a.json'), at('b.json'), '--html', at('ab.html'), '--csv', at('ab.csv')],
  );
  assert.equal(status, 0);
  const page = readFileSync(at('ab.html'), 'utf8');
  assert.match(page, /<h2 id="comparison-h">Side by side<\/h2>/);
  assert.match(page, /0 faster, 0 slower/, 'whole runs have no reference in common');
  assert.match(page, /no verdict: [^<]* dragstrip race --against/);
  const rows = readFileSync(at('ab.csv'), 'utf8').trim().split('\r\n');
  assert.equal(rows.filter((row) => row.startsWith('table,')).length, 1);
  assert.deepEqual(
    ['first', 'second'].map(
      (id) => rows.filter((row) => row.startsWith(`rounds,${id}`)).length > 5,
    ),
    [true, true],
  );
});

test('plotting libraries are loaded only for plots', () => {
  const main = new URL('../../cli/main.js', import.meta.url);
  const script = `
    import { createRequire } from 'node:module';
    import { runCommandLine } from ${JSON.stringify(main.href)};
    const sink = { write() {}, isTTY: false };
    const streams = { stdout: sink, stderr: sink };
    const loaded = () => Object.keys(createRequire(import.meta.url).cache)
      .some((file) => /node_modules.(echarts|@resvg)/.test(file));
    await runCommandLine(['report', ${JSON.stringify(at('a.json'))}], {}, streams);
    const before = loaded();
    await runCommandLine(['report', ${JSON.stringify(at('a.json'))}, '--html',
      ${JSON.stringify(at('lazy.html'))}], {}, streams);
    console.log(before, loaded());
  `;
  const words = ['--input-type=module', '--eval', script];
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  assert.equal(execFileSync(process.execPath, words, { encoding: 'utf8', cwd }), 'false true\n');
});

test('a result is also read compressed, as offered by a page; a broken one is refused', async () => {
  const text = JSON.stringify(smallResult('packed'));
  writeFileSync(at('packed.json.gz'), gzipSync(text));
  const { status, stdout } = await callCommand([
    'bin/dragstrip.js',
    'report',
    at('packed.json.gz'),
  ]);
  assert.equal(status, 0);
  assert.match(stdout, /packed/);
  writeFileSync(at('cut.json.gz'), gzipSync(text).subarray(0, 2000));
  const cut = await callCommand(['bin/dragstrip.js', 'report', at('cut.json.gz')]);
  assertFailure(cut, 2, /cut\.json\.gz: cannot be unpacked \(Z_BUF_ERROR\)/);
});

test('a history lists results, draws each test and marks where its level changed', async () => {
  mkdirSync(at('history'));
  for (let day = 1; day <= 12; day += 1) {
    const noise = 1 + ((day * 7) % 5) / 500;
    const result = smallResult(`run-${day}`, (day > 7 ? 0.8 : 1) * noise, day);
    writeFileSync(path.join(at('history'), `${day}.json`), JSON.stringify(sealResult(result)));
  }
  writeFileSync(path.join(at('history'), 'other.json'), '{}');
  const history = (/** @type {string[]} */ ...words) =>
    callCommand(['bin/dragstrip.js', 'history', at('history'), ...words]);
  const all = await history();
  assert.equal(all.status, 0);
  assert.match(all.stdout, /^Dragstrip [\d.]+: 12 results over time\n/);
  assert.match(all.stdout, /1\.json {2,}2026-11-01 10:00:00 {2,}complete/);
  assert.match(all.stdout, /^Left out:?\n.*other\.json: not a result/m);
  assert.match(all.stdout, /ioredis:default\/get\/sync .*1 {2}run-8: .*0\.80×/);
  const single = await history('--benchmark', 'redis:default/get/sync', '--metric', 'p99');
  assert.match(single.stdout, /^p99: 0 of 2 benchmarks have a change point\.$/m);
  assert.match(single.stdout, /redis:default\/get\/sync +\S+ +[\d.]+ µs.* 12 +0\s*$/m);
  const files = await history('--benchmark', 'ioredis', '--html', at('h.html'), '--svg', at('h'));
  assert.equal(files.status, 0);
  assert.match(readFileSync(at('h.html'), 'utf8'), /the last at run-8, from/);
  assert.equal(readdirSync(at('h')).length, 3);
  const csv = await history('--benchmark', 'ioredis', '--format', 'csv');
  const [head, ...lines] = csv.stdout.trimEnd().split('\r\n');
  assert.match(head, /^benchmark,metric,unit,result_id,started_at,value,low,high,n,level_before,/);
  assert.equal(lines.length, 3 * 12);
  assert.equal(
    lines.filter((line) => /,run-8,.*,0\.80*\d*,0\.\d+$|,run-8,.*,0\.79\d*,/.test(line)).length,
    3,
  );
  const [json] = JSON.parse((await history('--benchmark', 'ioredis', '--format', 'json')).stdout);
  assert.deepEqual(
    json.tables.map((/** @type {any} */ { rows }) => rows.length),
    [12, 3, 12, 12, 12],
  );
  const { value } = json.tables[2].rows[0].values;
  assert.ok(value.low < value.value && value.value < value.high && value.n > 1);
  const markdown = await history('--benchmark', 'ioredis', '--format', 'markdown');
  assert.match(markdown.stdout, /\| ioredis:default\/get\/sync \| [▁-█]+ \|.*run-8: /);
  assert.match((await history('--format', 'html')).stdout, /^<!doctype html>[\s\S]*history-/);
  assertFailure(await history('--format', 'xml'), 2, /unknown report "xml"/);
  assertFailure(await history('--benchmark', 'none'), 2, /--benchmark none: no such benchmark/);
  assertFailure(
    await callCommand(['bin/dragstrip.js', 'history', at('nowhere')]),
    2,
    /nowhere: cannot be read \(no such/,
  );
});

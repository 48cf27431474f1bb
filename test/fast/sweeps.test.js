/** Sweeps in reports: one curve per storage, its knee in every format if there is one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import csv from '../../report/csv.js';
import { documentOf } from '../../report/document.js';
import { loadReport } from '../../report/index.js';
import json from '../../report/json.js';
import { plotsOf } from '../../report/plots/index.js';
import { loadReports } from '../../workloads/index.js';
import { rampResult } from '../helpers/rate-results.js';
import { benchmark, buildResult, rounds, SYNC } from '../helpers/result-builder.js';

const specs = await loadReports();

/**
 * @param {Record<string, Record<number, number>>} speeds ops/s by storage and number in flight
 * @param {Partial<import('../../lib/result.js').Benchmark>} [more]
 */
function sweepResult(speeds, more = {}) {
  return buildResult({
    benchmarks: Object.entries(speeds).flatMap(([storage, points]) =>
      Object.entries(points).map(([x, throughput]) => {
        const inFlight = Number(x);
        const load =
          inFlight === 1 ? SYNC : { ...SYNC, kind: /** @type {const} */ ('window'), inFlight };
        return benchmark({
          storage,
          load,
          id: `${storage}:default/get/${x}`,
          rounds: rounds(load, throughput),
          ...more,
        });
      }),
    ),
  });
}

const SPEEDS = {
  ioredis: { 1: 20_000, 10: 90_000, 100: 160_000, 1000: 165_000 },
  hiredis: { 1: 20_000, 10: 50_000, 100: 100_000, 1000: 400_000 },
  lmdb: { 1: 400_000, 10: 401_000, 100: 400_000, 1000: 402_000 },
  memory: { 1: 4e6, 10: 4e6, 100: 4e6, 1000: 4e6 },
};

test('a table has a row per storage, a column per point, and the knee', () => {
  const document = documentOf(sweepResult(SPEEDS), specs);
  const table = document.tables.find(({ title }) => title.includes('by requests in flight'));
  assert.equal(table?.title, 'get: ops/s by requests in flight');
  assert.deepEqual(
    table.rows.map(({ keys }) => keys['storage']),
    ['hiredis', 'ioredis', 'lmdb'],
    'the overhead of the harness is no contender',
  );
  const [hiredis, ioredis, lmdb] = table.rows.map(({ values }) => values);
  assert.deepEqual(table.columns.map(({ name }) => name).slice(0, 6), [
    'storage',
    '1',
    '10',
    '100',
    '1,000',
    'knee',
  ]);
  assert.equal('value' in ioredis['knee'] && ioredis['knee'].value, 100);
  assert.equal('value' in ioredis['knee_rounds'] && ioredis['knee_rounds'].value, '5 of 5');
  assert.equal('state' in hiredis['knee'] && hiredis['knee'].state, 'none');
  assert.equal('state' in lmdb['knee'] && lmdb['knee'].state, 'flat');
});

test('the verdict has the knee of each, or the reason why there is none', () => {
  const { verdict } = documentOf(sweepResult(SPEEDS), specs);
  const text = String(verdict.at(-1));
  assert.match(text, /^Knee by requests in flight: hiredis none up to 1,000; ioredis 100 \(97 % /);
  assert.match(text, / of its best, p99 [\d.]+ µs, in 5 of 5 rounds\); lmdb flat\.$/);
});

/** @param {import('../../report/plots/plot.js').Plot | undefined} plot @returns {number[]} */
function whiskersOf(plot) {
  const { option } = /** @type {any} */ (plot).variants[0].draw({ width: 900 });
  const drawn = option.series.filter((/** @type {any} */ { type }) => type === 'custom');
  return drawn.map((/** @type {any} */ { data }) => data.length);
}

test('console, markdown, CSV, JSON, the page and its plot have it', async () => {
  const result = sweepResult(SPEEDS);
  for (const name of ['console', 'markdown', 'html']) {
    const { render } = await loadReport(name);
    const text = render(result).replace(/\s+/g, ' ');
    assert.match(text, /Knee by requests in flight: hiredis none up to 1,000; ioredis 100/, name);
  }
  const document = documentOf(result, specs);
  const [head, ...all] = csv.render([document]).split('\r\n');
  const lines = all.filter((line) => line.startsWith('rounds,'));
  const at = head.split(',').indexOf('knee_in_flight');
  const knees = lines.filter((line) => line.split(',')[at] === 'true');
  assert.equal(knees.length, 5, 'of five rounds of one benchmark');
  assert.ok(knees.every((line) => line.includes('ioredis:default/get/100')));
  const [{ tables }] = JSON.parse(json.render([document]));
  const table = tables.find((/** @type {any} */ { title }) => title.includes('by requests'));
  const [, { values }] = table.rows;
  assert.deepEqual([values.knee.value, values.at_1000.n], [100, 5]);
  const plot = plotsOf(document).find(({ id }) => id === 'sweep-inflight-get');
  assert.match(
    String(plot?.summary),
    /hiredis: no knee up to 1,000\. ioredis: knee at 100, [\d,]+ ops\/s\./,
  );
  assert.equal(plot?.variants.length, 2);
  assert.match(String(plot?.note), /Line: 95 % interval\.$/);
  assert.deepEqual(whiskersOf(plot), [4, 4, 4], 'one per point of each curve');
  const ramp = plotsOf(documentOf(rampResult(), specs)).find(({ id }) => id === 'ramp-get');
  assert.match(String(ramp?.note), /Line: from the lowest to the highest round\.$/);
  assert.deepEqual(whiskersOf(ramp), [3, 3]);
});

test('two numbers in flight are not a sweep, and other loads are excluded', () => {
  const two = documentOf(sweepResult({ ioredis: { 1: 1000, 100: 9000 } }), specs);
  assert.ok(two.tables.every(({ title }) => !title.includes('by requests')));
  assert.ok(two.verdict.every((line) => !line.startsWith('Knee')));
  const burst = /** @type {const} */ ({ ...SYNC, kind: 'burst', inFlight: null });
  const bursts = documentOf(
    sweepResult({ ioredis: { 1: 1, 10: 2, 100: 3 } }, { load: burst }),
    specs,
  );
  assert.ok(bursts.verdict.every((line) => !line.startsWith('Knee')));
});

test('a storage with wrong replies at a point has no knee there', () => {
  const result = sweepResult({ ioredis: SPEEDS.ioredis });
  const wrong = result.benchmarks.find(({ id }) => id.endsWith('/100'));
  if (wrong === undefined) throw new Error('no such benchmark');
  wrong.rounds = rounds(wrong.load, 160_000, { outcomes: { mismatch: 3 } });
  const text = String(documentOf(result, specs).verdict.at(-1));
  assert.doesNotMatch(text, /ioredis 100 /);
});

test('connections and value sizes are separate axes, with the others fixed', () => {
  const base = /** @type {const} */ ({ ...SYNC, kind: 'window', inFlight: 64 });
  const points = [
    ...[1, 4, 16].map((n, i) => [n === 1 ? {} : { connections: n }, [50, 100, 104][i]]),
    ...[16, 1000].map((n, i) => [{ valueSize: n }, [60, 40][i]]),
  ];
  const result = buildResult({
    benchmarks: points.map(([shape, speed], i) => {
      const load = { ...base, .../** @type {any} */ (shape) };
      return benchmark({
        storage: 'ioredis',
        load,
        id: `ioredis:default/get/${i}`,
        rounds: rounds(load, 1000 * Number(speed)),
      });
    }),
  });
  const document = documentOf(result, specs);
  const titles = document.tables.map(({ title }) => title).filter((one) => / by /.test(one));
  assert.deepEqual(titles, [
    'get, 64 in flight: ops/s by connections',
    'get, 64 in flight: ops/s by characters per value',
  ]);
  const text = document.verdict.join('\n');
  assert.match(text, /Knee by connections \(64 in flight\): ioredis 4 \(96 % of its best/);
  const [head, ...all] = csv.render([document]).split('\r\n');
  const lines = all.filter((line) => line.startsWith('rounds,'));
  const names = head.split(',');
  const of = (/** @type {number} */ line, /** @type {string} */ name) =>
    lines[line].split(',')[names.indexOf(name)];
  assert.deepEqual([of(5, 'connections'), of(5, 'knee_connections')], ['4', 'true']);
  assert.deepEqual([of(15, 'value_size_chars'), of(0, 'value_size_chars')], ['16', '1024']);
});

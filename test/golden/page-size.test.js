/**
 * Size and cost of the page of a default race. Costs are processor time, so that
 * they hold on a busy machine too.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareResults } from '../../report/analysis/comparison.js';
import { loadReport } from '../../report/index.js';
import { defaultRace } from '../helpers/default-race.js';
import { mutexResult } from '../helpers/mutex-results.js';
import { rampResult } from '../helpers/rate-results.js';

const html = await loadReport('html');
const RESULT = defaultRace();
const RACE = html.render(RESULT);
const MEGABYTE = 1e6;
const TRIES = 3;

/**
 * @param {import('../../lib/result.js').Result} result
 * @param {number} limit seconds of processor time
 * @param {number} [tries] tries, one of which must keep the limit
 */
function assertCost(result, limit, tries = TRIES) {
  const before = process.cpuUsage();
  html.render(result);
  const { user, system } = process.cpuUsage(before);
  const seconds = (user + system) / 1e6;
  if (seconds >= limit && tries > 1) assertCost(result, limit, tries - 1);
  else assert.ok(seconds < limit, `${seconds} s`);
}

test('a race of 13 storages and two loads: page below 1 MB in 2 s, JSON below 2 MB', () => {
  const json = JSON.stringify(RESULT).length;
  assert.ok(json > MEGABYTE / 2, `${json} bytes: as much as a measured one`);
  assert.ok(json < 2 * MEGABYTE, `${json} bytes of JSON`);
  const page = Buffer.byteLength(RACE);
  assert.ok(page > MEGABYTE / 3, `${page} bytes: all of it`);
  assert.ok(page < MEGABYTE, `${page} bytes of page`);
  assertCost(RESULT, 2);
});

test('100 rounds of 20 benchmarks are a page within 10 s', () => {
  const result = defaultRace({ storages: 10, rounds: 100 });
  assert.equal(result.benchmarks.length, 20);
  assertCost(result, 10, 1);
});

test('a page begins with the ratio to the fastest, and ends with the environment', () => {
  const ids = [...RACE.matchAll(/<section id="([^"]*)"/g)].map(([, id]) => id);
  assert.equal(ids[0], 'figure');
  assert.deepEqual(ids.slice(-2), ['setup', 'run']);
  const figures = [...RACE.matchAll(/<figure id="([^"]*)"/g)].map(([, id]) => id);
  assert.deepEqual(figures.slice(0, 2), ['ratio-get-sync', 'ratio-get-window-100']);
  const [first] = RACE.match(/<figure id="ratio-get-sync"[\s\S]*?<\/figure>/) ?? [''];
  for (const panel of ['networked drivers', 'embedded stores']) assert.match(first, RegExp(panel));
  assert.match(first, /<th scope="col">from<th scope="col">to|>from<.*>to</);
  assert.doesNotMatch(first, /memory/);
});

test('slices have no timeline: no empty plot of it', () => {
  assert.doesNotMatch(RACE, /<figure id="timeline/);
});

const REMARK =
  /in flight, reaches its server ceiling[^<]*1\.\d\d×|reach(?:es)? (?:its|their) server ceiling/;

test('a figure above its server ceiling has a remark', () => {
  const result = structuredClone(RESULT);
  for (const { contenders } of result.comparison?.loads ?? []) {
    const ceiling = contenders.find(({ group }) => group === 'ceiling');
    for (const round of ceiling?.rounds ?? []) {
      round.timePs = round.timePs.map((time) => Number(time) * 30);
    }
  }
  const page = html.render(result);
  assert.match(page, />1\d\d%/);
  assert.match(page, REMARK);
  assert.doesNotMatch(RACE, REMARK);
});

test('a ramp shows where each storage fails to keep up', () => {
  const page = html.render(rampResult());
  assert.match(page, /<figure id="ramp-get">/);
  assert.match(page, /ioredis: keeps up to 10,000 ops\/s, p99 120 µs\./);
  assert.match(page, /redis: no knee up to 20,000 ops\/s\./);
  assert.match(page, />knee 10k</);
});

test('locks have the colours of the legend', () => {
  const page = html.render(mutexResult());
  const legend = [
    ...page.matchAll(/data-toggle="(\d+)"><span class="sw c(\d+)"[^>]*><\/span>([^<]+)</g),
  ];
  assert.ok(legend.length > 1);
  const [figure] = page.match(/<figure id="mutex-lock">[\s\S]*?<\/figure>/) ?? [''];
  for (const [, series, color, name] of legend) {
    assert.equal(series, color);
    assert.match(
      figure,
      RegExp(`<text data-s="${series}"[^>]*fill="var\\(--s${series}\\)"[^>]*>${name}<`),
    );
    const table = RegExp(`<span class="sw c${series}"[^>]*></span>${name}<`);
    assert.match(page.slice(page.indexOf('id="table-1"')), table);
  }
});

test('no path of a machine is in a page', () => {
  const options = { against: ['/srv/someone/ioredis'], storages: ['file:/opt/mine/driver.js'] };
  const result = { ...defaultRace({ storages: 2 }), options };
  const second = { ...result, id: 'second' };
  const comparison = compareResults({ file: '/mnt/somewhere/a.json', result }, [
    { file: '/mnt/somewhere/b.json', result: second },
  ]);
  for (const page of [html.render(result), html.render([result, second], { comparison })]) {
    const text = page.replace(/"data:[^"]*"/g, '');
    assert.match(text, /…\/driver\.js/);
    assert.doesNotMatch(text, /\/(?:srv|opt|mnt)\//);
  }
});

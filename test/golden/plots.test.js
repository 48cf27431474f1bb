/**
 * Each plot of a made-up race as a picture, and the page without the parts that other tests check,
 * against files. They are rewritten only if the environment has DRAGSTRIP_UPDATE_GOLDEN=1.
 */

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { compareResults } from '../../report/analysis/comparison.js';
import { historyOf } from '../../report/analysis/history.js';
import { documentOf } from '../../report/document.js';
import { historyDocument } from '../../report/history.js';
import { loadReport } from '../../report/index.js';
import { THEMES } from '../../report/palette.js';
import { loadPictures, picturesOf as picturesOfDocuments } from '../../report/pictures.js';
import { contendersOf, plotsOf } from '../../report/plots/index.js';
import { toPng } from '../../report/png.js';
import { plotForPage } from '../../report/svg.js';
import { loadReports } from '../../workloads/index.js';
import { brokenResult, buildResult, HOSTILE, raceResult } from '../helpers/result-builder.js';

const picturesOf = await loadPictures();

const FILES = new URL('files/', import.meta.url);
const html = await loadReport('html');
const MEGABYTE = 2 ** 20;
/** Load of the first benchmark, in the form of a limit. */
const LOAD = { kind: /** @type {const} */ ('sync'), inFlight: 1, operations: 5000 };

/** @param {string} name @param {string} text */
function assertGolden(name, text) {
  const file = new URL(name, FILES);
  if (process.env.DRAGSTRIP_UPDATE_GOLDEN === '1') {
    mkdirSync(FILES, { recursive: true });
    writeFileSync(file, text);
  }
  assert.equal(text, readFileSync(file, 'utf8'), `${name}: see test/golden/plots.test.js`);
}

/** A race of few storages, with limits and wrong answers, so that its files can be read. */
function smallResult() {
  const result = raceResult();
  result.benchmarks = result.benchmarks.filter(({ storage }) =>
    /^(redis|lmdb|hiredis)$/.test(storage),
  );
  for (const benchmark of result.benchmarks) benchmark.rounds = benchmark.rounds.slice(0, 3);
  const [benchmark] = result.benchmarks;
  benchmark.rounds[0].outcomes.mismatch = 3;
  const none = { interval: null, n: 3, clientCpuNs: 900, rounds: [], reason: null };
  result.limits = {
    source: null,
    wire: [
      {
        ...none,
        protocol: 'redis',
        server: 'redis',
        version: '7.0.15',
        transport: 'tcp',
        opsPerSecond: 412_000,
        depth: 64,
        connections: 2,
        serverCpuNs: 700,
        points: [],
      },
    ],
    driver: [
      {
        ...none,
        storage: 'redis',
        profile: 'default',
        protocol: 'redis',
        load: LOAD,
        opsPerSecond: 17_800,
        fakeServerCpuNs: 300,
        fakeServerOpsPerSecond: 50_000,
        headroom: 2.8,
      },
    ],
  };
  for (const storage of result.storages)
    storage.protocol = storage.server === 'redis' ? 'redis' : null;
  return result;
}

function twoResults() {
  const first = smallResult();
  const second = structuredClone(first);
  second.id = 'second';
  for (const { storage, rounds } of second.benchmarks) {
    for (const round of rounds) round.throughput *= storage === 'redis' ? 1.2 : 1;
  }
  const comparison = compareResults({ file: 'first.json', result: first }, [
    { file: 'second.json', result: second },
  ]);
  return { results: [first, second], comparison };
}

test('the pictures of a race equal the golden ones', () => {
  const pictures = picturesOf([smallResult()]);
  assert.deepEqual(
    pictures.map(({ name }) => name),
    [
      ...['ratio-get-burst', 'throughput-get-sync', 'throughput-get-burst'],
      ...['latency-get-sync', 'latency-get-burst'],
      ...['cpu-get-sync', 'cpu-get-burst', 'memory-get-burst'],
      ...['timeline-get-sync', 'timeline-get-burst'],
    ],
  );
  for (const { name, svg } of pictures) assertGolden(`${name}.svg`, svg);
});

test('the pictures of a comparison and a history equal the golden ones', () => {
  const { results, comparison } = twoResults();
  const [picture] = picturesOf(results, { comparison });
  assert.equal(picture.name, 'comparison-get-sync');
  assertGolden('comparison-get-sync.svg', picture.svg);
  const series = Array.from({ length: 9 }, (_, i) => {
    const result = smallResult();
    const id = `run-${i}`;
    const startedAt = `2026-11-0${i + 1}T10:00:00.000Z`;
    for (const round of result.benchmarks[1].rounds)
      round.throughput *= (i > 4 ? 0.8 : 1) + i / 1000;
    return { ...result, id, startedAt, benchmarks: [result.benchmarks[1]] };
  });
  const stored = series.map((result) => ({ file: `${result.id}.json`, result }));
  const [{ svg }] = picturesOfDocuments([historyDocument(stored, historyOf(series))]);
  assertGolden('history.svg', svg);
});

test('the page equals the golden one, except its style, script and pictures', () => {
  const text = html
    .render(smallResult())
    .replace(/'sha256-[^']+'/g, "'sha256-…'")
    .replace(/<style>[\s\S]*?<\/style>/, '<style>…</style>')
    .replace(/<script type="module">[\s\S]*?<\/script>/, '<script type="module">…</script>')
    .replace(/href="data:[^"]*"/, 'href="data:…"')
    .replace(/(<svg [^>]*>)[\s\S]*?<\/svg>/g, '$1…</svg>');
  assertGolden('race.html', text);
});

test('bars are on a linear axis unless the reader chooses another', async () => {
  const specs = await loadReports();
  const kinds = [...specs.values()].flatMap(({ plots = [] }) => plots);
  const bars = kinds.filter(({ kind }) => kind === 'bars');
  assert.ok(bars.length >= 5, `${bars.length} kinds of bars`);
  for (const { scales = ['linear'] } of /** @type {any[]} */ (bars)) {
    assert.equal(scales[0], 'linear');
  }
  const document = documentOf(raceResult(), specs);
  const drawn = plotsOf(document, contendersOf([document])).filter(({ id }) =>
    /^throughput/.test(id),
  );
  assert.ok(drawn.length > 0);
  for (const { variants } of drawn) assert.equal(variants[0].name, 'linear');
});

test('a drawing is the same each time, whatever was drawn before it', () => {
  const draw = () => picturesOf([smallResult()]).map(({ svg }) => svg);
  const first = draw();
  picturesOf([raceResult()]);
  assert.deepEqual(draw(), first);
});

test('pictures have only colours of their theme, and neither style nor script', () => {
  for (const theme of /** @type {const} */ (['light', 'dark'])) {
    const { roles, series } = THEMES[theme];
    const known = new Set([...Object.values(roles), ...series, 'none', '#000']);
    for (const { name, svg } of picturesOf([smallResult()], { theme })) {
      const colors = [...svg.matchAll(/(?:fill|stroke)="([^"]*)"/g)].map(([, color]) => color);
      const unknown = colors.filter((color) => !known.has(color) && !/^rgba?\(/.test(color));
      assert.deepEqual([...new Set(unknown)], [], name);
      assert.doesNotMatch(svg, /<style|<script|style=|class=|href=|var\(/);
    }
  }
});

test('a page has the colours of plots as variables, so that light and dark share a drawing', () => {
  const page = html.render(raceResult());
  for (const [svg] of page.matchAll(/<svg [\s\S]*?<\/svg>/g)) {
    assert.doesNotMatch(svg, /(fill|stroke)="#(?!000")/);
    assert.doesNotMatch(svg, /<style|style=|class="(?!hits)/);
  }
  assert.match(page, /data-s="1"/);
});

test('identifiers of a page are unique, also with several results', () => {
  const { results, comparison } = twoResults();
  for (const page of [html.render(raceResult()), html.render(results, { comparison })]) {
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const [, id] of page.matchAll(/(?:href="|url\()#([^")]+)/g))
      assert.ok(ids.includes(id), id);
  }
});

test('the page of ten storages stays below two megabytes', () => {
  const result = raceResult();
  const benchmarks = result.benchmarks.filter(({ rounds }) => rounds.length > 0);
  while (new Set(benchmarks.map(({ storage, profile }) => `${storage}:${profile}`)).size < 10) {
    const n = benchmarks.length;
    for (const benchmark of raceResult().benchmarks.filter(
      ({ storage }) => storage === 'ioredis',
    )) {
      benchmarks.push({ ...benchmark, storage: `ioredis-${n}`, id: `${benchmark.id}-${n}` });
    }
  }
  const page = html.render({ ...result, benchmarks });
  assert.ok(page.length > MEGABYTE / 2, `${page.length} bytes`);
  assert.ok(Buffer.byteLength(page) < 2 * MEGABYTE, `${Buffer.byteLength(page)} bytes`);
});

test('a plot shows hostile names as text', () => {
  const result = smallResult();
  const hostile = `${HOSTILE}"><script>alert(1)</script>`;
  for (const benchmark of result.benchmarks) benchmark.storage = hostile;
  for (const { svg } of picturesOf([result])) {
    assert.doesNotMatch(svg, /<script|<b>/);
    assert.doesNotMatch(svg, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
  }
  for (const { name } of picturesOf([result])) assert.match(name, /^[a-z0-9-]+$/);
});

test('results without rounds, with one, or with only wrong replies have a page', () => {
  const single = smallResult();
  for (const benchmark of single.benchmarks) benchmark.rounds = benchmark.rounds.slice(0, 1);
  for (const result of [buildResult(), brokenResult(), single]) {
    const page = html.render(result).replace(/<script[\s\S]*?<\/script>|"data:[^"]*"/g, '');
    assert.doesNotMatch(page, /NaN|Infinity|undefined|\[object/);
  }
});

test('a PNG is a picture of twice the size', (t) => {
  const [plot] = picturesOf([smallResult()]);
  let png;
  try {
    png = toPng(plot.svg);
  } catch (error) {
    assert.equal(error.code, 'E_TARGET');
    assert.match(error.message, /none is installed/);
    t.skip('no font on this machine');
    return;
  }
  const bytes = Buffer.from(png);
  assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
  assert.equal(bytes.readUInt32BE(16), 1760);
  assert.ok(bytes.length > 10_000);
});

test('points of a drawing lie within it', () => {
  const page = html.render(brokenResult()) + html.render(smallResult());
  let seen = 0;
  for (const [, box, inner] of page.matchAll(
    /<svg [^>]*viewBox="0 0 (\d+)[^>]*>([\s\S]*?)<\/svg>/g,
  )) {
    for (const [, x] of inner.matchAll(/<circle cx="([^"]+)"/g)) {
      seen += 1;
      assert.ok(Number(x) >= 0 && Number(x) <= Number(box), `${x} of ${box}`);
    }
  }
  assert.ok(seen > 50, `${seen} points`);
});

test('a drawing for a page has an accessible description', () => {
  const svg = plotForPage(
    {
      id: 'x',
      title: 'A < B',
      summary: 'It "is".',
      note: '',
      of: null,
      table: { columns: [], rows: [] },
      variants: [
        {
          name: 'linear',
          draw: () => ({ height: 10, nearest: 'x', points: [], option: {} }),
        },
      ],
    },
    { width: 20, id: 'x' },
  );
  assert.match(svg, /role="img" aria-label="A &lt; B. It &quot;is&quot;."/);
});

/**
 * Each report of made-up results against a file. A file is rewritten only if the environment
 * has DRAGSTRIP_UPDATE_GOLDEN=1; read the difference before it is committed.
 */

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { displayWidth } from '../../lib/format.js';
import { documentOf } from '../../report/document.js';
import { loadDocumentReport, loadReport, REPORT_NAMES } from '../../report/index.js';
import { loadReports } from '../../workloads/index.js';
import { codecResult } from '../helpers/codec-results.js';
import { commandsResult } from '../helpers/command-results.js';
import { insertResult } from '../helpers/insert-results.js';
import { mgetResult, scatterResult } from '../helpers/mget-results.js';
import { mutexResult } from '../helpers/mutex-results.js';
import { mixResult, rampResult, searchResult } from '../helpers/rate-results.js';
import { brokenResult, buildResult, raceResult } from '../helpers/result-builder.js';
import { slicedResult } from '../helpers/slices.js';

const FILES = new URL('files/', import.meta.url);
const RESULTS = {
  race: raceResult(),
  sliced: slicedResult(),
  broken: brokenResult(),
  empty: buildResult({ harnessOverhead: [] }),
  ramp: rampResult(),
  search: searchResult(),
  mix: mixResult(),
  codec: codecResult(),
  insert: insertResult(),
  mget: mgetResult(),
  scatter: scatterResult(),
  mutex: mutexResult(),
  commands: commandsResult(),
};

/** @typedef {keyof typeof RESULTS} Name */

const specs = await loadReports();
/** Inputs of the formats: made once. */
const DOCUMENTS = /** @type {Record<Name, ReturnType<typeof documentOf>>} */ (
  Object.fromEntries(Object.entries(RESULTS).map(([name, one]) => [name, documentOf(one, specs)]))
);

/** Without its plots, which are most of a page's cost: those are in plots.test.js. @param {Name} name */
function withoutPlots(name) {
  const { parts, ...document } = DOCUMENTS[name];
  return { ...document, parts: parts.map(({ tables }) => ({ tables, plots: [] })) };
}

/**
 * @param {string} name
 * @param {string} text
 */
function assertGolden(name, text) {
  const file = new URL(name, FILES);
  if (process.env.DRAGSTRIP_UPDATE_GOLDEN === '1') {
    mkdirSync(FILES, { recursive: true });
    writeFileSync(file, text);
  }
  assert.equal(text, readFileSync(file, 'utf8'), `${name}: see test/golden/reports.test.js`);
}

for (const name of /** @type {Name[]} */ (Object.keys(RESULTS))) {
  for (const width of [40, 80, 120, 200]) {
    test(`the console report of the ${name} result at ${width} columns equals the golden one`, async () => {
      const render = await loadDocumentReport('console');
      assertGolden(`${name}-${width}.console.txt`, render(DOCUMENTS[name], { width }));
    });
  }
  for (const [report, ending] of [
    ['markdown', 'md'],
    ['csv', 'csv'],
  ]) {
    test(`the ${report} report of the ${name} result equals the golden one`, async () => {
      const render = await loadDocumentReport(report);
      assertGolden(`${name}.${ending}`, render(DOCUMENTS[name]));
    });
  }
}

test('colour adds escapes and nothing else', async () => {
  const render = await loadDocumentReport('console');
  for (const document of Object.values(DOCUMENTS)) {
    for (const width of [80, undefined]) {
      const coloured = render(document, { width, color: true });
      assert.notEqual(coloured, stripVTControlCharacters(coloured));
      // A coloured benchmark may keep the spaces of its alignment at the end of a line.
      const plain = stripVTControlCharacters(coloured).replace(/ +$/gm, '');
      assert.equal(plain, render(document, { width }).replace(/ +$/gm, ''));
    }
  }
});

test('no line of the console report is wider than the terminal, from 1 column to 220', async () => {
  const render = await loadDocumentReport('console');
  for (const [i, [name, document]] of Object.entries(DOCUMENTS).entries()) {
    // Every width with some of the results.
    for (let width = 1 + (i % 3); width <= 220; width += width < 30 ? 3 : 13) {
      for (const line of render(document, { width }).split('\n')) {
        assert.ok(displayWidth(line) <= width, `${name} at ${width}: ${JSON.stringify(line)}`);
      }
    }
  }
});

test('without a width no column is left out', async () => {
  const render = await loadDocumentReport('console');
  const text = render(DOCUMENTS.race);
  assert.doesNotMatch(text, /Not shown/);
  assert.match(text, /p99\.9.*\n?.*memory/);
  assert.match(render(DOCUMENTS.race, { width: 80 }), /Not shown at 80 columns: p50, p99\.9,/);
});

test('every kind of run has a closing sentence, the same in each format', async () => {
  for (const name of /** @type {Name[]} */ (Object.keys(RESULTS))) {
    const [json, ...texts] = await Promise.all(
      ['json', 'console', 'markdown', 'html'].map(async (format) =>
        (await loadDocumentReport(format))(withoutPlots(name)),
      ),
    );
    const [{ verdict }] = JSON.parse(json);
    assert.ok(verdict.length > 0, name);
    // Formats escape in ways of their own.
    const letters = (/** @type {string} */ text) => text.replace(/&#?\w+;|[^\w.,]+/g, '');
    // The page folds what follows the first sentence.
    for (const sentence of verdict.flatMap((/** @type {string} */ line) =>
      line.split(/(?<=\.) (?=[A-Z])/),
    )) {
      for (const text of texts) assert.ok(letters(text).includes(letters(sentence)), sentence);
    }
  }
});

test('a title shows the length of the segments if known', async () => {
  const { render } = await loadReport('console');
  const { comparison, ...whole } = RESULTS.sliced;
  const longer = { ...whole, comparison: { ...comparison, sliceNs: 200e6 } };
  assert.match(render(/** @type {any} */ (longer)), /1 in flight, segments of 200 ms, \d+ rounds/);
  assert.match(render(/** @type {any} */ (whole)), /1 in flight, \d+ rounds/);
});

test('a report is pure: twice the same text, and an unchanged result', async () => {
  for (const name of REPORT_NAMES) {
    const { render } = await loadReport(name);
    const before = JSON.stringify(RESULTS.broken);
    assert.equal(
      render(RESULTS.broken, { width: 100, color: true }),
      render(RESULTS.broken, { width: 100, color: true }),
    );
    assert.equal(JSON.stringify(RESULTS.broken), before);
  }
});

test('no report lets a server move the cursor, colour the terminal or reverse the text', async () => {
  for (const name of REPORT_NAMES) {
    const { render } = await loadReport(name);
    const text = render(RESULTS.broken, { width: 100 });
    assert.match(text, /ERR/, 'the message itself is there');
    assert.doesNotMatch(
      text.replaceAll('\r\n', '\n'),
      /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/,
    );
  }
});

test('every report has the harness overhead', async () => {
  for (const name of REPORT_NAMES) {
    const render = await loadDocumentReport(name);
    assert.match(
      render(withoutPlots('race')),
      /harness overhead: 182 ns per operation|182\.4/,
      name,
    );
  }
});

test('an unknown report is a usage error that lists the available ones', async () => {
  for (const name of ['html5', 'toString', '__proto__', '']) {
    await assert.rejects(loadReport(name), {
      code: 'E_USAGE',
      message: /unknown report/,
      hint: 'available reports: console, markdown, pr, csv, json, html',
    });
  }
  for (const name of REPORT_NAMES) assert.equal((await loadReport(name)).name, name);
});

/**
 * @param {string} text
 * @returns {string[][]} by RFC 4180, written apart from the report
 */
function parseCsv(text) {
  const rows = [[/** @type {string} */ ('')]];
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const row = rows[rows.length - 1];
    const c = text[i];
    if (quoted && c === '"' && text[i + 1] === '"') row[row.length - 1] += text[++i];
    else if (c === '"') quoted = !quoted;
    else if (!quoted && c === ',') row.push('');
    else if (!quoted && c === '\r' && text[i + 1] === '\n') rows.push(['']) && i++;
    else row[row.length - 1] += c;
  }
  assert.deepEqual(rows.pop(), [''], 'the last line ends too');
  return rows;
}

test('the CSV has as many fields in each row as in its head: the tables, then each round', async () => {
  const { render } = await loadReport('csv');
  const [head, ...all] = parseCsv(render(RESULTS.broken));
  const rows = all.filter(([table]) => table === 'rounds');
  const [, first] = parseCsv(render(RESULTS.sliced));
  assert.equal(first[0], 'get, sync: 1 in flight, segments of 8 ms, 6 rounds');
  assert.ok(all.length > rows.length);
  const expected = RESULTS.broken.benchmarks.reduce((n, { rounds }) => n + (rounds.length || 1), 0);
  assert.equal(rows.length, expected);
  assert.equal(new Set(head).size, head.length);
  for (const row of all) assert.equal(row.length, head.length);
  const value = (/** @type {string} */ name, /** @type {number} */ i) =>
    rows[i][head.indexOf(name)];
  assert.equal(Number(value('mismatch', 0)), 40);
  assert.equal(value('throughput_ops_per_s', 3), '', 'a failed round has no throughput, not 0');
  assert.equal(value('failure_message', 3), 'connection reset by 127.0.0.1:40001');
});

test('a text that a spreadsheet would run as a formula stays text', async () => {
  const { field } = await import('../../report/csv.js');
  assert.equal(field('=1+1'), "'=1+1");
  assert.equal(field('\t@SUM(A1)'), "'@SUM(A1)");
  assert.equal(field('-2+3,"x"'), `"'-2+3,""x"""`);
  assert.equal(field(-5), '-5');
  assert.equal(field(0), '0');
  assert.equal(field(null), '');
});

test('markdown shows untrusted text as text', async () => {
  const { codeSpan, escapeMarkdown } = await import('../../report/markdown.js');
  assert.equal(
    escapeMarkdown('a|b <i>*x*</i> [l](u) #1'),
    'a\\|b \\<i\\>\\*x\\*\\</i\\> \\[l\\](u) \\#1',
  );
  assert.equal(escapeMarkdown('1. x'), '1\\. x');
  assert.equal(escapeMarkdown('- x'), '\\- x');
  assert.equal(escapeMarkdown('1.00×'), '1.00×');
  assert.equal(codeSpan('a'), '`a`');
  assert.equal(codeSpan('``a`'), '``` ``a` ```');
  const { render } = await loadReport('markdown');
  const hostile = structuredClone(RESULTS.race);
  for (const benchmark of hostile.benchmarks) benchmark.storage = 'x|y\n| --- |\n<script>';
  const text = render(hostile);
  assert.doesNotMatch(text, /^\| --- \|$/m);
  assert.doesNotMatch(text, /[^\\`]<script>/);
});

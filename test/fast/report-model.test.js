/** The model of reports: a metric is one line and appears in every format. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import csv from '../../report/csv.js';
import { documentOf } from '../../report/document.js';
import { loadReport } from '../../report/index.js';
import json from '../../report/json.js';
import { together } from '../../report/lists.js';
import markdown from '../../report/markdown.js';
import { medianOfAll, metric, metricValues, throughput } from '../../stats/metrics.js';
import { insertResult } from '../helpers/insert-results.js';
import { slicedResult } from '../helpers/slices.js';

/** @type {import('../../lib/report-types.js').ReportSpec} */
const OWN = {
  tables: [
    {
      row: [
        { key: 'storage', name: 'storage' },
        { key: 'strategy', name: 'strategy' },
      ],
      metrics: [
        throughput,
        metric({ key: 'requests', name: 'requests sent', unit: 'count' }, (one) =>
          medianOfAll(metricValues(one, 'requests')),
        ),
      ],
      title: () => 'a table of its own',
    },
  ],
};

test('a metric is declared once, and appears in the tables, CSV and JSON', () => {
  const document = documentOf(insertResult(), new Map([['insert', OWN]]));
  const [table] = document.tables;
  assert.deepEqual(
    table.columns.map(({ name }) => name),
    ['storage', 'strategy', 'ops/s', 'requests sent'],
  );
  assert.match(markdown.render([document]), /\| requests sent \|/);
  const [head, ...lines] = csv.render([document]).split('\r\n');
  const first = String(lines.find((line) => line.startsWith('rounds,')));
  assert.ok(head.split(',').includes('requests'));
  assert.equal(first.split(',')[head.split(',').indexOf('requests')], '1000');
  assert.match(json.render([document]), /"key": "requests"/);
});

test('a missing figure is a state with its reason, and a figure has n', () => {
  const [table] = documentOf(insertResult(), new Map([['insert', OWN]])).tables;
  for (const { values } of table.rows) {
    for (const value of Object.values(values)) {
      if ('state' in value) assert.equal(typeof value.state, 'string');
      else assert.ok(value.n > 0);
    }
  }
  assert.ok(table.rows.some(({ values }) => 'state' in values['throughput']));
});

test('a workload that declares no report has the table of operations', () => {
  const { tables } = documentOf(insertResult(), new Map());
  assert.ok(tables.length > 0);
  assert.equal(tables[0].columns[1].key, 'throughput');
});

test('a run that was stopped before its first round has a report, with its warnings', () => {
  const result = insertResult();
  result.state = 'aborted';
  for (const benchmark of result.benchmarks) {
    benchmark.rounds = [];
    benchmark.state = 'aborted';
  }
  result.warnings.push({ code: 'ROWS_LEFT', message: 'm', hint: null, benchmark: null });
  const { verdict, lists } = /** @type {any} */ (documentOf(result, new Map()));
  assert.deepEqual(verdict, ['Nothing was measured.']);
  assert.match(JSON.stringify(lists), /ROWS_LEFT/);
});

test('equal items are one line, and do not hide the others', () => {
  const item = (/** @type {number} */ i, text = 'aborted') => ({
    subject: `storage ${i}`,
    text,
    hint: null,
    untrusted: false,
  });
  const alike = [1, 2, 3, 4, 5].map((i) => item(i));
  const [first, other] = together([...alike, item(6, 'refused')], 'benchmarks', 6);
  assert.equal(first.subject, 'storage 1; storage 2; storage 3 and 2 more');
  assert.deepEqual([other.subject, other.text], ['storage 6', 'refused']);
  assert.equal(together(alike, 'benchmarks', 5)[0].subject, 'all benchmarks');
  assert.equal(together(alike.slice(0, 3), 'benchmarks', 3).length, 3, 'few are named');
});

test('without --explain a legend is short; with it each column of the table is explained', async () => {
  const { render } = await loadReport('console');
  const short = render(slicedResult(), { width: 100 });
  assert.match(short, /More: --explain\./);
  assert.doesNotMatch(short, /median polish/);
  const long = render(slicedResult(), { width: 100, explain: true });
  const names = [
    'ops/s',
    'rank',
    'vs fastest',
    'tied, not',
    'of ceiling',
    'p50, p99',
    'bottleneck',
    'A/A',
  ];
  for (const name of [...names, 'client CPU', '~']) {
    assert.ok(
      long.split('\n').some((line) => line.startsWith(name)),
      name,
    );
  }
});

test('a run without significant differences has no ranks, and wide intervals show their ends', async () => {
  const result = slicedResult();
  for (const [k, { rounds }] of (result.comparison?.loads[0].contenders ?? []).entries()) {
    for (const [i, round] of rounds.entries()) {
      const slow = 1 + ((i * 7 + k * 3) % 5);
      round.timePs = round.timePs.map((time) => time && time * slow);
    }
  }
  const text = (await loadReport('console')).render(result, { width: 200 });
  assert.match(text, /This run cannot rank the networked drivers, 1 in flight: it resolves diff/);
  assert.doesNotMatch(text, /Fastest|±\d{3}/);
  assert.match(text, /ioredis +[\d,]+ \([\d,]+–[\d,]+\) +0\.\d\d× \(0\.\d\d–\d\.\d\d\)/);
});

test('the console ends with the verdict, markdown begins with it and names all', async () => {
  const [text, marked] = await Promise.all(
    ['console', 'markdown'].map(async (name) => (await loadReport(name)).render(slicedResult())),
  );
  assert.match(
    text,
    /\n\nFastest networked driver, 1 in flight: manual-hs; tied: hiredis [\s\S]*Resolves differences of 2\.\d %\.\n$/,
  );
  assert.match(marked, /^# .*\n\nioredis\\@5 vs ioredis.*\n\nFastest networked driver/);
});

describe('a busy machine', () => {
  /** @param {(result: import('../../lib/result.js').Result) => void} change */
  const busyText = async (change) => {
    const result = slicedResult();
    for (const { rounds } of result.comparison?.loads[0].contenders ?? []) {
      for (const round of rounds) round.occupancy = { client: 0.5, server: 0.5, waiting: 0.6 };
    }
    Object.assign(result.comparison ?? {}, { loadAverages: [20, 28, 30] });
    change(result);
    const { render } = await loadReport('console');
    return render(result, { width: 200 }).replaceAll(/\s+/g, ' ');
  };
  const why =
    'load 28 on 2 cores, clients waited for a processor 60 % of the time; ' +
    'counts and CPU per operation still hold';

  test('is reported with its load and cores instead of ranks', async () => {
    const text = await busyText(() => {});
    assert.ok(
      text.includes(`This run cannot rank the networked drivers, 1 in flight: ${why}`),
      text,
    );
    assert.doesNotMatch(text, /Fastest/);
  });

  test('is reported if all are compared with a reference, and a gate’s interval is not used', async () => {
    const id = (/** @type {string} */ name) => `${name}:default/get/sync`;
    const gate = {
      gate: 'throughput<0.95',
      metric: /** @type {const} */ ('throughput'),
      op: /** @type {const} */ ('<'),
      limit: 0.95,
      isRatio: true,
      benchmark: id('ioredis@5'),
      reference: id('ioredis'),
      outcome: /** @type {const} */ ('undecided'),
      reason: null,
      value: 0.8,
      low: 0.79,
      high: 0.81,
      confidence: 0.95,
      n: 6,
      roundsNeeded: null,
    };
    const text = await busyText((result) => {
      const names = ['ioredis', 'ioredis@5', 'copy', 'ceiling'];
      result.benchmarks = result.benchmarks.filter(({ storage }) => names.includes(storage));
      for (const load of result.comparison?.loads ?? []) {
        load.contenders = load.contenders.filter(({ name }) => names.includes(name));
      }
      result.gates = [gate];
    });
    assert.ok(text.includes(`This run cannot compare speeds, 1 in flight: ${why}`), text);
    assert.match(text, /ioredis@5 vs ioredis, 1 in flight: not resolved below .* \(0\.80×/);
  });
});

test('pauses of a version are reported beside its verdict, and evaluated separately', async () => {
  const result = slicedResult();
  for (const { name, rounds } of result.comparison?.loads[0].contenders ?? []) {
    if (name !== 'ioredis@5') continue;
    for (const round of rounds) round.timePs[0] = 4 * Number(round.timePs[0]);
  }
  Object.assign(result.comparison?.loads[0] ?? {}, { garbage: 'own' });
  const text = (await loadReport('console')).render(result, { width: 400 });
  assert.match(
    text.replaceAll(/\s+/g, ' '),
    /\(1\.00× ± 0\.9 %\)\. It is typically 1\.00×, with its pauses and late operations 0\.75×\. Slices over three times as long: 6 against 0\./,
  );
});

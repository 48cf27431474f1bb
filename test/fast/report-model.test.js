/** The model of reports: a metric is one line and appears in every format. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import csv from '../../report/csv.js';
import { documentOf } from '../../report/document.js';
import json from '../../report/json.js';
import markdown from '../../report/markdown.js';
import { throughput, workloadMetric } from '../../stats/metrics.js';
import { insertResult } from '../helpers/insert-results.js';

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
        workloadMetric('requests', { key: 'requests', name: 'requests sent', unit: 'count' }),
      ],
      title: () => 'a table of its own',
    },
  ],
};

test('a metric is one line, and is then in the tables, in CSV and in JSON', () => {
  const document = documentOf(insertResult(), new Map([['insert', OWN]]));
  const [table] = document.tables;
  assert.deepEqual(
    table.columns.map(({ name }) => name),
    ['storage', 'strategy', 'ops/s', 'requests sent'],
  );
  assert.match(markdown.render([document]), /\| requests sent \|/);
  const [head, first] = csv.render([document]).split('\r\n');
  assert.ok(head.split(',').includes('requests'));
  assert.equal(
    first.split(',').at(head.split(',').indexOf('requests') - head.split(',').length),
    '1000',
  );
  assert.match(json.render([document]), /"key": "requests"/);
});

test('what has no figure is a state with its reason, and a figure has n', () => {
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

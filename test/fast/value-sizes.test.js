/** Sizes of values as a distribution: how they are written, drawn, compared and refused. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { formatMarker, isWhole, readMarker, rowsToKeep } from '../../data/loaders/marker.js';
import { rowInserts, rowStream } from '../../data/loaders/rows.js';
import { planRun } from '../../engine/plan.js';
import { createDataset, datasetOptions, isSameDataset } from '../../lib/dataset.js';
import {
  describeSizes,
  parseSizes,
  readValueSize,
  readValueSizes,
  sizeOptions,
  sizesName,
} from '../../lib/value-sizes.js';
import { ReplyTable, tableDataset } from '../../limits/fake/table.js';
import { differencesOf } from '../../report/analysis/conditions.js';
import { fileOf } from '../../storages/embedded.js';
import { loadWorkload } from '../../workloads/index.js';
import { withFolder } from '../helpers/folder.js';
import { buildResult } from '../helpers/result-builder.js';

const ROWS = 20_000;

/** @param {string} text @param {Record<string, unknown>} [more] */
const datasetOf = (text, more) =>
  createDataset({ rows: ROWS, ...sizeOptions(readValueSize(text, '--value-size')), ...more });

/** @param {import('../../lib/types.js').Dataset} dataset */
const allSizes = ({ rows, sizeOf }) => Array.from({ length: rows }, (_, i) => sizeOf(i + 1));

/** @param {number[]} numbers */
const meanOf = (numbers) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

test('sizes are a pure function of seed and id, within the range, the mean as stated', () => {
  for (const [text, min, max] of /** @type {[string, number, number][]} */ ([
    ['uniform:16-1k', 16, 1000],
    ['zipf:16-64k', 16, 64_000],
    ['zipf:8-500:0', 8, 500],
    ['hist:16:100,1k:300,20k:1', 16, 20_000],
  ])) {
    const dataset = datasetOf(text);
    const sizes = allSizes(dataset);
    assert.deepEqual(allSizes(datasetOf(text)), sizes, text);
    assert.notDeepEqual(allSizes(datasetOf(text, { seed: 2 })), sizes, text);
    assert.deepEqual(allSizes(datasetOf(text, { rows: 100 })), sizes.slice(0, 100));
    assert.ok(sizes.every((size) => Number.isInteger(size) && size >= min && size <= max));
    assert.deepEqual([dataset.minSize, dataset.valueSize], [min, max]);
    const error = Math.abs(meanOf(sizes) / dataset.meanSize - 1);
    assert.ok(error < 0.06, `${text}: ${meanOf(sizes)}, ${dataset.meanSize} expected`);
  }
});

test('with a histogram each size has its share, and no other size occurs', () => {
  const sizes = allSizes(datasetOf('hist:16:1,100:8,1k:1'));
  const share = (/** @type {number} */ size) => sizes.filter((one) => one === size).length / ROWS;
  assert.deepEqual(
    [...new Set(sizes)].sort((a, b) => a - b),
    [16, 100, 1000],
  );
  assert.ok(Math.abs(share(16) - 0.1) < 0.01 && Math.abs(share(100) - 0.8) < 0.01);
});

test("zipf: the smallest sizes are the most frequent, as in YCSB's field lengths", () => {
  const sizes = allSizes(datasetOf('zipf:10-1000')).sort((a, b) => a - b);
  const [first] = sizes;
  assert.equal(first, 10);
  const share = sizes.filter((size) => size === 10).length / ROWS;
  assert.ok(Math.abs(share - 0.132) < 0.01, `rank 1 of 991: ${share}`);
});

test('values of a distribution: written values are read back, another size is wrong', () => {
  const dataset = datasetOf('uniform:8-300');
  const target = Buffer.alloc(400, 0x2e);
  for (let id = 1; id <= 500; id += 1) {
    const text = dataset.value(id);
    assert.equal(text.length, dataset.sizeOf(id));
    assert.equal(dataset.write(id, target, 3), 3 + text.length);
    assert.equal(target.toString('latin1', 3, 3 + text.length), text);
    assert.ok(dataset.belongs(id, text) && dataset.matches(id, text));
    assert.ok(!dataset.belongs(id, `${text}A`) && !dataset.matches(id, `${text}A`));
    assert.ok(!dataset.belongs(id + 1, text), 'the row of another id');
  }
  const other = datasetOf('uniform:8-301');
  const wrong = [1, 2, 3, 4, 5, 6, 7, 8].filter((id) => other.belongs(id, dataset.value(id)));
  assert.deepEqual(wrong, [], 'the tag differs, whatever the size');
});

test('a fixed size is a number, not a distribution: the rows are unchanged', () => {
  assert.deepEqual(sizeOptions(readValueSize('1k', '')), { valueSize: 1000 });
  const dataset = createDataset({ valueSize: 24 });
  assert.deepEqual([dataset.minSize, dataset.meanSize, dataset.sizeOf(7)], [24, 24, 24]);
  assert.equal(dataset.value(1), 'eiCcMOU9IkGdwWS4vMl6PMIx');
  assert.deepEqual(Object.keys(datasetOptions(dataset)), ['rows', 'valueSize', 'seed']);
});

test('each distribution has one canonical form, including histogram files', async (t) => {
  assert.equal(readValueSize(' uniform:16-1k ', ''), 'uniform:16-1000');
  assert.equal(readValueSize('zipf:16-64k', ''), 'zipf:16-64000:0.99');
  assert.equal(readValueSize('hist:1k:2,16:1,16:3', ''), 'hist:16:4,1000:2');
  assert.deepEqual(readValueSizes('16,1k', ''), [16, 1000]);
  assert.deepEqual(readValueSizes([64], ''), [64]);
  assert.deepEqual(readValueSizes('hist:1k:2,16:1', ''), ['hist:16:1,1000:2']);
  const folder = withFolder(t);
  const file = join(folder, 'sizes.txt');
  await writeFile(file, '# size count\n100 7\n\n64\t3\n1k,1 # rare\n');
  assert.equal(readValueSize(`hist:${file}`, ''), 'hist:64:3,100:7,1000:1');
  await writeFile(file, '100 7\nhello\n');
  const says = /line 2 is not "size count"/;
  assert.throws(() => readValueSize(`hist:${file}`, ''), { code: 'E_USAGE', message: says });
  await writeFile(file, '# nothing\n');
  assert.throws(() => readValueSize(`hist:${file}`, ''), { code: 'E_USAGE' });
  await writeFile(file, Array.from({ length: 1001 }, (_, i) => `${i + 8} 1`).join('\n'));
  assert.throws(() => readValueSize(`hist:${file}`, ''), /1001 sizes.*the maximum is 1000 sizes/);
});

test('an invalid distribution is refused in one line with an example', () => {
  for (const text of [
    ...[
      'uniform',
      'uniform:16',
      'uniform:1k-16',
      'uniform:1-100',
      'uniform:16-17M',
      'zipf:16-1k:x',
    ],
    ...[
      'uniform:16-1k:2',
      'normal:16-1k',
      'hist:',
      'hist:16',
      'hist:16:0',
      'hist:4:1',
      '7',
      '1.5k',
    ],
    ...['hist:/no/such/file', '', '16777217', 'zipf:16-1k:61'],
  ]) {
    assert.throws(
      () => readValueSize(text, '--value-size'),
      (/** @type {any} */ error) => error.code === 'E_USAGE' && !error.message.includes('\n'),
      text,
    );
  }
  assert.throws(() => readValueSizes('16,uniform:16-1k', ''), /cannot be combined/);
  assert.throws(() => readValueSizes([16, 'zipf:8-16'], ''), /cannot be combined/);
});

test('a plan has the distribution in its dataset; mget, whose figures need one size, refuses', async () => {
  const race = await loadWorkload('race');
  const plan = planRun({ command: 'race', valueSize: 'uniform:16-1k' }, race);
  const { dataset, sizes } = plan;
  assert.deepEqual(dataset, {
    rows: 100_000,
    valueSize: 1000,
    valueSizes: 'uniform:16-1000',
    seed: 1,
  });
  assert.equal(sizes, undefined, 'no sweep: the rows of the dataset');
  assert.equal(plan.loads[0].valueSize, undefined);
  const mget = await loadWorkload('mget');
  assert.throws(
    () => planRun({ command: 'mget', valueSize: /** @type {any} */ ('uniform:16-1k') }, mget),
    { code: 'E_USAGE', message: /--data-size/ },
  );
});

test('marks distinguish distributions; a long histogram is named by its digest', () => {
  const lines = Array.from({ length: 200 }, (_, i) => `${i + 20}:${i + 1}`);
  const long = datasetOf(`hist:${lines.join()}`, { rows: 50 });
  const other = datasetOf(`hist:${lines.slice(1).join()}`, { rows: 50 });
  assert.match(sizesName(String(long.valueSizes)), /^hist:sha256-[0-9a-f]{16}$/);
  const state = { complete: true, done: 50, extent: 50 };
  const text = formatMarker(long, state);
  assert.ok(text.length < 700, 'marks have a bounded length');
  const marker = readMarker(JSON.parse(text));
  assert.ok(isWhole(marker, long));
  assert.ok(!isWhole(marker, other));
  assert.equal(rowsToKeep(marker, createDataset({ rows: 50, valueSize: long.valueSize })), 0);
  assert.ok(marker !== null && isSameDataset(marker, long) && !isSameDataset(marker, other));
  assert.match(describeSizes(/** @type {any} */ (marker)), /^up to 219 characters \(hist:sha256-/);
  const plain = readMarker(JSON.parse(formatMarker(createDataset({ rows: 50 }), state)));
  assert.ok(plain !== null && !('valueSizes' in plain), 'as before where the size is fixed');
});

test('loaders: lines and tuples of rows of any size, each row once, pieces bounded', () => {
  const dataset = datasetOf('zipf:8-30k', { rows: 3000 });
  let text = '';
  const stream = rowStream(dataset, 1, 3000, () => {});
  for (;;) {
    const piece = stream.read();
    if (piece === null) break;
    text += piece.toString('latin1');
  }
  const lines = text.trimEnd().split('\n');
  assert.equal(lines.length, 3000);
  for (const [i, line] of lines.entries()) assert.equal(line, `${i + 1}\t${dataset.value(i + 1)}`);
  let next = 1;
  for (const { values, last } of rowInserts(dataset, 1, 100_000)) {
    assert.ok(values.length <= 100_000 || last === next, 'one row may be larger');
    assert.ok(values.startsWith(`(${next},'${dataset.value(next)}')`));
    next = last + 1;
  }
  assert.equal(next, 3001);
});

test('a fake server replies with rows of the distribution', () => {
  const options = tableDataset(datasetOf('uniform:16-200'));
  assert.equal(options.valueSizes, 'uniform:16-200');
  const dataset = createDataset(options);
  const table = new ReplyTable(dataset, (value) => Buffer.from(value, 'latin1'));
  const of = (/** @type {number} */ id) =>
    table.bytes.toString('latin1', table.offsets[id], table.offsets[id + 1]);
  assert.equal(of(17), dataset.value(17));
  assert.equal(of(4096), dataset.value(4096));
});

test('files of embedded stores are separate', () => {
  const names = ['uniform:16-1k', 'zipf:16-1k'].map((text) => fileOf('lmdb', datasetOf(text)));
  names.push(fileOf('lmdb', createDataset({ rows: ROWS, valueSize: 1000 })));
  assert.equal(new Set(names).size, 3);
  assert.match(names[0], /^dragstrip-2-20000x1000-[0-9a-f]{8}-1\.lmdb$/);
  assert.equal(names[2], 'dragstrip-2-20000x1000-1.lmdb');
});

test('results of different sizes are not comparable', () => {
  const base = buildResult();
  const other = structuredClone(base);
  other.dataset = { ...base.dataset, valueSizes: 'uniform:16-1024' };
  assert.deepEqual(
    differencesOf(base, other).map(({ what }) => what),
    ['value size'],
  );
  assert.deepEqual(differencesOf(other, structuredClone(other)), []);
});

test('the head of a report has the sizes', () => {
  const says = describeSizes(sizeOptions('zipf:16-64000:0.99'));
  assert.match(says, /^16 to 64,000 characters, 5,\d{3} on average \(zipf:16-64000:0\.99\)$/);
  assert.equal(describeSizes({ valueSize: 1024 }), '1,024 characters');
  assert.equal(parseSizes('uniform:10-20').mean, 15);
});

/**
 * The topics of HandlerSocket's own regression tests (test_01_lib, 24 scripts), with this client on
 * InnoDB. Topics of client.test.js are not repeated:
 *
 * | topic | test |
 * | --- | --- |
 * | 01 rows read are those of SQL, 02 `>=` walks the index | below |
 * | 03, 04, 05 binary cleanness | client.test.js: all 256 bytes …; every byte … |
 * | 06 insert, update, delete of many rows | below |
 * | 07, 10 NULL in values and in keys | client.test.js: NULL, the empty …; below: in keys |
 * | 08 not found | below |
 * | 09 several changes in one batch | below |
 * | 11 increment, decrement | client.test.js: increment and decrement … |
 * | 12, 19 filters | client.test.js: filters … |
 * | 13 AUTO_INCREMENT, 18 columns of an insert | client.test.js: insert gives …; below |
 * | 14 keys of variable length, nullable | below |
 * | 15 numeric types, 16 dates, 17 strings | below |
 * | 20 a failed open keeps no lock | client.test.js: an openIndex that fails … |
 * | 21 IN | client.test.js: a list … |
 * | 22 IN and filters, 23 these and changes | below |
 * | 24 an insert with fewer values than columns | below |
 */
// Needs: mariadb

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handlersocketLine } from '../../../../codecs/reference.js';
import { countLines, Wire } from '../../../../test/helpers/codec-recorder.js';
import { withTables } from '../tables.js';

const DATABASE = 'hs_topics';
const { server, sql, client, makeTable, open } = withTables(DATABASE);

/** @param {string} query @returns {Promise<any[][]>} values as text, NULL as null */
async function select(query) {
  const [rows] = await sql().query({
    sql: query,
    rowsAsArray: true,
    typeCast: (field) => field.string(),
  });
  return /** @type {any[][]} */ (rows);
}

const numbers = (/** @type {number} */ length) => Array.from({ length }, (_, i) => i);
const HUNDRED = numbers(100).map((i) => [`k${i}`, `v${(i * 37) % 101}`]);
const TEXTS = 'k VARCHAR(30) PRIMARY KEY, v VARCHAR(30) NOT NULL';

test('01, 02: every row by >= from the first on, in the order and with values of SQL', async () => {
  const table = await makeTable(TEXTS, HUNDRED);
  const index = await open(table, ['k', 'v']);
  const found = await index.find('>=', '', { limit: 10_000 });
  assert.equal(found.length, 100);
  assert.deepEqual(found, await select(`SELECT k, v FROM ${table} ORDER BY k`));
});

test('06: 256 rows inserted, updated by key, and every other one removed', async () => {
  const table = await makeTable(`${TEXTS}, w VARCHAR(30)`);
  const index = await open(table, ['k', 'v', 'w']);
  const rows = numbers(256).map((i) => [`${i}`, `v${i}`, `w${i}`]);
  for (const row of rows) await index.insert(row);
  const all = `SELECT k, v, w FROM ${table} ORDER BY CAST(k AS UNSIGNED)`;
  assert.deepEqual(await select(all), rows);
  const part = await open(table, ['v']);
  for (const [key] of rows) assert.equal(await part.update('=', key, [`mod${key}`]), 1);
  const changed = rows.map(([key, , w]) => [key, `mod${key}`, w]);
  assert.deepEqual(await select(all), changed);
  const even = rows.filter((_, i) => i % 2 === 0);
  await Promise.all(even.map(([key]) => index.remove('=', key)));
  assert.deepEqual(
    await select(all),
    changed.filter((_, i) => i % 2 === 1),
  );
});

test('07, 10: NULL as a key finds the rows with NULL, by one and two columns', async () => {
  const table = await makeTable(
    'id INT PRIMARY KEY, a INT, b VARCHAR(9), KEY a (a), KEY ba (b, a)',
    [
      [1, null, 'x'],
      [2, 7, null],
      [3, null, null],
      [4, 0, ''],
    ],
  );
  const byA = await open(table, ['id', 'a', 'b'], { index: 'a' });
  assert.deepEqual(await byA.find('=', null, { limit: 9 }), [
    ['1', null, 'x'],
    ['3', null, null],
  ]);
  assert.deepEqual(await byA.find('=', 0, { limit: 9 }), [['4', '0', '']]);
  const byBoth = await open(table, ['id'], { index: 'ba' });
  assert.deepEqual(await byBoth.find('=', [null, null], { limit: 9 }), [['3']]);
  assert.deepEqual(await byBoth.find('=', [null, 7], { limit: 9 }), [['2']]);
  assert.deepEqual(await byBoth.find('=', ['', 0], { limit: 9 }), [['4']]);
  assert.deepEqual(await byBoth.find('=', ['x', null], { limit: 9 }), [['1']]);
});

test('08: a missing key between two present ones returns no row', async () => {
  const index = await open(await makeTable(TEXTS, HUNDRED), ['k', 'v']);
  const [first, none, last] = await Promise.all(
    ['k5', 'k000000', 'k6'].map((key) => index.get(key)),
  );
  assert.deepEqual([first, none, last], [HUNDRED[5], undefined, HUNDRED[6]]);
  assert.deepEqual(await index.find('=', 'k000000', { limit: 10 }), []);
});

test('09: a batch sees its own changes in their order', async () => {
  const index = await open(await makeTable(TEXTS, HUNDRED), ['k', 'v']);
  const from = /** @type {const} */ ({ limit: 2 });
  /** @param {any} batch */
  const values = async (batch) => (await batch.send()).map((/** @type {any} */ { value }) => value);
  const [k50, k51, k60, k61, k7, k70] = [50, 51, 60, 61, 7, 70].map((i) => HUNDRED[i]);
  const removed = client().batch().remove(index, '=', 'k5').find(index, '>=', 'k5', from);
  assert.deepEqual(await values(removed), [1, [k50, k51]]);
  const again = client().batch().remove(index, '=', 'k60').insert(index, ['k60', 'new']);
  again.find(index, '>=', 'k60', from);
  assert.deepEqual((await values(again)).at(-1), [['k60', 'new'], k61]);
  assert.notDeepEqual(k60, ['k60', 'new']);
  const updated = client().batch().find(index, '>=', 'k7', from);
  updated.update(index, '=', 'k70', ['k70', 'up']).find(index, '>=', 'k7', from);
  assert.deepEqual(await values(updated), [[k7, k70], 1, [k7, ['k70', 'up']]]);
});

test('14: keys of 0 to 49 bytes, nullable, are found by each index whole', async () => {
  const rows = numbers(50).map((i) => [
    i,
    '0123456789'.repeat(5).slice(0, i),
    'abcdefghij'.repeat(5).slice(0, i),
  ]);
  const table = await makeTable(
    'k INT PRIMARY KEY, v VARCHAR(60), w VARCHAR(60), KEY i1 (v), KEY i2 (w, v)',
    rows,
  );
  const columns = ['k', 'v', 'w'];
  const [primary, first, second] = [
    await open(table, columns),
    await open(table, columns, { index: 'i1' }),
    await open(table, columns, { index: 'i2' }),
  ];
  for (const [k, v, w] of rows) {
    const right = [[`${k}`, v, w]];
    assert.deepEqual(await primary.find('=', k), right);
    assert.deepEqual(await first.find('=', v, { limit: 5 }), right);
    assert.deepEqual(await second.find('=', [w, v], { limit: 5 }), right);
    assert.deepEqual(await second.find('=', [w], { limit: 5 }), right);
  }
});

const TYPES = /** @type {const} */ ([
  ['15', 'TINYINT', ['-128', '-42', '0', '1', '127']],
  ['15', 'TINYINT UNSIGNED', ['0', '1', '128', '255']],
  ['15', 'SMALLINT', ['-32768', '-1', '0', '32767']],
  ['15', 'SMALLINT UNSIGNED', ['0', '65535']],
  ['15', 'MEDIUMINT', ['-8388608', '-1', '0', '8388607']],
  ['15', 'MEDIUMINT UNSIGNED', ['0', '16777215']],
  ['15', 'INT', ['-2147483648', '-1', '0', '2147483647']],
  ['15', 'INT UNSIGNED', ['0', '4294967295']],
  ['15', 'BIGINT', ['-9223372036854775808', '-1', '0', '9223372036854775807']],
  ['15', 'BIGINT UNSIGNED', ['0', '9007199254740993', '18446744073709551615']],
  ['15', 'FLOAT', ['-32768', '-0.5', '0', '32768']],
  ['15', 'DOUBLE', ['-2147483648', '-0.125', '0', '2147483647']],
  ['15', 'DECIMAL(20,2)', ['-12345678901234567.25', '0.00', '99999999999999999.75']],
  ['16', 'DATE', ['2011-01-01', '9999-12-31']],
  ['16', 'DATETIME', ['1000-01-01 00:00:00', '2011-01-01 18:30:25']],
  ['16', 'TIME', ['-12:00:00', '00:00:00', '18:30:25']],
  ['16', 'YEAR(4)', ['1901', '2011', '2155']],
  ['16', 'TIMESTAMP', ['2001-09-09 01:46:39', '2011-01-01 18:30:25']],
]);

for (const [topic, type, values] of TYPES) {
  test(`${topic}: ${type} as a key, as a value and in a second index`, async () => {
    const table = await makeTable(
      `k ${type} PRIMARY KEY, v VARCHAR(64), w ${type}, KEY i1 (v), KEY i2 (w, v)`,
    );
    const columns = ['k', 'v', 'w'];
    const primary = await open(table, columns);
    for (const value of values) await primary.insert([value, `s${value}`, value]);
    const rows = values.map((value) => [value, `s${value}`, value]);
    assert.deepEqual(await select(`SELECT k, v, w FROM ${table} ORDER BY k`), rows);
    const first = await open(table, columns, { index: 'i1' });
    const second = await open(table, columns, { index: 'i2' });
    for (const row of rows) {
      assert.deepEqual(await primary.find('=', row[0]), [row]);
      assert.deepEqual(await first.find('=', row[1]), [row]);
      assert.deepEqual(await second.find('=', [row[2], row[1]]), [row]);
    }
    const up = await primary.find('>=', rows[0][0], { limit: 99 });
    assert.deepEqual(up, rows, 'in the order of the type, not of the text');
  });
}

for (const [type, prefix, lengths] of /** @type {const} */ ([
  ['CHAR(255)', '', [1, 2, 5, 10, 100, 255]],
  ['VARCHAR(511)', '', [1, 2, 10, 255, 256, 511]],
  ['VARBINARY(511)', '', [1, 2, 10, 255, 256, 511]],
  ['BINARY(10)', '', [10]],
  ['LONGTEXT', '(500)', [1, 2, 10, 500, 511, 4096]],
  ['LONGBLOB', '(500)', [1, 2, 10, 500, 511, 4096]],
])) {
  test(`17: ${type} of ${lengths.join(', ')} bytes as a key and as a value`, async () => {
    // One-byte Latin letters, because an index has at most 767 bytes in some row formats.
    const columnType = /CHAR|TEXT/.test(type) ? `${type} CHARACTER SET latin1` : type;
    const table = await makeTable(
      `k ${columnType} NOT NULL, v ${columnType}, PRIMARY KEY (k${prefix})`,
    );
    const index = await open(table, ['k', 'v']);
    const rows = lengths.map((length) => {
      const text = Array.from({ length }, (_, i) =>
        String.fromCharCode(97 + ((i * 7 + length) % 26)),
      ).join('');
      return [text, text.toUpperCase()];
    });
    for (const row of rows) await index.insert(row);
    for (const row of rows) assert.deepEqual(await index.find('=', row[0]), [row]);
    const stored = await select(`SELECT k, v FROM ${table} ORDER BY LENGTH(k)`);
    assert.deepEqual(stored, rows);
  });
}

test('18: an insert sets the columns of the open index, others get their default', async () => {
  const table = await makeTable(
    'id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(9), w INT NOT NULL DEFAULT 7',
  );
  const index = await open(table, ['v']);
  assert.deepEqual([await index.insert(['a']), await index.insert(['b'])], [1, 2]);
  assert.deepEqual(await select(`SELECT id, v, w FROM ${table}`), [
    ['1', 'a', '7'],
    ['2', 'b', '7'],
  ]);
});

test('22, 23: a list with filters, in a find, an update and a removal', async () => {
  const table = await makeTable('id INT PRIMARY KEY, n INT, s VARCHAR(9)', [
    ...numbers(10).map((i) => [i, i % 3, `s${i}`]),
  ]);
  const index = await open(table, ['id', 's'], { filters: ['n'] });
  const values = [1, 2, 3, 4, 7, 99];
  const where = (/** @type {number} */ n) => ({
    in: { values },
    limit: 10,
    filters: [{ column: 'n', op: /** @type {const} */ ('='), value: n }],
  });
  assert.deepEqual(await index.find('=', '', where(1)), [
    ['1', 's1'],
    ['4', 's4'],
    ['7', 's7'],
  ]);
  const part = await open(table, ['s'], { filters: ['n'] });
  assert.equal(await part.update('=', '', ['up'], where(1)), 3);
  assert.equal(await part.remove('=', '', where(2)), 1);
  assert.deepEqual(await select(`SELECT id, s FROM ${table} WHERE s = 'up' ORDER BY id`), [
    ['1', 'up'],
    ['4', 'up'],
    ['7', 'up'],
  ]);
  assert.deepEqual(await select(`SELECT COUNT(*), SUM(id = 2) FROM ${table}`), [['9', '0']]);
});

test('24: an insert with fewer values than columns leaves the server alive', async () => {
  const table = await makeTable(
    'id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, t TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP',
  );
  const index = await open(table, ['id', 't']);
  await assert.rejects(async () => index.insert([321]), { code: 'HS_ARGUMENT' });
  const wire = new Wire({ host: '127.0.0.1', port: server().write });
  try {
    const requests = [
      ['P', 0, DATABASE, table, 'PRIMARY', 'id,t'],
      [0, '+', 1, 321],
    ];
    const lines = Buffer.concat(requests.map(handlersocketLine));
    const replies = await wire.ask(lines, (bytes) => countLines(bytes) === 2);
    assert.match(replies.toString(), /^0\t1\n0\t1/);
  } finally {
    wire.close();
  }
  assert.deepEqual(await select(`SELECT id FROM ${table}`), [['321']]);
  assert.equal((await index.get(321))?.[0], '321');
});

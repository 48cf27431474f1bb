/**
 * The HandlerSocket client against a real MariaDB: the test list of the protocol (escapes, NULL,
 * limits, operators, lists, filters, changes, inserts, errors), and large replies.
 */
// Needs: mariadb

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baseTableGuard, connect } from '../../index.js';
import { rejection } from '../fake-server.js';
import { withTables } from '../tables.js';

const DATABASE = 'hs_client';
const { server, sql, client, makeTable, open } = withTables(DATABASE);

/** @param {string} query */
async function select(query) {
  const [rows] = await sql().query({ sql: query, rowsAsArray: true });
  return /** @type {any[][]} */ (rows);
}

test('all 256 bytes and all 65,536 pairs come back from the server as they were', async () => {
  const table = await makeTable('id INT PRIMARY KEY, b VARBINARY(2) NOT NULL');
  const index = await open(table, ['id', 'b'], { types: { id: 'number', b: 'buffer' } });
  /** @type {Buffer[]} */
  const values = [];
  for (let byte = 0; byte < 256; byte += 1) values.push(Buffer.of(byte));
  for (let pair = 0; pair < 65536; pair += 1) values.push(Buffer.of(pair >> 8, pair & 255));
  await Promise.all(values.map((value, id) => index.insert([id, value])));
  const rows = await Promise.all(values.map((_, id) => index.get(id)));
  for (const [id, row] of rows.entries()) assert.deepEqual(row, [id, values[id]]);
  const all = await index.find('>=', 0, { limit: 70_000 });
  assert.deepEqual(
    all.map(([, value]) => value),
    values,
  );
  // SQL reads the values that the client sent, so mistakes of encoder and decoder cannot cancel
  // out.
  const stored = await select(`SELECT HEX(b) FROM ${table} ORDER BY id`);
  assert.deepEqual(
    stored.map(([hex]) => hex),
    values.map((value) => value.toString('hex').toUpperCase()),
  );
});

test('every byte works as a key and as a filter', async () => {
  const table = await makeTable('b VARBINARY(3) PRIMARY KEY, n INT NOT NULL');
  const index = await open(table, ['n'], { types: 'number', filters: ['b'] });
  const writer = await open(table, ['b', 'n']);
  const bytes = Array.from({ length: 256 }, (_, byte) => Buffer.of(byte, 0x41, byte));
  await Promise.all(bytes.map((key, n) => writer.insert([key, n])));
  const replies = await Promise.all(bytes.map((key) => index.value(key)));
  assert.deepEqual(replies, Array.from(bytes.keys()));
  const listed = await index.find('=', '', { in: { values: bytes } });
  assert.deepEqual(
    listed.map(([n]) => n),
    Array.from(bytes.keys()),
  );
  const filters = [{ column: 'b', op: /** @type {const} */ ('='), value: bytes[10] }];
  assert.deepEqual(await index.find('>=', '', { limit: 300, filters }), [[10]]);
});

test('NULL, the empty string and text hold in the first, a middle and the last column', async () => {
  const table = await makeTable('id INT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9), c VARCHAR(9)', [
    "(1, NULL, '', 'x')",
    "(2, '', 'x', NULL)",
    "(3, 'x', NULL, '')",
    '(4, NULL, NULL, NULL)',
  ]);
  const index = await open(table, ['a', 'b', 'c']);
  const expected = [
    [null, '', 'x'],
    ['', 'x', null],
    ['x', null, ''],
    [null, null, null],
  ];
  assert.deepEqual(await index.find('>', 0, { limit: 10 }), expected);
  const single = await open(table, ['a']);
  assert.deepEqual(await Promise.all([1, 2, 3, 9].map((id) => single.value(id))), [
    null,
    '',
    'x',
    undefined,
  ]);
  assert.deepEqual(await single.find('=', 9), [], 'no row');
  assert.deepEqual(await single.find('=', 2), [['']], 'one row of an empty string');
  const writer = await open(table, ['id', 'a', 'b', 'c']);
  await writer.insert([5, null, '', 'y']);
  assert.deepEqual(await select(`SELECT a, b, c FROM ${table} WHERE id = 5`), [[null, '', 'y']]);
});

test('text in utf8mb4 and latin1 columns, four-byte characters across chunks', async () => {
  const table = await makeTable(
    'id INT PRIMARY KEY, u VARCHAR(3000), l VARCHAR(9) CHARACTER SET latin1',
  );
  const index = await open(table, ['id', 'u', 'l'], { types: { id: 'number', l: 'latin1' } });
  const utf8 = await open(table, ['u']);
  const text = '😀€é\u0000\t\n\\';
  await index.insert([0, text, 'é']);
  assert.deepEqual(await index.get(0), [0, text, 'é']);
  assert.deepEqual(await select(`SELECT u, l FROM ${table}`), [[text, 'é']]);
  const faces = Array.from({ length: 400 }, (_, i) => '😀'.repeat(600 + i));
  await Promise.all(faces.map((face, i) => index.insert([i + 1, face, ''])));
  const replies = await Promise.all(faces.map((_, i) => utf8.value(i + 1)));
  assert.deepEqual(replies, faces);
});

test('limit 1 is the default, the largest is 2^32 - 1, and < and <= descend', async () => {
  const table = await makeTable('id INT PRIMARY KEY', ['(1)', '(2)', '(3)', '(4)', '(5)']);
  const index = await open(table, ['id'], { types: 'number' });
  /** @param {any} op @param {number} key @param {object} [options] */
  const ids = async (op, key, options) => (await index.find(op, key, options)).flat();
  assert.deepEqual(await ids('>=', 2), [2]);
  assert.deepEqual(await ids('>', 2, { limit: 4294967295 }), [3, 4, 5]);
  assert.deepEqual(await ids('>=', 1, { limit: 4294967294, offset: 1 }), [2, 3, 4, 5]);
  assert.deepEqual(await ids('<', 4, { limit: 10 }), [3, 2, 1]);
  assert.deepEqual(await ids('<=', 4, { limit: 2, offset: 1 }), [3, 2]);
  assert.deepEqual(await ids('=', 3, { limit: 10 }), [3]);
  const error = await rejection(index.find('>=', 1, { limit: 4294967295, offset: 1 }));
  assert.equal(error.code, 'HS_ARGUMENT', 'the server would find no row, silently');
});

test('a prefix of a composite key is enough, and a collation is the column’s', async () => {
  const table = await makeTable('a INT, b VARCHAR(9), c INT, PRIMARY KEY (a, b), KEY k (c)', [
    "(1, 'x', 7)",
    "(1, 'y', 7)",
    "(2, 'x', 8)",
  ]);
  const index = await open(table, ['b', 'c']);
  assert.deepEqual(await index.find('=', 1, { limit: 10 }), [
    ['x', '7'],
    ['y', '7'],
  ]);
  assert.deepEqual(await index.get([1, 'Y']), ['y', '7'], 'case is ignored by this collation');
  assert.equal(await index.get([1, 'z']), undefined);
  const secondary = await open(table, ['a'], { index: 'k', types: 'number' });
  assert.deepEqual(await secondary.find('=', 7, { limit: 9 }), [[1], [1]]);
  const byPlace = await open(table, ['a'], { index: '1', types: 'number' });
  assert.deepEqual(await byPlace.find('=', 8), [[2]]);
  assert.equal((await rejection(index.find('=', [1, 'x', 2]))).serverMessage, 'kpnum');
});

test('a list returns at most one row per value, in order', async () => {
  const table = await makeTable('id INT PRIMARY KEY, k INT, KEY k (k)', [
    '(1, 10)',
    '(2, 10)',
    '(3, 20)',
    '(4, 20)',
  ]);
  const index = await open(table, ['id'], { types: 'number' });
  /** @param {any[]} values @param {object} [more] */
  const ids = async (values, more) =>
    (await index.find('=', '', { in: { values }, ...more })).flat();
  assert.deepEqual(await ids([3, 99, 1, 3]), [3, 1, 3], 'missing ones are absent, twice is twice');
  const secondary = await open(table, ['id'], { types: 'number', index: 'k' });
  const rows = await secondary.find('=', '', { in: { values: [20, 10] }, limit: 10 });
  assert.deepEqual(rows, [[3], [1]]);
});

test('filters: leaving out, stopping, NULL, several, and a BLOB', async () => {
  const table = await makeTable('id INT PRIMARY KEY, n INT, s VARCHAR(9), b BLOB', [
    "(1, 30, 'a', '')",
    "(2, NULL, 'b', '')",
    "(3, 50, 'a', '')",
    "(4, 20, 'a', '')",
  ]);
  const index = await open(table, ['id'], { types: 'number', filters: ['n', 's'] });
  /** @param {any[]} filters */
  const ids = async (...filters) => {
    const found = await index.find('>=', 0, { limit: 10, filters });
    return found.flat();
  };
  assert.deepEqual(await ids({ column: 'n', op: '<', value: 40 }), [1, 2, 4], 'NULL is below all');
  assert.deepEqual(await ids({ column: 'n', op: '=', value: null }), [2]);
  assert.deepEqual(await ids({ column: 'n', op: '!=', value: null }), [1, 3, 4]);
  assert.deepEqual(await ids({ column: 'n', op: '<', value: 40, stop: true }), [1, 2]);
  assert.deepEqual(
    await ids({ column: 's', op: '=', value: 'a' }, { column: 'n', op: '>=', value: 30 }),
    [1, 3],
  );
  const rows = await index.find('>=', 0, {
    limit: 1,
    offset: 1,
    filters: [{ column: 's', op: '=', value: 'a' }],
  });
  assert.deepEqual(rows, [[3]], 'limit and offset count after the filter');
  const blob = await open(table, ['id'], { filters: ['b'] });
  const error = await rejection(
    blob.find('>=', 0, { filters: [{ column: 'b', op: '=', value: '' }] }),
  );
  assert.deepEqual([error.code, error.serverMessage], ['HS_REQUEST', 'filterblob']);
});

test('update sets every column and also counts unchanged rows', async () => {
  const table = await makeTable('id INT PRIMARY KEY, a VARCHAR(9), n INT', [
    "(1, 'x', 1)",
    "(2, 'y', 2)",
  ]);
  const index = await open(table, ['a', 'n'], { types: { n: 'number' } });
  assert.equal(await index.update('=', 1, ['z', null]), 1);
  assert.equal(await index.update('=', 1, ['z', null]), 1);
  assert.equal(await index.update('=', 9, ['z', null]), 0);
  assert.deepEqual(await index.get(1), ['z', null]);
  assert.deepEqual(await index.updateReturning('>=', 1, ['q', 5], { limit: 10 }), [
    ['z', null],
    ['y', 2],
  ]);
  assert.deepEqual(await select(`SELECT a, n FROM ${table}`), [
    ['q', 5],
    ['q', 5],
  ]);
});

test('increment and decrement work in 64-bit integers, null leaves a column', async () => {
  const table = await makeTable('id INT PRIMARY KEY, a BIGINT, b BIGINT', ['(1, 5, NULL)']);
  const index = await open(table, ['a', 'b'], { types: 'bigint' });
  assert.equal(await index.increment('=', 1, [3, 1]), 1);
  assert.deepEqual(await index.get(1), [8n, null]);
  assert.deepEqual(await index.incrementReturning('=', 1, [2n ** 40n, null]), [[8n, null]]);
  assert.equal(await index.decrement('=', 1, [2n ** 40n, 0]), 1);
  assert.equal(await index.decrement('=', 1, [9, 0]), 0, 'the sign would change');
  assert.deepEqual(await index.decrementReturning('=', 1, [8, null]), [[8n, null]]);
  assert.deepEqual(await index.get(1), [0n, null]);
  assert.deepEqual(await index.incrementReturning('=', 9, [1, 1]), []);
});

test('remove counts rows, or returns their old values', async () => {
  const table = await makeTable('id INT PRIMARY KEY, a VARCHAR(9)', [
    "(1, 'x')",
    "(2, 'y')",
    "(3, 'z')",
    "(4, 'w')",
  ]);
  const index = await open(table, ['id', 'a']);
  assert.equal(await index.remove('=', 1), 1);
  assert.equal(await index.remove('=', 1), 0);
  assert.deepEqual(await index.removeReturning('>=', 2, { limit: 2 }), [
    ['2', 'y'],
    ['3', 'z'],
  ]);
  assert.equal(await index.remove('=', '', { in: { values: [3, 4] } }), 1);
  assert.deepEqual(await select(`SELECT COUNT(*) FROM ${table}`), [[0]]);
});

test('insert returns the id of AUTO_INCREMENT, 0 if it was specified, undefined without', async () => {
  const table = await makeTable('id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, a INT');
  const index = await open(table, ['id', 'a']);
  assert.equal(await index.insert([null, 1]), 1);
  assert.equal(await index.insert([0, 2]), 2);
  assert.equal(await index.insert([10, 3]), 0);
  assert.equal(await index.insert([null, 4]), 11);
  const plain = await open(await makeTable('id INT PRIMARY KEY'), ['id']);
  assert.equal(await plain.insert([1]), undefined);
});

test('a table of more than 32 columns is written by an insert and an update', async () => {
  const names = Array.from({ length: 40 }, (_, i) => `c${i}`);
  const table = await makeTable(
    `id INT PRIMARY KEY, ${names.map((name) => `${name} INT NOT NULL DEFAULT 0`).join(',')}`,
  );
  const first = await open(table, ['id', ...names.slice(0, 31)]);
  const rest = await open(table, names.slice(31));
  await first.insert([1, ...names.slice(0, 31).map((_, i) => i)]);
  assert.equal(
    await rest.update(
      '=',
      1,
      names.slice(31).map((_, i) => i + 31),
    ),
    1,
  );
  const all = await open(table, names, { types: 'number' });
  assert.deepEqual(
    await all.get(1),
    names.map((_, i) => i),
  );
});

test('errors of the server come with their code, message and the engine’s name', async () => {
  const parent = await makeTable('id INT PRIMARY KEY', ['(1)']);
  const child = await makeTable(
    `id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES ${parent}(id)`,
  );
  const children = await open(child, ['id', 'p']);
  const parents = await open(parent, ['id']);
  await children.insert([1, 1]);
  /** @param {Promise<any>} promise */
  const parts = async (promise) => {
    const { code, serverCode, serverMessage, errno, errnoName } = await rejection(promise);
    return [code, serverCode, serverMessage, errno, errnoName];
  };
  assert.deepEqual(await parts(children.insert([1, 1])), [
    ...['HS_ENGINE', 1, '121', 121, 'HA_ERR_FOUND_DUPP_KEY'],
  ]);
  assert.deepEqual(await parts(children.insert([2, 9])), [
    ...['HS_ENGINE', 1, '151', 151, 'HA_ERR_NO_REFERENCED_ROW'],
  ]);
  assert.deepEqual(await parts(parents.remove('=', 1)), [
    ...['HS_ENGINE', 1, '152', 152, 'HA_ERR_ROW_IS_REFERENCED'],
  ]);
  /** @param {object} more */
  const opened = (more) =>
    parts(client().openIndex({ database: DATABASE, table: parent, columns: ['id'], ...more }));
  const none = [undefined, undefined];
  assert.deepEqual(await opened({ table: 'nope' }), ['HS_OPEN_TABLE', 1, 'open_table', ...none]);
  assert.deepEqual(await opened({ table: parent.toUpperCase() }), [
    ...['HS_OPEN_TABLE', 1, 'open_table', ...none],
  ]);
  assert.deepEqual(await opened({ index: 'nope' }), ['HS_INDEX', 2, 'idxnum', ...none]);
  assert.deepEqual(await opened({ columns: ['nope'] }), ['HS_COLUMN', 2, 'fld', ...none]);
  assert.equal((await parts(parents.find('=', [1, 2])))[2], 'kpnum');
  assert.deepEqual(await parents.get(1), ['1'], 'the connection goes on');
});

test('a change on the read port is refused by the server with that reason', async () => {
  const table = await makeTable('id INT PRIMARY KEY');
  const wrong = await connect({ port: server().read, writePort: server().read });
  const index = await wrong.openIndex({ database: DATABASE, table, columns: ['id'] });
  const error = await rejection(index.insert([1]));
  assert.deepEqual([error.code, error.serverMessage], ['HS_READ_ONLY', 'readonly']);
  await wrong.close();
});

test('a read-only server refuses changes', async () => {
  const table = await makeTable('id INT PRIMARY KEY');
  const index = await open(table, ['id']);
  // The server waits for tables that are open for writing.
  await client().releaseTables(() => sql().query('SET GLOBAL read_only = 1'));
  try {
    const error = await rejection(index.insert([1]));
    assert.deepEqual([error.code, error.serverMessage], ['HS_READ_ONLY', 'lock_tables']);
  } finally {
    await client().releaseTables(() => sql().query('SET GLOBAL read_only = 0'));
  }
});

test('a batch keeps its order, and one that fails does not undo the others', async () => {
  const table = await makeTable('id INT PRIMARY KEY, n INT', ['(1, 1)']);
  const index = await open(table, ['id', 'n'], { types: 'number' });
  const batch = client().batch().insert(index, [2, 2]).insert(index, [2, 3]).find(index, '=', 2);
  batch.increment(index, '=', 2, [0, 5]).find(index, '=', 2).remove(index, '=', 1);
  batch.update(index, '=', 2, [2, 9]);
  assert.equal(batch.size, 7);
  const results = await batch.send();
  assert.deepEqual(
    results.map((result) =>
      result.status === 'fulfilled' ? result.value : result.reason.errnoName,
    ),
    [undefined, 'HA_ERR_FOUND_DUPP_KEY', [[2, 2]], 1, [[2, 7]], 1, 1],
  );
  assert.deepEqual(await client().batch().send(), []);
  await assert.rejects(batch.send(), { code: 'HS_ARGUMENT' });
});

test('a scan returns every row once, by unique and repeated keys, in both directions', async () => {
  const rows = Array.from({ length: 1000 }, (_, i) => `(${i + 1}, ${i % 7}, ${(i * 37) % 11})`);
  const table = await makeTable('id INT PRIMARY KEY, k INT NOT NULL, m INT, KEY km (k, m)', rows);
  const primary = await open(table, ['id'], { types: 'number' });
  /** @param {any} index @param {object} [options] */
  const walk = async (index, options) => {
    const seen = [];
    for await (const row of index.scan(options)) seen.push(row);
    return seen;
  };
  const ids = Array.from({ length: 1000 }, (_, i) => i + 1);
  for (const pageSize of [1, 7, 999, 1000, 1001]) {
    assert.deepEqual((await walk(primary, { pageSize })).flat(), ids, `pages of ${pageSize}`);
  }
  assert.deepEqual((await walk(primary, { from: [990], after: true })).flat(), ids.slice(990));
  const down = await walk(primary, { from: [10], descending: true, pageSize: 3 });
  assert.deepEqual(down.flat(), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  const secondary = await open(table, ['id', 'k', 'm'], { types: 'number', index: 'km' });
  for (const pageSize of [1, 5, 50, 143, 2000]) {
    const options = { keyColumns: ['k', 'm'], unique: false, pageSize };
    const seen = (await walk(secondary, options)).map(([id]) => id);
    assert.equal(seen.length, 1000);
    assert.deepEqual(
      seen.toSorted((/** @type {any} */ a, b) => a - b),
      ids,
      `pages of ${pageSize}`,
    );
  }
  for await (const [id] of primary.scan()) if (id === 5) break;
});

test('a single reply of 12 MB is complete', async () => {
  const table = await makeTable('id INT PRIMARY KEY, v VARCHAR(100) NOT NULL');
  await sql().query(`INSERT INTO ${table} SELECT seq, RPAD(seq, 100, '.') FROM seq_1_to_110000`);
  const index = await open(table, ['id', 'v'], { types: { id: 'number' } });
  const rows = await index.find('>=', 0, { limit: 4294967295 });
  assert.equal(rows.length, 110_000);
  assert.ok(rows.every(([id, v], i) => id === i + 1 && v === `${i + 1}`.padEnd(100, '.')));
});

test('100,000 and 400,000 requests at once are all answered, each its own', async () => {
  const table = await makeTable('id INT PRIMARY KEY, v INT NOT NULL');
  await sql().query(`INSERT INTO ${table} SELECT seq, seq * 3 FROM seq_1_to_50000`);
  const index = await open(table, ['v'], { types: 'number' });
  for (const count of [100_000, 400_000]) {
    let right = 0;
    await new Promise((resolve, reject) => {
      let left = count;
      for (let i = 0; i < count; i += 1) {
        const id = 1 + (i % 50_000);
        index.value(id, (error, value) => {
          if (error) reject(error);
          if (value === id * 3) right += 1;
          left -= 1;
          if (left === 0) resolve(undefined);
        });
      }
    });
    assert.equal(right, count);
  }
  const values = await Promise.all(Array.from({ length: 100_000 }, (_, i) => index.value(i + 1)));
  assert.equal(values.filter((value) => value !== undefined).length, 50_000);
  assert.equal(client().counters().pending, 0);
});

test('releaseTables lets SQL alter a table that is open, and the client goes on', async () => {
  const table = await makeTable('id INT PRIMARY KEY, v INT', ['(1, 5)']);
  const index = await open(table, ['v'], { types: 'number' });
  await index.update('=', 1, [6]);
  await sql().query('SET lock_wait_timeout = 20');
  await client().releaseTables(async () => {
    await sql().query(`ALTER TABLE ${table} ADD COLUMN w INT DEFAULT 7`);
    await sql().query(`TRUNCATE TABLE ${table}`);
    await sql().query(`INSERT INTO ${table} VALUES (1, 8, 9)`);
  });
  assert.equal(await index.value(1), 8);
});

test('another client on the same server threads keeps a table open: releaseTables times out', async () => {
  const table = await makeTable('id INT PRIMARY KEY, v INT', ['(1, 5)']);
  const index = await open(table, ['v'], { types: 'number' });
  assert.equal(await index.value(1), 5);
  // More connections than threads of the listener, none with the table open.
  const other = await connect({ port: server().read, connections: 64 });
  await sql().query('SET lock_wait_timeout = 3');
  /** @type {Promise<any>} */
  let dropped = Promise.resolve();
  const error = await rejection(
    client().releaseTables(() => (dropped = rejection(sql().query(`DROP TABLE ${table}`))), {
      timeoutMs: 300,
    }),
  );
  assert.equal(error.code, 'HS_RELEASE_TIMEOUT');
  assert.equal((await dropped).errno, 1205, 'MariaDB waited for the lock of the open table');
  await other.close();
  await client().releaseTables(() => sql().query(`DROP TABLE ${table}`));
});

test('an openIndex that fails leaves no lock on the table, and requests under way are answered', async () => {
  await sql().query('SET lock_wait_timeout = 10');
  const busy = await makeTable('id INT PRIMARY KEY, v INT', ['(1, 5)']);
  const index = await open(busy, ['v'], { types: 'number' });
  for (const wrong of [{ index: 'nope' }, { columns: ['nope'] }, { filters: ['nope'] }]) {
    const table = await makeTable('id INT PRIMARY KEY');
    const { columns = ['id'], ...more } = wrong;
    const finds = Promise.all(Array.from({ length: 500 }, () => index.value(1)));
    const failures = await Promise.all([
      rejection(open(table, columns, more)),
      rejection(open(table, columns, more)),
    ]);
    for (const { code } of failures) assert.match(code, /^HS_(INDEX|COLUMN)$/);
    await sql().query(`ALTER TABLE ${table} ADD COLUMN w INT`);
    await sql().query(`DROP TABLE ${table}`);
    assert.ok((await finds).every((value) => value === 5));
    assert.equal(await index.value(1), 5, 'other indexes are open again');
  }
  // A table with an open index stays open, and its connections are not disturbed.
  const before = client().counters().connects;
  await rejection(open(busy, ['nope']));
  assert.equal(client().counters().connects, before);
  index.close();
});

test('a request by its tokens: finds, changes, errors, bytes', async () => {
  const table = await makeTable('id INT PRIMARY KEY, v VARBINARY(9)', ["(1, 'a')", "(2, 'b')"]);
  const index = await open(table, ['id', 'v']);
  assert.deepEqual(await client().request(['>=', 1, 1, 10, 0], { index }), {
    columns: 2,
    fields: ['1', 'a', '2', 'b'],
  });
  assert.deepEqual(await client().request(['=', 1, 9], { index }), { columns: 2, fields: [] });
  const bytes = Buffer.of(0, 9, 10, 255);
  const update = ['=', 1, 2, 1, 0, 'U', 2, bytes];
  assert.deepEqual(await client().request(update, { index, write: true }), {
    columns: 1,
    fields: ['1'],
  });
  const { fields } = await client().request(['=', 1, 2], { index, type: 'buffer' });
  assert.deepEqual(fields, [Buffer.from('2'), bytes]);
  await client().request(['=', 1, 2, 1, 0, 'U', 2, null], { index, write: true });
  assert.deepEqual((await client().request(['=', 1, 2], { index })).fields, ['2', null]);
  const error = await rejection(client().request(['~', 1, 2], { index }));
  assert.deepEqual([error.code, error.serverMessage], ['HS_REQUEST', 'op']);
  assert.equal((await rejection(client().request(update, { index }))).code, 'HS_READ_ONLY');
  assert.match((await rejection(client().request(['P', 1]))).message, /use openIndex/);
  assert.match((await rejection(client().request([]))).message, /an array of tokens/);
  assert.equal(await index.value(1), '1', 'the connection is in step');
});

test('a guard keeps a view, which would kill the server, from being opened', async () => {
  const table = await makeTable('id INT PRIMARY KEY');
  await sql().query(`CREATE VIEW v_${table} AS SELECT * FROM ${table}`);
  const guard = baseTableGuard((text, values) => sql().query(text, values));
  const withGuard = await connect({ port: server().read, guard });
  const open = (/** @type {string} */ name) =>
    withGuard.openIndex({ database: DATABASE, table: name, columns: ['id'] });
  const error = await rejection(open(`v_${table}`));
  assert.match(error.message, /is a view/);
  assert.equal(await (await open(table)).value(1), undefined);
  await withGuard.close();
});

test('the documented behaviour of inserts without strict mode is correct', async () => {
  const table = await makeTable('id INT PRIMARY KEY, n INT, s VARCHAR(3), CHECK (n < 100)');
  const index = await open(table, ['id', 'n', 's']);
  await index.insert([1, 'abc', 'too long']);
  await index.insert([2, 500, '\t']);
  assert.deepEqual(await index.get(1), ['1', '0', 'too']);
  assert.deepEqual(await index.get(2), ['2', '500', '\t'], 'CHECK is bypassed');
});

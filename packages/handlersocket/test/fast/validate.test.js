/** Requests that the client refuses before it sends anything. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, HandlerSocketClient } from '../../index.js';
import { rejection, startFake } from '../fake-server.js';

/** @param {(index: any, client: any) => Promise<void>} body */
async function withIndex(body) {
  const fake = await startFake();
  const options = { port: fake.port, writePort: fake.port, connections: 1 };
  const client = await connect(options);
  const index = await client.openIndex({
    database: 'd',
    table: 't',
    index: 'k',
    columns: ['a', 'b'],
    filters: ['f'],
  });
  const before = fake.lines.length;
  try {
    await body(index, client);
    assert.equal(fake.lines.length, before, 'nothing was sent');
  } finally {
    await client.close();
    await fake.close();
  }
}

/** @param {Promise<unknown>} promise @param {RegExp} message */
async function refused(promise, message) {
  const error = await rejection(promise);
  assert.equal(error.code, 'HS_ARGUMENT');
  assert.equal(error.outcomeUnknown, false);
  assert.match(error.message, message);
}

test('operators, limits and keys that the server misinterprets are refused', () =>
  withIndex(async (index) => {
    for (const op of ['<>', '!=', '==', 'S', '', 'like', undefined]) {
      await refused(index.find(op, 1), /operator/);
    }
    for (const limit of [0, -1, 1.5, 4294967296, '1', Number.NaN]) {
      await refused(index.find('=', 1, { limit }), /limit/);
    }
    await refused(index.find('=', 1, { offset: -1 }), /offset/);
    await refused(index.find('=', 1, { limit: 4294967295, offset: 1 }), /the sum/);
    await refused(index.find('=', []), /key/);
    await refused(index.find('=', new Array(33).fill(1)), /key: has 33/);
    await refused(index.find('=', [undefined]), /not a value/);
    await refused(index.get(undefined), /not a value/);
    await refused(index.get({}), /not a value/);
    await refused(index.value(Symbol('s')), /not a value/);
  }));

test('lists with NULL, without values or longer than the limit are refused', () =>
  withIndex(async (index) => {
    /** @param {any} list @param {object} [more] */
    const find = (list, more) => index.find('=', 1, { in: list, ...more });
    await refused(find({ values: [1, null] }), /NULL in a list/);
    await refused(find({ values: [] }), /must not be empty/);
    await refused(find({ values: [1, 2, 3] }, { limit: 2 }), /limit 2/);
    await refused(find({ part: 1, values: [1] }), /in.part/);
    await refused(find([1, 2]), /must be \{ part, values \}/);
  }));

test('filters with an unknown operator or column are refused', () =>
  withIndex(async (index) => {
    /** @param {any} filter */
    const find = (filter) => index.find('=', 1, { filters: [filter] });
    await refused(find({ column: 'f', op: '<>', value: 1 }), /filter operator/);
    await refused(find({ column: 'f', op: '~', value: 1 }), /filter operator/);
    await refused(find({ column: 'a', op: '=', value: 1 }), /filter column/);
    await refused(find(null), /filters: each/);
    await refused(find({ column: 'f', op: '=', value: {} }), /not a value/);
  }));

test('changes with too few, too many or wrong values are refused', () =>
  withIndex(async (index) => {
    await refused(index.update('=', 1, [1]), /must have 2/);
    await refused(index.update('=', 1, [1, 2, 3]), /must have 2/);
    await refused(index.updateReturning('=', 1, []), /must have 2/);
    await refused(index.insert([1]), /must have 2/);
    await refused(index.insert('ab'), /must be an array/);
    await refused(index.increment('=', 1, ['x', 1]), /step/);
    await refused(index.increment('=', 1, [1.5, 1]), /step/);
    await refused(index.decrement('=', 1, [1, {}]), /step/);
    await refused(index.update('!', 1, [1, 2]), /operator/);
  }));

test('names that the protocol cannot carry, and tables that kill the server, are refused', () =>
  withIndex(async (_, client) => {
    const base = { database: 'd', table: 't', columns: ['a'] };
    /** @param {object} more @param {RegExp} message */
    const open = (more, message) => refused(client.openIndex({ ...base, ...more }), message);
    await open({ database: 'd\t' }, /control character/);
    await open({ table: 't\n' }, /control character/);
    await open({ table: '' }, /must be a non-empty string/);
    await open({ table: undefined }, /must be a non-empty string/);
    await open({ index: 'k\0' }, /control character/);
    await open({ columns: ['a,b'] }, /comma/);
    await open({ columns: [] }, /at least one/);
    await open({ columns: ['a', 'a'] }, /occurs twice/);
    await open({ columns: 'a' }, /must be an array/);
    await open({ filters: ['x\x01'] }, /control character/);
    await open({ types: { b: 'utf8' } }, /not an open column/);
    await open({ types: 'json' }, /not one of/);
    for (const database of ['mysql', 'information_schema', 'SYS', 'performance_schema']) {
      await open({ database }, /kills the server/);
    }
  }));

test('an index with more columns than an insert can carry is reported', async () => {
  const fake = await startFake();
  const client = await connect({ port: fake.port, writePort: fake.port });
  const columns = Array.from({ length: 33 }, (_, i) => `c${i}`);
  const index = await client.openIndex({ database: 'd', table: 't', columns });
  await refused(index.insert(columns), /the server accepts 32/);
  assert.equal(await index.update('=', 1, columns), 1);
  await client.close();
  await fake.close();
});

test('without a write listener changes are refused', async () => {
  const fake = await startFake();
  const client = await connect({ port: fake.port });
  const index = await client.openIndex({ database: 'd', table: 't', columns: ['a'] });
  await refused(index.insert([1]), /writePort/);
  await client.close();
  await fake.close();
});

test('a closed index is refused, because its id may belong to another index', async () => {
  const fake = await startFake();
  const client = await connect({ port: fake.port });
  const base = { database: 'd', columns: ['a'] };
  const first = await client.openIndex({ ...base, table: 't' });
  const same = await client.openIndex({ ...base, table: 't' });
  assert.equal(same.id, first.id, 'one definition has one id');
  first.close();
  first.close();
  await refused(first.get(1), /was closed/);
  await refused(first.find('=', 1), /was closed/);
  assert.equal(await same.value(1), 'v1');
  same.close();
  const other = await client.openIndex({ ...base, table: 'u' });
  assert.equal(other.id, same.id === -1 ? 0 : same.id, 'the id is used again');
  await client.close();
  await fake.close();
});

test('a guard can refuse a known view', async () => {
  const fake = await startFake();
  const { baseTableGuard } = await import('../../index.js');
  /** @type {string[][]} */
  const asked = [];
  const guard = baseTableGuard(async (_, values) => {
    asked.push(values);
    return [[{ type: values[1] === 'v' ? 'VIEW' : 'BASE TABLE' }], []];
  });
  const client = await connect({ port: fake.port, guard });
  await refused(client.openIndex({ database: 'd', table: 'v', columns: ['a'] }), /is a view/);
  await client.openIndex({ database: 'd', table: 't', columns: ['a'] });
  assert.deepEqual(asked, [
    ['d', 'v'],
    ['d', 't'],
  ]);
  await client.close();
  await fake.close();
});

test('options that are unknown or out of bounds are refused', () => {
  for (const options of [
    { prot: 1 },
    { port: 0 },
    { port: 65536 },
    { connections: 0 },
    { maxInFlight: 1.5 },
    { secret: 'a\tb' },
    { secret: 'a\0' },
    { connectTimeoutMs: -1 },
  ]) {
    assert.throws(() => new HandlerSocketClient(/** @type {any} */ (options)), {
      code: 'HS_ARGUMENT',
    });
  }
});

test('a callback that is no function, or comes with a signal, is refused', () =>
  withIndex(async (index) => {
    await refused(index.value(1, 5), /callback 5/);
    const error = await new Promise((resolve) => {
      index.find('=', 1, { signal: new AbortController().signal }, resolve);
    });
    assert.match(error.message, /signal and timeoutMs go with promises/);
    const late = await new Promise((resolve) => {
      let inside = true;
      index.find('~', 1, {}, (/** @type {any} */ why) => resolve([inside, why.code]));
      inside = false;
    });
    assert.deepEqual(late, [false, 'HS_ARGUMENT'], 'never from inside the call');
  }));

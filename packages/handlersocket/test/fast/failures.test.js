/** Every way in which a server or a connection can fail, against a scripted server. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { connect, HandlerSocketClient } from '../../index.js';
import { goodAnswer, rejection, startFake } from '../fake-server.js';

const TABLE = { database: 'd', table: 't', columns: ['a'] };
const QUICK = { backoffMs: 1, backoffMaxMs: 5 };

/**
 * A scripted server and a client, closed after the test.
 * @param {import('node:test').TestContext} t
 * @param {object} [options] options of the client
 * @param {boolean} [writes] the client also gets the port for changes
 */
async function open(t, options, writes = false) {
  const fake = await startFake();
  const ports = { port: fake.port, ...(writes && { writePort: fake.port }) };
  const client = await connect({ ...ports, connections: 1, ...QUICK, ...options });
  t.after(async () => {
    await client.close();
    await fake.close();
  });
  return { fake, client, index: await client.openIndex(TABLE) };
}

/** @param {number} count @param {(key: number) => Promise<any>} ask */
const many = (count, ask) =>
  Promise.allSettled(Array.from({ length: count }, (_, i) => ask(i + 1)));

test('a closed port is refused immediately, with the address', async () => {
  const fake = await startFake();
  await fake.close();
  const error = await rejection(connect({ port: fake.port }));
  assert.equal(error.code, 'HS_CONNECT');
  assert.match(error.message, new RegExp(`127.0.0.1:${fake.port}.*ECONNREFUSED`));
});

test('a listener that never replies is detected by the handshake timeout', async () => {
  const fake = await startFake({ answer: () => undefined });
  const error = await rejection(connect({ port: fake.port, handshakeTimeoutMs: 30 }));
  assert.equal(error.code, 'HS_HANDSHAKE_TIMEOUT');
  assert.match(error.message, /restart of the server/);
  await fake.close();
});

test('a secret that never arrives is detected by the connect timeout', async () => {
  const secret = () => new Promise(() => {});
  const error = await rejection(
    connect({ port: 1, connectTimeoutMs: 20, secret: /** @type {any} */ (secret) }),
  );
  assert.equal(error.code, 'HS_CONNECT_TIMEOUT');
});

test('a wrong secret is HS_AUTH, and no request waits for a second try', async () => {
  const answer = (/** @type {any} */ { line }) =>
    line === 'A\t1\tgood' || line.startsWith('P') ? '0\t1' : '3\t1\tunauth';
  const fake = await startFake({ answer });
  const error = await rejection(connect({ port: fake.port, secret: 'bad' }));
  assert.equal(error.code, 'HS_AUTH');
  assert.doesNotMatch(error.message, /bad/, 'the secret is in no message');
  const without = await rejection(connect({ port: fake.port }));
  assert.equal(without.code, 'HS_AUTH');
  const client = new HandlerSocketClient({ port: fake.port, secret: async () => 'worse' });
  assert.equal((await rejection(client.openIndex(TABLE))).code, 'HS_AUTH');
  client.destroy();
  const good = await connect({ port: fake.port, secret: () => 'good' });
  await good.close();
  await fake.close();
});

test('auth, indexes and pending requests are sent together upon connecting', async () => {
  const fake = await startFake();
  const client = new HandlerSocketClient({ port: fake.port, connections: 1, secret: 's' });
  const index = await client.openIndex(TABLE);
  await client.releaseTables(() => {});
  assert.deepEqual(await many(2, (key) => index.value(key)), [
    { status: 'fulfilled', value: 'v1' },
    { status: 'fulfilled', value: 'v2' },
  ]);
  assert.equal(fake.connections, 2);
  assert.deepEqual(fake.lines.slice(-4), [
    'A\t1\ts',
    'P\t0\td\tt\tPRIMARY\ta',
    '0\t=\t1\t1',
    '0\t=\t1\t2',
  ]);
  await client.close();
  await fake.close();
});

test('replies that are split at any position reach the right request', async (t) => {
  const { fake, index } = await open(t);
  const reply = Buffer.from('0\t1\tfirst\n0\t1\n2\t1\tcmd\n0\t1\tlast€\n');
  for (let cut = 1; cut < reply.length; cut += 1) {
    let request = 0;
    fake.setAnswer(({ socket }) => {
      request += 1;
      if (request < 4) return undefined;
      socket.write(reply.subarray(0, cut));
      setImmediate(() => socket.write(reply.subarray(cut)));
      return undefined;
    });
    const [a, b, c, d] = await many(4, (key) => index.value(key));
    assert.equal(/** @type {any} */ (a).value, 'first');
    assert.equal(/** @type {any} */ (b).value, undefined);
    assert.equal(/** @type {any} */ (c).reason.code, 'HS_REQUEST');
    assert.equal(/** @type {any} */ (d).value, 'last€');
  }
});

test('a find that was in flight at a loss is sent again, and indexes are opened before it', async (t) => {
  const { fake, client, index } = await open(t);
  /** @type {any[]} */
  const events = [];
  client.on('disconnect', (_, error) => events.push(error.code));
  client.on('connect', () => events.push('connect'));
  fake.setAnswer(({ line, socket, connection }) => {
    // The old connection delivers the first reply, half of the second, then a reset.
    if (connection > 1) return goodAnswer(line);
    if (line.endsWith('\t1')) socket.write('0\t1\tv1\n0\t1\tv', () => socket.resetAndDestroy());
    return undefined;
  });
  const results = await many(100, (key) => index.value(key));
  assert.deepEqual(
    results.map((result) => /** @type {any} */ (result).value),
    Array.from({ length: 100 }, (_, i) => `v${i + 1}`),
  );
  assert.deepEqual(events, ['HS_CONNECTION_LOST', 'connect']);
  assert.equal(fake.lines.filter((line) => line === '0\t=\t1\t1').length, 1, 'not sent twice');
  assert.equal(fake.lines.filter((line) => line === '0\t=\t1\t2').length, 2);
  assert.equal(client.counters().losses, 1);
});

test('a change in flight at a loss rejects as unknown, one that was not sent is executed', async (t) => {
  const { fake, index } = await open(t, { maxInFlight: 2 }, true);
  await index.insert([0]);
  let lost = false;
  fake.setAnswer(({ line, socket }) => {
    if (!lost && line === '0\t+\t1\t2') {
      lost = true;
      socket.destroy();
    }
    return lost ? goodAnswer(line) : undefined;
  });
  const results = await many(4, (key) => index.insert([key]));
  const errors = results.map((result) => /** @type {any} */ (result).reason);
  assert.deepEqual(
    errors.map((error) => error && [error.code, error.outcomeUnknown]),
    [['HS_CONNECTION_LOST', true], ['HS_CONNECTION_LOST', true], undefined, undefined],
  );
  assert.match(errors[0].message, /may have been executed/);
  assert.equal(fake.lines.filter((line) => line === '0\t+\t1\t1').length, 1, 'never sent twice');
  assert.equal(fake.lines.filter((line) => line === '0\t+\t1\t3').length, 1);
});

test('a find that ends the connection each time is abandoned after maxRetries', async (t) => {
  const { fake, index } = await open(t, { maxRetries: 3 });
  fake.setAnswer(({ line, socket }) => {
    if (!line.endsWith('\t666')) return goodAnswer(line);
    socket.destroy();
    return undefined;
  });
  const error = await rejection(index.value(666));
  assert.equal(error.code, 'HS_CONNECTION_LOST');
  assert.equal(error.outcomeUnknown, false);
  assert.equal(fake.lines.filter((line) => line.endsWith('666')).length, 4);
  assert.equal(await index.value(5), 'v5');
});

test('bytes that are not HandlerSocket end the connection, and the rejection shows them', async (t) => {
  for (const garbage of [
    'HTTP/1.1 400 Bad Request\r\n',
    '\n',
    '9\n',
    '\xff\x00\x01\n',
    '0\t7\ta\n',
  ]) {
    const { fake, index } = await open(t, { maxRetries: 0 });
    fake.setAnswer(({ line }) =>
      line.startsWith('0') ? Buffer.from(garbage, 'latin1') : goodAnswer(line),
    );
    const error = await rejection(index.value(1));
    assert.equal(error.code, 'HS_PROTOCOL', JSON.stringify(garbage));
    assert.match(error.message, /127\.0\.0\.1:\d+: /);
  }
});

test('a server of another protocol is refused at the handshake', async () => {
  const fake = await startFake({ answer: () => 'HTTP/1.1 400 Bad Request\r' });
  const error = await rejection(connect({ port: fake.port }));
  assert.equal(error.code, 'HS_PROTOCOL');
  await fake.close();
});

test('an unexpected reply ends the connection, the next request opens another', async (t) => {
  const { fake, client, index } = await open(t);
  const lost = once(client, 'disconnect');
  for (const socket of fake.sockets) socket.write('0\t1\n');
  const [, error] = await lost;
  assert.equal(error.code, 'HS_PROTOCOL');
  assert.equal(await index.value(3), 'v3');
});

test('an idle connection that the server closes is reopened when it is needed', async (t) => {
  const { fake, client, index } = await open(t);
  const lost = once(client, 'disconnect');
  for (const socket of fake.sockets) socket.end();
  await lost;
  assert.equal(fake.connections, 1, 'no request yet');
  assert.equal(await index.value(3), 'v3');
  assert.equal(fake.connections, 2);
});

test('requests wait for a server that comes back, and reject when it does not', async (t) => {
  const { fake, index } = await open(t, { offlineTimeoutMs: 400 });
  await fake.close();
  const waiting = index.value(1);
  await sleep(20);
  await fake.listen();
  assert.equal(await waiting, 'v1');
  await fake.close();
  const error = await rejection(index.value(2));
  assert.equal(error.code, 'HS_OFFLINE');
  assert.match(error.message, /400 ms .*ECONNREFUSED/);
  await fake.listen();
  assert.equal(await index.value(3), 'v3', 'the client is not broken by it');
});

test('with offlineTimeoutMs 0 no request waits for an unreachable server', async (t) => {
  const { fake, client, index } = await open(t, { offlineTimeoutMs: 0 });
  await fake.close();
  assert.equal((await rejection(index.value(2))).code, 'HS_OFFLINE');
  client.destroy();
});

test('silence with requests in flight ends the connection and rejects them all', async (t) => {
  const { fake, index } = await open(t, { requestTimeoutMs: 40 });
  // Neither does it reply to a later ping.
  const isSilent = (/** @type {string} */ line) => line.endsWith('\t1') || line === '';
  fake.setAnswer(({ line }) => (isSilent(line) ? undefined : goodAnswer(line)));
  const results = await many(3, (key) => index.value(key));
  // Replies are in order: without the first, the others cannot be assigned.
  fake.setAnswer(({ line }) => goodAnswer(line));
  assert.equal(await index.value(9), 'v9');
  const codes = results.map((result) => /** @type {any} */ (result).reason?.code);
  assert.equal(codes.at(-1), 'HS_REQUEST_TIMEOUT');
});

test('a time or a signal for one request leaves its place in the order', async (t) => {
  const { fake, client, index } = await open(t);
  /** @type {(() => void)[]} */
  const held = [];
  fake.setAnswer(({ line, socket }) => {
    held.push(() => socket.write(`${goodAnswer(line)}\n`));
    return undefined;
  });
  const controller = new AbortController();
  const late = rejection(index.find('=', 1, { timeoutMs: 5 }));
  const aborted = rejection(index.find('=', 2, { signal: controller.signal }));
  const third = index.value(3);
  await turn();
  controller.abort(new Error('no need'));
  const why = await aborted;
  assert.deepEqual([why.code, why.cause.message], ['HS_ABORTED', 'no need']);
  assert.equal((await late).code, 'HS_REQUEST_TIMEOUT');
  while (held.length < 3) await turn();
  for (const release of held) release();
  assert.equal(await third, 'v3');
  assert.equal(
    (await rejection(index.find('=', 4, { signal: controller.signal }))).code,
    'HS_ABORTED',
  );
  assert.equal(client.counters().pending, 0, 'an aborted signal sends nothing');
});

test('an aborted change says that it may be executed', async (t) => {
  const { fake, client, index } = await open(t, {}, true);
  const signal = AbortSignal.timeout(10);
  // Neither does it reply to a later ping.
  const isSilent = (/** @type {string} */ line) => line.includes('+') || line === '';
  fake.setAnswer(({ line }) => (isSilent(line) ? undefined : goodAnswer(line)));
  const error = await rejection(index.insert([1], { signal }));
  assert.deepEqual([error.code, error.outcomeUnknown], ['HS_ABORTED', true]);
  client.destroy();
});

test('connect can be aborted', async () => {
  const fake = await startFake({ answer: () => undefined });
  const error = await rejection(connect({ port: fake.port, signal: AbortSignal.timeout(10) }));
  assert.equal(error.code, 'HS_ABORTED');
  const already = await rejection(connect({ port: fake.port, signal: AbortSignal.abort() }));
  assert.equal(already.code, 'HS_ABORTED');
  await fake.close();
});

test('close waits for replies, refuses new requests, and leaves no socket', async (t) => {
  const { fake, client, index } = await open(t);
  const asked = many(1000, (key) => index.value(key));
  const closing = client.close();
  assert.equal((await rejection(index.value(1))).code, 'HS_CLOSED');
  assert.ok((await asked).every((result) => result.status === 'fulfilled'));
  await closing;
  await client.close();
  while (fake.sockets.size > 0) await turn();
  assert.equal((await rejection(client.openIndex(TABLE))).code, 'HS_CLOSED');
});

test('close with a time limit, and destroy, reject outstanding requests', async (t) => {
  const { fake, client, index } = await open(t, {}, true);
  fake.setAnswer(() => undefined);
  const find = rejection(index.value(1));
  const insert = rejection(index.insert([1]));
  await sleep(10);
  await client.close({ timeoutMs: 10 });
  assert.deepEqual([(await find).code, (await find).outcomeUnknown], ['HS_CLOSED', false]);
  assert.deepEqual([(await insert).code, (await insert).outcomeUnknown], ['HS_CLOSED', true]);
});

test('a callback may close the client in the middle of a chunk of replies', async (t) => {
  const { client, index } = await open(t);
  /** @type {any[]} */
  const seen = [];
  await new Promise((resolve) => {
    for (let key = 1; key <= 5; key += 1) {
      index.value(key, (error, value) => {
        seen.push(error ? error.code : value);
        if (key === 2) client.destroy();
        if (seen.length === 5) resolve(undefined);
      });
    }
  });
  assert.deepEqual(seen, ['v1', 'v2', 'HS_CLOSED', 'HS_CLOSED', 'HS_CLOSED']);
});

test('an error thrown by a callback is uncaught, and later replies still arrive', async (t) => {
  const { index } = await open(t);
  /** @type {any[]} */
  const uncaught = [];
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  t.after(() => {
    process.removeAllListeners('uncaughtException');
    for (const listener of listeners) process.on('uncaughtException', listener);
  });
  process.on('uncaughtException', (error) => uncaught.push(error.message));
  index.value(1, () => {
    throw new Error('mine');
  });
  const second = await index.value(2);
  await turn();
  assert.equal(second, 'v2');
  assert.deepEqual(uncaught, ['mine']);
});

test('at most maxInFlight requests are in flight, and at most maxPending are accepted', async (t) => {
  const { fake, client, index } = await open(t, { maxInFlight: 10, maxPending: 50 });
  fake.lines.length = 0;
  /** @type {(() => void)[]} */
  const held = [];
  fake.setAnswer(({ line, socket }) => {
    held.push(() => socket.write(`${goodAnswer(line)}\n`));
    return undefined;
  });
  const asked = many(60, (key) => index.value(key));
  while (held.length < 10) await turn();
  await sleep(10);
  assert.equal(held.length, 10);
  assert.equal(client.counters().inFlight, 10);
  for (let i = 0; i < 50; i += 1) {
    while (held[i] === undefined) await turn();
    held[i]();
  }
  const results = await asked;
  assert.deepEqual(
    results.slice(0, 50).map((result) => /** @type {any} */ (result).value),
    Array.from({ length: 50 }, (_, i) => `v${i + 1}`),
  );
  for (const result of results.slice(50)) {
    assert.equal(/** @type {any} */ (result).reason.code, 'HS_QUEUE_FULL');
  }
});

test('finds of large results do not pile up on the server', async (t) => {
  const { fake, client, index } = await open(t, { maxReplyBytes: 100_000 });
  /** @type {(() => void)[]} */
  const held = [];
  fake.setAnswer(({ line, socket }) => {
    held.push(() => socket.write(`${goodAnswer(line)}\n`));
    return undefined;
  });
  const asked = many(20, (key) => index.find('=', key, { limit: 1000 }));
  await sleep(10);
  assert.equal(held.length, 1, '64,000 bytes are expected of each');
  // Replies one by one, including those to pings.
  for (let i = 0; client.readPool.pending > 0; ) {
    if (held[i] !== undefined) held[i++]();
    await turn();
  }
  assert.ok((await asked).every((result) => result.status === 'fulfilled'));
  // Replies are known to be short, so all may be sent at once.
  held.length = 0;
  const again = many(20, (key) => index.find('=', key, { limit: 4294967295 }));
  while (held.length < 20) await turn();
  for (const release of held) release();
  assert.ok((await again).every((result) => result.status === 'fulfilled'));
});

test('an idle connection is kept alive by pings', async (t) => {
  const { fake, index } = await open(t, { keepAliveMs: 10 });
  fake.lines.length = 0;
  while (fake.lines.length < 3) await sleep(5);
  assert.deepEqual(new Set(fake.lines), new Set(['']));
  assert.equal(await index.value(1), 'v1');
  assert.equal(fake.connections, 1);
});

test('an index that could not be reopened reports the reason, and recovers', async (t) => {
  const { fake, client, index } = await open(t);
  let there = false;
  let opened = false;
  fake.setAnswer(({ line }) => {
    if (line.startsWith('P')) {
      opened = there;
      return there ? '0\t1' : '1\t1\topen_table';
    }
    return line === '' || opened ? goodAnswer(line) : '2\t1\tstmtnum';
  });
  await client.releaseTables(() => {});
  const error = await rejection(index.value(1));
  assert.equal(error.code, 'HS_NOT_OPEN');
  assert.equal(error.cause.code, 'HS_OPEN_TABLE');
  there = true;
  assert.equal(await index.value(1), 'v1');
});

test('a change to a table that cannot be opened for writing carries the reason', async (t) => {
  const { fake, index } = await open(t, {}, true);
  fake.setAnswer(({ line }) => (line.startsWith('P') ? '1\t1\topen_table' : '2\t1\tstmtnum'));
  const error = await rejection(index.insert([1]));
  assert.deepEqual([error.code, error.cause?.code], ['HS_NOT_OPEN', 'HS_OPEN_TABLE']);
});

test('releaseTables closes every connection for the work, and requests wait meanwhile', async (t) => {
  const { fake, client, index } = await open(t, { connections: 3 }, true);
  const before = index.value(1);
  /** @type {Promise<any> | undefined} */
  let during;
  const result = await client.releaseTables(async () => {
    assert.equal(await before, 'v1');
    while (fake.sockets.size > 0) await turn();
    during = index.value(2);
    await sleep(5);
    assert.equal(fake.sockets.size, 0);
    return 'altered';
  });
  assert.equal(result, 'altered');
  assert.equal(await during, 'v2');
  const failed = await rejection(
    client.releaseTables(() => {
      throw new Error('no such column');
    }),
  );
  assert.equal(failed.message, 'no such column');
  assert.equal(await index.value(3), 'v3');
});

test('requests go to the least loaded connection, and not to a lost one', async (t) => {
  const { fake, index } = await open(t, { connections: 4 });
  /** @type {Map<number, number>} */
  const counts = new Map();
  fake.setAnswer(({ line, connection }) => {
    counts.set(connection, (counts.get(connection) ?? 0) + 1);
    return goodAnswer(line);
  });
  await many(400, (key) => index.value(key));
  assert.deepEqual([...counts.values()], [100, 100, 100, 100]);
});

test('one write carries all requests of a tick, and a unix socket works as TCP does', async () => {
  const path = join(tmpdir(), `dragstrip-fake-${process.pid}.sock`);
  const fake = await startFake({ path });
  const client = await connect({ path, connections: 1 });
  const index = await client.openIndex(TABLE);
  // The first one after a single request is sent immediately; later ones are batched.
  await many(3, (key) => index.value(key));
  const { batches } = client.counters();
  await many(1000, (key) => index.value(key));
  const counters = client.counters();
  assert.equal(counters.batches - batches, 1);
  assert.equal(counters.pending, 0);
  assert.match(
    (await rejection(index.find('=', [1, 2]).then(() => assert.fail('no')))).message,
    /no/,
  );
  await client.close();
  await fake.close();
  rmSync(path, { force: true });
});

test('a server that closes the connection during the handshake is a failure to connect', async () => {
  const server = createServer((socket) => socket.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {any} */ (server.address());
  const error = await rejection(connect({ port }));
  assert.match(error.code, /HS_CONNECT/);
  server.close();
});

/** Timing of bytes: acknowledging pings, the size of reads, the order of connects. */

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { connect } from '../../index.js';
import { ReplyParser } from '../../reply-parser.js';
import { goodAnswer, startFake } from '../fake-server.js';

const TABLE = { database: 'd', table: 't', columns: ['a'] };

/**
 * A server that delays the replies to two batches and releases them on demand; closed after the
 * test.
 * @param {import('node:test').TestContext} t
 * @param {string} [path] unix socket instead of a port
 */
async function openTwoBatches(t, path) {
  const fake = await startFake({ path });
  const client = await connect({ ...(path ? { path } : { port: fake.port }), connections: 1 });
  t.after(async () => {
    await client.close();
    await fake.close();
  });
  const index = await client.openIndex(TABLE);
  await turn();
  /** @type {(() => void)[]} */
  const held = [];
  fake.lines.length = 0;
  fake.setAnswer((/** @type {any} */ { line, socket }) => {
    held.push(() => socket.write(`${goodAnswer(line)}\n`));
    return undefined;
  });
  const replies = [index.value(1), index.value(2)];
  await turn();
  replies.push(index.value(3));
  while (held.length < 3) await turn();
  return { fake, client, index, held, replies };
}

test('replies read while others are outstanding are acknowledged by one ping', async (t) => {
  const { fake, client, held, replies } = await openTwoBatches(t);
  held[0]();
  while (fake.lines.length < 4) await turn();
  assert.deepEqual(fake.lines.slice(3), ['']);
  assert.equal(client.counters().pending, 2, 'a ping is no request of the caller');
  for (const release of held.slice(1)) release();
  assert.deepEqual(await Promise.all(replies), ['v1', 'v2', 'v3']);
  fake.setAnswer(({ line }) => goodAnswer(line));
  const index = await client.openIndex(TABLE);
  assert.equal(await index.value(4), 'v4', 'replies to pings keep their place');
});

test('no ping is sent if a request carries the acknowledgement', async (t) => {
  const { fake, index, held, replies } = await openTwoBatches(t);
  const fourth = replies[0].then(() => index.value(4));
  held[0]();
  while (fake.lines.length < 4) await turn();
  assert.deepEqual(fake.lines.slice(3), ['0\t=\t1\t4']);
  fake.setAnswer(({ line }) => goodAnswer(line));
  for (const release of held.slice(1)) release();
  assert.equal(await fourth, 'v4');
});

test('a unix socket needs no acknowledgement', async (t) => {
  const path = join(tmpdir(), `dragstrip-flow-${process.pid}.sock`);
  const { fake, held, replies } = await openTwoBatches(t, path);
  held[0]();
  await replies[0];
  await sleep(5);
  assert.equal(fake.lines.includes(''), false);
  for (const release of held.slice(1)) release();
  await Promise.all(replies);
});

test('close does not wait for the reply to a ping', async (t) => {
  const { client, held, replies } = await openTwoBatches(t);
  held[0]();
  while (held.length < 4) await turn();
  held[1]();
  held[2]();
  await Promise.all(replies);
  await client.close();
  assert.equal(client.counters().pending, 0);
});

test('connections to a listener are opened one after another', async () => {
  let most = 0;
  let greeting = 0;
  const fake = await startFake({
    onConnection: () => {
      greeting += 1;
      most = Math.max(most, greeting);
    },
    answer: ({ line, socket }) => {
      setTimeout(() => {
        greeting -= 1;
        socket.write(`${goodAnswer(line)}\n`);
      }, 2);
      return undefined;
    },
  });
  const client = await connect({ port: fake.port, connections: 3 });
  assert.deepEqual([fake.connections, most], [3, 1]);
  await client.close();
  await fake.close();
});

test('short replies are read in small chunks, long ones in large ones', () => {
  const parser = new ReplyParser(() => {});
  assert.equal(parser.target.length, 65_536);
  assert.equal(parser.resizeTarget(21)?.length, 4096);
  assert.equal(parser.resizeTarget(21), undefined, 'as before');
  assert.equal(parser.resizeTarget(100)?.length, 16_384);
  assert.equal(parser.resizeTarget(1030)?.length, 65_536);
  parser.resizeTarget(21);
  const row = Buffer.alloc(20_000, 'x');
  for (let fed = 0; fed < row.length; fed += 4096) parser.push(row.subarray(fed, fed + 4096));
  assert.equal(parser.resizeTarget(21)?.length, 65_536, 'in the middle of a long line');
});

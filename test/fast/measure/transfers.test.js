/** System calls of this process, as the kernel counts them. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { TransferClock } from '../../../measure/transfers.js';
import { withFolder } from '../../helpers/folder.js';

const CALLS = 2000;
const folder = withFolder();

/** @param {() => void} work @returns {Record<string, number>} increments per call */
function perCall(work) {
  const clock = new TransferClock();
  const before = clock.read();
  for (let i = 0; i < CALLS; i += 1) work();
  const after = clock.read();
  clock.close();
  assert.equal(clock.read(), null);
  assert.ok(before !== null && after !== null);
  // A thread of V8 may wake the event loop meanwhile.
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [
      name,
      Math.round((10 * (value - before[/** @type {keyof typeof before} */ (name)])) / CALLS) / 10,
    ]),
  );
}

test('reads and writes are counted with their bytes, without the readings of the counters', () => {
  const file = openSync(path.join(folder, 'file'), 'w+');
  const bytes = Buffer.alloc(100);
  const none = { reads: 0, writes: 0, readBytes: 0, writtenBytes: 0 };
  try {
    assert.deepEqual(
      perCall(() => writeSync(file, bytes)),
      { ...none, writes: 1, writtenBytes: 100 },
    );
    assert.deepEqual(
      perCall(() => readSync(file, bytes, 0, 40, 0)),
      { ...none, reads: 1, readBytes: 40 },
    );
  } finally {
    closeSync(file);
  }
  const clock = new TransferClock();
  assert.deepEqual(
    perCall(() => {}),
    none,
  );
  const [first, second, third] = [clock.read(), clock.read(), clock.read()];
  clock.close();
  assert.deepEqual([second, third], [first, first]);
});

test('wake-ups of the event loop are excluded, beside requests and replies of a socket', async () => {
  const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect(/** @type {any} */ (server.address()).port, '127.0.0.1');
  await once(socket, 'connect');
  const { port1, port2 } = new MessageChannel();
  const clock = new TransferClock();
  const request = async () => {
    socket.write('12345');
    await once(socket, 'data');
  };
  await request();
  const before = clock.read();
  for (let i = 0; i < 100; i += 1) {
    await request();
    port1.postMessage(i); // one write and one read of 8 bytes
    await once(port2, 'message');
  }
  const after = clock.read();
  clock.close();
  port1.close();
  socket.destroy();
  server.close();
  assert.ok(before !== null && after !== null);
  // Both ends of the connection are here.
  assert.equal(after.writes - before.writes, 200);
  assert.equal(after.reads - before.reads, 200);
  assert.equal(after.readBytes - before.readBytes, 1000);
  assert.equal(after.writtenBytes - before.writtenBytes, 1000);
});

/**
 * A call of releaseTables that overlaps another one, or could wait forever: a scripted server.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { connect } from '../../index.js';
import { goodAnswer, rejection, startFake } from '../fake-server.js';

/** @param {any} fake */
async function open(fake) {
  const client = await connect({ port: fake.port, connections: 1, backoffMs: 1, backoffMaxMs: 5 });
  return { client, index: await client.openIndex({ database: 'd', table: 't', columns: ['a'] }) };
}

test('a releaseTables that begins while another one ends does not wait forever', async () => {
  const fake = await startFake();
  const { client, index } = await open(fake);
  /** @type {Promise<any>[]} */
  const others = [];
  // Its reply is the last one in flight; later requests wait for the first release.
  const second = index.value(1).then(() => client.releaseTables(() => 'second'));
  await turn();
  const first = client.releaseTables(() => 'first');
  others.push(index.value(2), index.value(3));
  const both = Promise.all([first, second]);
  const late = sleep(5000, 'late', { ref: false });
  assert.deepEqual(await Promise.race([both, late]), ['first', 'second']);
  assert.deepEqual(await Promise.all(others), ['v2', 'v3']);
  assert.equal(await index.value(4), 'v4');
  await client.close();
  await fake.close();
});

test('releaseTables has a time limit for its work and for earlier replies', async () => {
  const fake = await startFake();
  const { client, index } = await open(fake);
  const waits = new AbortController();
  const error = await rejection(
    client.releaseTables(() => sleep(60_000, null, { signal: waits.signal }), { timeoutMs: 20 }),
  );
  assert.equal(error.code, 'HS_RELEASE_TIMEOUT');
  assert.match(error.message, /after 20 ms the work has not ended.*lock_wait_timeout/);
  waits.abort();
  assert.equal(await index.value(1), 'v1', 'it is connected again');
  let begun = false;
  fake.setAnswer(({ line }) => (line.endsWith('\t7') ? undefined : goodAnswer(line)));
  const silent = rejection(index.value(7));
  await turn();
  const early = await rejection(
    client.releaseTables(
      () => {
        begun = true;
      },
      { timeoutMs: 20 },
    ),
  );
  assert.match(early.message, /got no reply; the work was not started/);
  assert.equal(begun, false);
  client.destroy();
  assert.equal((await silent).code, 'HS_CLOSED');
  await fake.close();
});

/** Marks of ownership: whose data may be taken over, and whose not. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatMark, namespaceHandle, parseMark } from '../../data/namespaces/mark.js';
import { readStartTicks } from '../../lib/process-identity.js';

const MARK = /** @type {Record<string, any>} */ (parseMark(formatMark({ what: 'test' })));
const DEAD = { pid: 2 ** 22 + 1, startTicks: 1 };
const LIVING = { pid: process.ppid, startTicks: readStartTicks(process.ppid) };

/** @param {object} maker @param {string | null} [notOurs] */
function handleOf(maker, notOurs = null) {
  const mark = { ...MARK, maker: { ...MARK['maker'], ...maker } };
  /** @type {string[]} */
  const done = [];
  const handle = namespaceHandle({
    where: 'here',
    server: 'redis',
    name: 'test',
    ownership: async () => ({ mark: notOurs === null ? mark : null, notOurs }),
    create: async (_mark, text) => done.push(`create ${parseMark(text)?.['what']}`),
    remove: async () => {
      done.push('remove');
      return 7;
    },
    close: () => {},
  });
  return { handle, done };
}

describe('marked data', () => {
  for (const [name, maker] of /** @type {const} */ ([
    ['of a process that lives', LIVING],
    ['of another machine or container, whose processes nobody knows here', { scope: 'other.1' }],
  ])) {
    test(`${name} are not taken over, and not removed`, async () => {
      const { handle, done } = handleOf(maker);
      await assert.rejects(handle.check(), { code: 'E_REFUSED', message: /another run is using/ });
      await assert.rejects(handle.claim(), { code: 'E_REFUSED' });
      assert.equal(await handle.release(), 0);
      assert.deepEqual(done, []);
    });
  }

  for (const [name, maker] of /** @type {const} */ ([
    ['of a process that has died', DEAD],
    ['of this process', {}],
    ['of a machine that numbers no processes', { scope: null }],
  ])) {
    test(`${name} are taken over, and removed`, async () => {
      const { handle, done } = handleOf(maker);
      await handle.check();
      await handle.claim();
      assert.equal(await handle.release(), 7);
      assert.deepEqual(done, ['create test', 'remove']);
    });
  }

  test('without Dragstrip’s mark are not changed', async () => {
    const { handle, done } = handleOf({}, 'key a');
    await assert.rejects(handle.claim(), { code: 'E_REFUSED', message: /key a exists/ });
    assert.equal(await handle.release(), 0);
    assert.deepEqual(done, []);
  });

  test('have a mark written by this version', () => {
    for (const text of [undefined, '', 'null', '{}', '[]', 'dragstrip']) {
      assert.equal(parseMark(text), null, String(text));
    }
    assert.equal(parseMark(JSON.stringify({ ...MARK, version: 2 })), null);
    assert.equal(parseMark(JSON.stringify({ ...MARK, owner: 'other' })), null);
    assert.deepEqual(parseMark(JSON.stringify(MARK)), MARK);
  });
});

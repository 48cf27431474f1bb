/** The bound on what a storage does outside of the loop. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeBounded, withTimeout } from '../../engine/guard.js';

const never = () => new Promise(() => {});

test('a driver that never closes, or throws while closing, does not end the run', async ({
  mock,
}) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  let closed = false;
  const closing = closeBounded(/** @type {any} */ ({ close: never })).then(() => {
    closed = true;
  });
  mock.timers.tick(4999);
  await Promise.resolve();
  assert.equal(closed, false);
  mock.timers.tick(1);
  await closing;
  const failing = () => {
    throw new Error('not open');
  };
  await closeBounded(/** @type {any} */ ({ close: failing }));
});

test('a step that takes too long is named; stopping the run ends the wait', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const late = withTimeout(never(), {}, 3000, 'opening');
  mock.timers.tick(3000);
  await assert.rejects(late, { code: 'E_TIMEOUT', message: 'opening took more than 3 s' });
  const stop = new AbortController();
  const stopped = withTimeout(never(), { signal: stop.signal }, 3000, 'opening');
  stop.abort();
  await assert.rejects(stopped, { code: 'E_ABORTED' });
});

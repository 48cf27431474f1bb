/** Server addresses in a result. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planRun } from '../../../engine/plan.js';
import { emptyResult } from '../../../engine/runner.js';

test('the addresses of a server are stored as specified, without the state folder', async () => {
  const plan = { ...planRun({}), home: '/somewhere/private/state' };
  const address = {
    main: { host: '127.0.0.1', port: 6379 },
    unix: { path: '/run/redis/redis.sock' },
  };
  const server = /** @type {any} */ ({ name: 'redis', version: '7', address, source: 'dragstrip' });
  const result = await emptyResult(plan, { storages: [], servers: [server] }, {});
  assert.deepEqual(result.servers[0].address, {
    main: '127.0.0.1:6379',
    unix: 'unix:/run/redis/redis.sock',
  });
  assert.equal('home' in result.options, false);
});

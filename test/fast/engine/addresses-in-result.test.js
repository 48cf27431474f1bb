/** What a result tells of where a server listens. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planRun } from '../../../engine/plan.js';
import { emptyResult } from '../../../engine/runner.js';

test('a socket in our own folder is named without the place of that folder, others whole', async () => {
  const plan = { ...planRun({}), home: '/somewhere/private/state' };
  const address = {
    main: { host: '127.0.0.1', port: 6379 },
    unix: { path: '/somewhere/private/state/servers/redis/redis.sock' },
    theirs: { path: '/run/redis/redis.sock' },
    beside: { path: '/somewhere/private/state-2/redis.sock' },
  };
  const server = /** @type {any} */ ({ name: 'redis', version: '7', address, source: 'dragstrip' });
  const result = await emptyResult(plan, { storages: [], servers: [server] }, {});
  assert.deepEqual(result.servers[0].address, {
    main: '127.0.0.1:6379',
    unix: 'unix:state/servers/redis/redis.sock',
    theirs: 'unix:/run/redis/redis.sock',
    beside: 'unix:/somewhere/private/state-2/redis.sock',
  });
  assert.equal('home' in result.options, false);
});

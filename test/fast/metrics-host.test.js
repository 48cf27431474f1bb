/** `--prometheus` replies to requests for its own host alone: a web page may name loopback otherwise. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import { Metrics, serveMetrics } from '../../cli/metrics-server.js';

/** @param {number} port @param {string} host value of the header */
async function statusOf(port, host) {
  const sent = request({ host: '127.0.0.1', port, path: '/metrics', headers: { host } }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

for (const where of ['127.0.0.1', '0.0.0.0', '::', 'localhost']) {
  test(`bound to ${where}: loopback, the connected address, and no other name`, async (t) => {
    const { url, close } = await serveMetrics({ host: where, port: 0 }, new Metrics());
    t.after(close);
    const port = Number(new URL(url).port);
    const own = ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]', '127.0.0.1:9464'];
    for (const host of own) assert.equal(await statusOf(port, host), 200, host);
    const others = ['rebound.example', `rebound.example:${port}`, '192.0.2.1', '127.0.0.1.example'];
    for (const host of others) assert.equal(await statusOf(port, host), 403, host);
  });
}

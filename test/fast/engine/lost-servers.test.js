/** When a server is probed, and which rounds make it lost without a probe. */

import assert from 'node:assert/strict';
import net from 'node:net';
import { describe, test } from 'node:test';
import { LOST, LostServers, looksLost } from '../../../engine/lost-servers.js';
import { emptySegment } from '../../../engine/segment.js';
import { toRound } from '../../../engine/to-round.js';
import { ERROR, OK } from '../../../lib/outcome.js';
import { encodeHandshake } from '../../../protocols/mysql/handshake.js';
import { packet } from '../../../protocols/mysql/packet.js';

const COUNTED = { replies: 5, due: 5, operations: 5, lookups: 5, errors: 0, lost: 0, restarts: 0 };

/** @param {{ counted?: Partial<typeof COUNTED>, errors?: number }} [of] */
function roundOf({ counted, errors = 0 } = {}) {
  const segment = emptySegment();
  segment.scheduled = 5 + errors;
  segment.outcomes[OK] = 5;
  segment.outcomes[ERROR] = errors;
  if (counted !== undefined) segment.counters['counted'] = { ...COUNTED, ...counted };
  return toRound(segment, { round: 0, position: 0 });
}

/** @returns {Promise<{ target: any, answers: () => number, end: () => void }>} a Redis that answers */
async function listen() {
  let answers = 0;
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => {
      answers += 1;
      socket.write('-ERR no\r\n');
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  server.unref(); // a test that fails does not end it
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  const address = { main: { host: '127.0.0.1', port } };
  const target = { name: 'redis', address, credentialVariables: null };
  return { target, answers: () => answers, end: () => server.close() };
}

describe('a lost server', () => {
  test('is probed only after failures, silence or a restart', async () => {
    for (const [expected, of] of /** @type {[boolean, Parameters<typeof roundOf>[0]][]} */ ([
      [false, {}],
      [false, { counted: {} }],
      [true, { errors: 1 }],
      [true, { counted: { lost: 1 } }],
      [true, { counted: { restarts: 1 } }],
    ])) {
      assert.equal(looksLost(await roundOf(of)), expected, JSON.stringify(of));
    }
  });

  test('includes a restarted one, although it replies; reported once', async () => {
    const { target, answers, end } = await listen();
    const result = /** @type {any} */ ({ warnings: [] });
    const lost = new LostServers(result);
    const round = await roundOf({ counted: { restarts: 1 } });
    for (let times = 0; times < 2; times += 1) {
      const failure = await lost.check([target], round);
      assert.equal(failure?.code, LOST);
      assert.match(String(failure?.message), /was restarted during the measurement/);
    }
    assert.equal(result.warnings.length, 1);
    assert.equal(lost.failureOf([null, target])?.code, LOST);
    assert.equal(answers(), 0);
    end();
  });

  test('is not reported if the second probe has a reply, as on a busy machine', async () => {
    let connections = 0;
    const server = net.createServer((socket) => {
      connections += 1;
      socket.on('error', () => {});
      if (connections === 1) socket.destroy();
      else socket.on('data', (chunk) => socket.write(replyTo(chunk.toString('latin1'))));
    });
    const failure = await checkAt(server, 'redis', 'main');
    assert.equal(failure, null);
    assert.ok(connections >= 2);
  });

  test('is not reported if its SQL server itself refuses, as with too many connections', async () => {
    const greeting = { version: '10.11.0-MariaDB', charset: 45, salt: Buffer.alloc(20, 'a') };
    const refusal = Buffer.from('\xff\x10\x04#08004Too many connections', 'latin1');
    const server = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.write(encodeHandshake(greeting));
      socket.on('data', () => socket.end(packet(2, refusal)));
    });
    assert.equal(await checkAt(server, 'mariadb', 'sql'), null);
  });

  /** @param {net.Server} server @param {string} name @param {string} endpoint */
  async function checkAt(server, name, endpoint) {
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
    try {
      const { port } = /** @type {net.AddressInfo} */ (server.address());
      const address = { [endpoint]: { host: '127.0.0.1', port } };
      const target = /** @type {any} */ ({ name, address, credentialVariables: null });
      const lost = new LostServers(/** @type {any} */ ({ warnings: [] }));
      return await lost.check([target], await roundOf({ errors: 1 }));
    } finally {
      server.close();
    }
  }

  /** @param {string} request @returns {string} replies of a Redis to each of its commands */
  function replyTo(request) {
    const commands = request.match(/^\*\d+\r$/gm) ?? ['PING'];
    const info = '# Server\r\nredis_version:7.0.15\r\nprocess_id:1\r\n';
    const bulk = `$${info.length}\r\n${info}\r\n`;
    return commands.map(() => (request.includes('INFO') ? bulk : '+PONG\r\n')).join('');
  }

  test('is reported only after two refusals', async () => {
    const { target, end } = await listen();
    end();
    const result = /** @type {any} */ ({ warnings: [] });
    const lost = new LostServers(result);
    const failure = await lost.check([null, target], await roundOf({ counted: { lost: 1 } }));
    assert.match(String(failure?.message), /the server was lost: .*connection refused/);
    assert.equal(lost.failureOf([null]), null);
  });
});

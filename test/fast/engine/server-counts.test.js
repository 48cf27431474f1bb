/** Counts of a server that answers INFO, ends, and is restarted. */

import assert from 'node:assert/strict';
import net from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { emptySegment } from '../../../engine/segment.js';
import { ServerCounts } from '../../../engine/server-counts.js';
import { ERROR, OK } from '../../../lib/outcome.js';

const BRIEF = Object.freeze({ operations: 5, durationNs: null, brief: true });
const LONG = Object.freeze({ operations: 5, durationNs: null });

/** A server that counts GETs by the numbers of the test. */
class Counting {
  calls = 0;
  errors = 0;
  runId = 'aa';
  /** Commands of another client with each reading. */
  others = 0;
  /** Connections with ids from 5 on; the list for each id. */
  nextId = 5;
  list = '';
  /** @type {Set<net.Socket>} */
  #sockets = new Set();
  #server = net.createServer((socket) => {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    const id = this.nextId++;
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      if (/CLIENT\r\n\$2\r\nID/.test(text)) socket.write(`:${id}\r\n`);
      if (/CLIENT\r\n\$4\r\nLIST/.test(text)) {
        socket.write(this.list === '' ? '-NOPERM\r\n' : `$${this.list.length}\r\n${this.list}\r\n`);
      }
      const asked = text.matchAll(/INFO\r\n\$\d+\r\n(\w+)/g);
      for (const [, section] of asked) {
        if (section === 'server') this.calls += this.others;
        const text = this.#info(section);
        socket.write(`$${text.length}\r\n${text}\r\n`);
      }
    });
  });

  /** @param {string} section */
  #info(section) {
    if (section === 'server') return `run_id:${this.runId}\r\n`;
    if (section !== 'commandstats') return '';
    const counts = `calls=${this.calls},usec=1,usec_per_call=1.00`;
    const failed = `rejected_calls=${this.errors},failed_calls=0`;
    return `# Commandstats\r\ncmdstat_get:${counts},${failed}\r\n`;
  }

  /** @param {number} [port] @returns {Promise<number>} its port */
  async listen(port = 0) {
    await new Promise((resolve) => this.#server.listen(port, '127.0.0.1', () => resolve(null)));
    return /** @type {net.AddressInfo} */ (this.#server.address()).port;
  }

  async end() {
    const ended = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await ended;
  }
}

/** @param {string} name @param {number} [loads] @returns {any} a contender of the server */
function seatOf(name, loads = 1) {
  const tasks = Array.from({ length: loads }, (_, i) => ({ id: `load ${i}`, workload: 'get' }));
  return { name, server: 'redis', spec: { opener: 'storage', storage: { round: 0 }, tasks } };
}

/** @param {{ ok?: number, errors?: number }} [outcomes] */
function segmentOf({ ok = 5, errors = 0 } = {}) {
  const segment = emptySegment();
  segment.outcomes[OK] = ok;
  segment.outcomes[ERROR] = errors;
  return segment;
}

describe('counts of a server', () => {
  /** @type {Counting} */
  let server;
  /** @type {ServerCounts} */
  let counts;
  let port = 0;
  const countsOf = () => {
    const address = { main: { host: '127.0.0.1', port } };
    const target = { name: 'redis', address, listed: undefined, credentialVariables: null };
    return new ServerCounts([/** @type {any} */ (target)]);
  };

  beforeEach(async () => {
    server = new Counting();
    port = await server.listen();
    counts = countsOf();
  });
  afterEach(async () => {
    counts.end(/** @type {any} */ ({ benchmarks: [], storages: [], warnings: [] }));
    await server.end();
  });

  /**
   * @param {any} seat
   * @param {{ load?: number, amount?: any, segment?: ReturnType<typeof segmentOf>,
   *   executed?: number, during?: () => unknown }} [how]
   */
  async function play(seat, how = {}) {
    const { load = 0, amount = LONG, segment = segmentOf(), executed = 5, during } = how;
    const counting = await counts.begin(seat, load, amount);
    server.calls += executed;
    await during?.();
    await counting?.(segment);
    return segment.counters['counted'];
  }

  /** @returns {any} the result */
  function end() {
    const result = {
      benchmarks: [{ storage: 'ioredis', rounds: [{ counted: {} }] }],
      storages: [{ name: 'ioredis', server: 'redis' }],
      warnings: [],
    };
    counts.end(/** @type {any} */ (result));
    return result;
  }

  test('are differences, with the errors', async () => {
    const seat = seatOf('ioredis');
    const counted = await play(seat, { executed: 7, during: () => (server.errors += 2) });
    assert.deepEqual(counted, {
      replies: 5,
      due: 5,
      operations: 7,
      lookups: 0,
      errors: 2,
      lost: 0,
      restarts: 0,
    });
    const { warnings, counting } = end();
    assert.deepEqual(warnings, []);
    assert.ok(counting.spentNs > 0 && counting.share > 0);
  });

  test('brief segments are counted once each, and more as time allows', async () => {
    const seat = seatOf('ioredis', 2);
    assert.ok(await play(seat, { amount: BRIEF }));
    assert.ok(await play(seat, { amount: BRIEF, load: 1 }));
    assert.equal(await play(seat, { amount: BRIEF }), undefined);
    assert.ok(await play(seatOf('redis'), { amount: BRIEF }));
  });

  test('a server that ends before a segment is lost', async () => {
    await play(seatOf('ioredis'));
    await server.end();
    const counted = await play(seatOf('redis'));
    assert.equal(counted?.lost, 1);
    assert.equal((await play(seatOf('redis')))?.lost, 1, 'and not tried again at once');
    assert.match(end().warnings[0].message, /ECONNREFUSED/);
    await server.listen(port);
  });

  test('a server that ends in a segment is lost, unless failures show it', async () => {
    const seat = seatOf('ioredis');
    const during = () => server.end();
    const reported = await play(seat, { during, segment: segmentOf({ ok: 2, errors: 3 }) });
    assert.equal(reported, undefined);
    await server.listen(port);
    assert.equal((await play(seat, { during }))?.lost, 1);
    await server.listen(port);
  });

  test('all segments since the last reading have the loss, of each load', async () => {
    const seat = seatOf('ioredis', 2);
    await play(seat, { amount: BRIEF });
    await play(seat, { amount: BRIEF, load: 1 });
    const segments = [segmentOf(), segmentOf(), segmentOf({ errors: 1 })];
    for (const [i, segment] of segments.entries()) {
      await play(seat, { amount: BRIEF, load: i % 2, segment });
    }
    await server.end();
    await counts.finish(seat);
    assert.deepEqual(
      segments.map(({ counters }) => counters['counted']?.lost),
      [1, 1, undefined],
    );
    await server.listen(port);
  });

  test('a new identity between two segments of one process is a restart, of two processes not', async () => {
    const seat = seatOf('ioredis');
    await play(seat);
    server.runId = 'bb';
    assert.equal((await play(seatOf('redis')))?.restarts, 0);
    assert.equal((await play(seat))?.restarts, 1);
    const other = seatOf('iovalkey');
    assert.equal((await play(other, { during: () => (server.runId = 'cc') }))?.restarts, 1);
  });

  test('a process without uncounted segments is not read again', async () => {
    const seat = seatOf('ioredis');
    const segment = segmentOf();
    await play(seat, { segment });
    await server.end();
    await counts.finish(seat);
    assert.equal(segment.counters['counted']?.lost, 0);
    await server.listen(port);
  });

  test('are absent for a server that could never be read', async () => {
    await server.end();
    assert.equal(await counts.begin(seatOf('ioredis'), 0, LONG), null);
    const { warnings, benchmarks } = end();
    assert.equal(warnings[0].code, 'W_NOT_COUNTED');
    assert.deepEqual(benchmarks[0].rounds, [{ counted: {} }]);
    await server.listen(port);
  });

  const lineOf = (/** @type {number} */ id, idle = 0, flags = 'N') =>
    `id=${id} addr=127.0.0.1:9 laddr=127.0.0.1:8 fd=8 name= age=99 idle=${idle} flags=${flags} db=0\n`;

  for (const [list, isOther] of /** @type {[string, boolean][]} */ ([
    [lineOf(4) + lineOf(5), true],
    [lineOf(4, 1) + lineOf(5), true],
    [lineOf(4, 2) + lineOf(5), false],
    [lineOf(2, 0, 'S') + lineOf(3, 0, 'M') + lineOf(5), false],
    [lineOf(5) + lineOf(6), false],
    ['', false],
  ])) {
    for (const [executed, errors] of [
      [7, 0],
      [5, 2],
    ]) {
      const what = `${executed} operations and ${errors} errors for 5 replies`;
      const who = isOther ? 'of an older connection' : 'of nobody else';
      test(`${what} are ${who}: ${JSON.stringify(list.replace(/addr.*?age/g, ''))}`, async () => {
        server.list = list;
        const seat = seatOf('ioredis');
        await Promise.all([counts.open(seat), counts.open(seatOf('redis'))]);
        assert.equal(server.nextId, 6, 'one connection');
        await play(seat, { executed, during: () => (server.errors += errors) });
        const { warnings } = end();
        assert.deepEqual(
          warnings.map((/** @type {any} */ { code }) => code),
          isOther ? ['W_NOT_COUNTED'] : [],
        );
      });
    }
  }

  test('an older connection belongs to another client only if the counter connected first', async () => {
    server.list = lineOf(4);
    await play(seatOf('ioredis'), { executed: 7 });
    assert.deepEqual(end().warnings, []);
  });

  test('a server that is absent when a contender opens is read later', async () => {
    await server.end();
    const seat = seatOf('ioredis');
    await counts.open(seat);
    await server.listen(port);
    assert.equal((await play(seat, { executed: 7 }))?.operations, 7);
    assert.deepEqual(end().warnings, []);
  });

  test('counts of other clients are removed, and a lost server is still detected', async () => {
    const seat = seatOf('ioredis');
    server.others = 1;
    const segment = segmentOf();
    assert.equal(await play(seat, { segment }), undefined);
    await play(seat, { segment });
    const { warnings, benchmarks } = end();
    assert.match(warnings[0].message, /other clients use it/);
    assert.deepEqual(benchmarks[0].rounds, [{}]);
    await server.end();
    await counts.finish(seat);
    assert.equal(segment.counters['counted']?.lost, 1);
    await server.listen(port);
  });
});

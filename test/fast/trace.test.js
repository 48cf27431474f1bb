/** Traces: lines of MONITOR, their stored fields, files that are no traces, arrivals, values. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bytesOf, MonitorConnection, parseMonitorLine, unquote } from '../../data/own/monitor.js';
import { Recording } from '../../data/own/recording.js';
import { parseTrace, sealTrace } from '../../lib/trace.js';
import { Arrivals, countArrivals } from '../../load/arrivals.js';
import { nothingCompared } from '../../workloads/get/verifier.js';
import { ReplayValues } from '../../workloads/replay/values.js';

const at = (/** @type {number} */ us) => `1700000000.${String(us).padStart(6, '0')} [0 1.2.3.4:5]`;

describe('MONITOR', () => {
  test('lines are split into words, whose bytes are counted without decoding', () => {
    const line = `${at(12)} "set" "a\\"b\\\\" "\\x00\\xff\\n x [0 lua]"`;
    const parsed = parseMonitorLine(line);
    assert.deepEqual(parsed?.words.map(unquote), ['set', 'a"b\\', '\x00\xff\n x [0 lua]']);
    assert.deepEqual(
      parsed?.words.map(bytesOf),
      parsed?.words.map((word) => unquote(word).length),
    );
    assert.equal(parsed?.atUs, 1_700_000_000_000_012);
    assert.equal(parsed?.isScript, false);
    assert.equal(parseMonitorLine('1.000001 [0 lua] "get" "k"')?.isScript, true);
    for (const other of ['', 'OK', '+OK', '1.5 [0 x] "get"', `${at(1)} get`]) {
      assert.equal(parseMonitorLine(other), null, other);
    }
  });

  test('words of 30 MB are split like short ones', () => {
    for (const part of ['a', '\\x01', '\\"']) {
      const word = part.repeat(30e6 / part.length);
      const line = `${at(1)} "set" "${word}"`;
      assert.deepEqual(
        parseMonitorLine(`${line} "k"`)?.words.map(({ length }) => length),
        [3, 30e6, 1],
      );
      assert.equal(parseMonitorLine(line.slice(0, -1))?.words.length, 1, 'it has no end');
    }
  });

  test('lines arrive in pieces of any size; one that is too long is counted', () => {
    const text = `+${at(1)} "get" "one"\r\n+${at(2)} "get" "two"\r\n`;
    for (let cut = 1; cut < text.length; cut += 1) {
      const lines = feed([text.slice(0, cut), text.slice(cut)]).lines;
      assert.deepEqual(lines, [`${at(1)} "get" "one"`, `${at(2)} "get" "two"`], String(cut));
    }
    const long = `+${'x'.repeat(33 * 2 ** 20)}`;
    const { lines, tooLong } = feed([long, `${long}\r\n`, `+${at(3)} "get" "three"\r\n`]);
    assert.deepEqual([lines, tooLong], [[`${at(3)} "get" "three"`], 1]);
  });

  /** @param {readonly string[]} pieces */
  function feed(pieces) {
    const connection = Object.create(MonitorConnection.prototype);
    /** @type {string[]} */
    const lines = [];
    const onLine = (/** @type {string} */ line) => void lines.push(line);
    Object.assign(connection, { onLine, waiting: new Map(), tooLong: 0, isSkipping: false });
    let rest = Buffer.alloc(0);
    for (const piece of pieces) {
      const bytes = Buffer.concat([rest, Buffer.from(piece, 'latin1')]);
      rest = bytes.subarray(connection.consume(bytes));
    }
    return { lines, tooLong: connection.tooLong };
  }

  test('a recording has times, numbers and sizes, no keys, values and secrets', async () => {
    const recording = new Recording();
    const secret = 'hunter2';
    const lines = [
      `${at(100)} "SET" "user:${secret}" "${secret}"`,
      `${at(250)} "get" "user:${secret}"`,
      `${at(300)} "AUTH" "admin" "${secret}"`,
      `${at(300)} "ACL" "SETUSER" "x" ">${secret}"`,
      `${at(310)} "${secret} is no command" "x"`,
      `${at(400)} "MGET" "b" "user:${secret}" "b"`,
      `${at(500)} "set" "b" "${secret}" "EX" "10"`,
      `${at(510)} "set" "b" "${secret}" "NX"`,
      `${at(520)} "setex" "b" "10" "\\xff\\xff"`,
      `1700000000.000530 [0 lua] "get" "b"`,
      `${at(90)} "get" "b"`,
    ];
    for (const line of lines) recording.take(line);
    const trace = await recording.finish('2026-01-01T00:00:00.000Z');
    assert.deepEqual(trace.operations, [
      [0, 1, 1, 7],
      [150, 0, 1],
      [300, 2, [2, 1, 2]],
      [400, 1, 2, 7],
      [420, 1, 2, 2],
      [430, 0, 2],
    ]);
    assert.deepEqual(trace.leftOut, {
      AUTH: 1,
      ACL: 1,
      others: 1,
      'SET NX': 1,
      'commands in scripts': 1,
    });
    assert.equal(trace.durationUs, 430);
    assert.doesNotMatch(JSON.stringify(trace), new RegExp(`${secret}|user|admin`));
  });

  test('it is limited: operations, keys, keys of an MGET, names of commands', async () => {
    const few = new Recording({ limit: 3 });
    for (let i = 0; i < 10; i += 1) few.take(`${at(i)} "get" "k${i}"`);
    await few.ended;
    assert.equal((await few.finish('')).operations.length, 3);
    const many = new Recording();
    for (let i = 0; i < 100_050; i += 1) many.take(`${at(1)} "get" "k${i}"`);
    for (let i = 0; i < 700; i += 1)
      many.take(`${at(1)} "command.${'x'.repeat(i % 20)}${letters(i)}"`);
    many.take(`${at(1)} "mget" ${Array(10_001).fill('"k1"').join(' ')}`);
    const { operations, leftOut } = await many.finish('');
    assert.equal(operations.length, 100_000);
    assert.equal(leftOut['GET'], 50);
    assert.ok(Object.keys(leftOut).length <= 501, String(Object.keys(leftOut).length));
    assert.ok(leftOut['others'] > 100);
  });

  const letters = (/** @type {number} */ i) =>
    String.fromCharCode(97 + (i % 26), 97 + (Math.floor(i / 26) % 26));
});

test('a file that is not a trace is refused in one line', () => {
  const trace = {
    schema: 'dragstrip.trace',
    version: 2,
    recordedAt: '',
    durationUs: 10,
    sizes: [5, -1],
    operations: [
      [0, 0, 1],
      [10, 2, [1, 2]],
    ],
    leftOut: {},
  };
  const textOf = (/** @type {object} */ change) =>
    JSON.stringify(sealTrace(/** @type {any} */ ({ ...trace, ...change })));
  assert.deepEqual(parseTrace(textOf({}), 't.json'), trace);
  /** @type {[object, RegExp][]} */
  const cases = [
    [{ schema: 'x' }, /another schema/],
    [{ version: 1 }, /version 1/],
    [{ sizes: [1.5] }, /sizes/],
    [{ sizes: [-2] }, /sizes/],
    [{ operations: [] }, /no operation to replay/],
    [{ operations: [[0, 3, 1]] }, /operation 1: kind/],
    [{ operations: [[0, 0, 3]] }, /operation 1: key/],
    [{ operations: [[0, 0, 0]] }, /operation 1: key/],
    [
      {
        operations: [
          [5, 0, 1],
          [4, 0, 1],
        ],
      },
      /operation 2: time/,
    ],
    [{ operations: [[0, 1, 1]] }, /operation 1: size/],
    [{ operations: [[0, 2, []]] }, /operation 1: keys/],
    [{ operations: [[0, 2, 1]] }, /operation 1: keys/],
    [{ operations: [null] }, /operation 1: no list/],
    [{ operations: [[11, 0, 1]] }, /a time after its end/],
  ];
  for (const [change, says] of cases) {
    const text = textOf(change);
    assert.throws(() => parseTrace(text, 't.json'), { code: 'E_USAGE', message: says }, text);
  }
  // Changed after it was written, as a trace may be by hand, and with its digest removed.
  const intact = textOf({});
  const faster = intact.replace('[10,2,[1,2]]', '[5,2,[1,2]]');
  assert.notEqual(faster, intact);
  const { digest: _, ...unsealed } = JSON.parse(intact);
  for (const text of [faster, JSON.stringify(unsealed)]) {
    const refusal = {
      code: 'E_USAGE',
      message: 't.json: it was changed after it was written: its digest differs',
    };
    assert.throws(() => parseTrace(text, 't.json'), refusal);
  }
  assert.throws(() => parseTrace('{', 't.json'), { code: 'E_USAGE', message: /no JSON/ });
});

test('arrivals of a trace are its times, split over processes', () => {
  const timesNs = Float64Array.from([0, 5, 5, 9, 20]);
  const options = { perSecond: 1, arrivals: /** @type {const} */ ('trace'), seed: 1, timesNs };
  const all = new Arrivals(options);
  const drawn = Array.from({ length: 6 }, () => all.next());
  assert.deepEqual(drawn, [0, 5, 5, 9, 20, Number.POSITIVE_INFINITY]);
  const second = new Arrivals({ ...options, share: { index: 1, count: 2 } });
  const own = Array.from({ length: 3 }, () => second.next());
  assert.deepEqual(own, [5, 9, Number.POSITIVE_INFINITY]);
  const bounds = { durationNs: Number.POSITIVE_INFINITY, operations: 5 };
  assert.equal(countArrivals(options, bounds), 5);
});

test('values of a replay belong to their key, in every size', () => {
  const values = new ReplayValues(7, 5000);
  const compared = nothingCompared();
  for (const size of [0, 1, 7, 8, 9, 100, 5000]) {
    const text = values.make(3, size);
    assert.equal(text.length, size);
    for (const whole of [true, false]) {
      assert.equal(values.verify(3, new Set([size]), text, whole, compared), 0, String(size));
      assert.equal(values.verify(3, new Set([size + 1]), text, whole, compared), 2);
      if (size > 4) assert.equal(values.verify(4, new Set([size]), text, whole, compared), 2);
    }
    if (size < 9) continue;
    const other = `${text.slice(0, -1)}${text.at(-1) === 'a' ? 'b' : 'a'}`;
    assert.equal(values.verify(3, new Set([size]), other, true, compared), 2);
  }
  assert.equal(values.verify(3, new Set([-1]), undefined, false, compared), 0);
  assert.equal(values.verify(3, new Set([1]), undefined, false, compared), 1);
});

/**
 * The list of redis-benchmark, test by test: the arguments of each command, the required keys
 * before, and the expected replies and keys afterwards. Names and order are those of
 * redis-benchmark. Pure except `fill` and `settle`, which receive a function to send commands.
 */

import { MISMATCH, MISS, OK } from '../../lib/outcome.js';
import { createRandom, drawBelow } from '../../lib/random.js';
import { keysAt, memberOf, overNames } from './keys.js';
import { elementsOf, valueText } from './values.js';

/** @typedef {import('./keys.js').Send} Send */

/**
 * @typedef {object} Shape
 * @property {number} ops
 * @property {number} keyspace
 * @property {number} dataSize characters of a value
 * @property {number} seed seed of the drawn keys
 * @property {number} [slot] slot of its keys, see keysAt
 *
 * @typedef {object} Prepared a test with its keys drawn
 * @property {(index: number) => readonly string[]} words words of operation `index`
 * @property {string} [inline] the same as one line of text
 * @property {(index: number, reply: any) => number} verify outcome code, of the whole reply
 * @property {(send: Send) => Promise<void>} fill creates the required keys, and removes others
 * @property {(send: Send, count: { issued: number, answered: number }) => Promise<string | null>}
 *   settle error in the keys afterwards; null: none
 * @property {readonly string[] | 'ping_inline'} baseline arguments for redis-benchmark
 *
 * @typedef {object} CommandTest
 * @property {string} title in the spelling of redis-benchmark
 * @property {string} command name in Redis's statistics, in lower case
 * @property {(shape: Shape) => Prepared} prepare
 * @property {boolean} [lasts] the required keys are unchanged afterwards
 */

const KEY_STREAM = 0x636d64;
const MSET_KEYS = 10;
/** Values of one RPUSH, MSET or MGET. */
const BATCH = 200;
const RANDOM = '__rand_int__';

/**
 * @param {Shape} shape
 * @param {number} [each] keys of an operation
 */
function drawNumbers({ ops, keyspace, seed }, each = 1) {
  const random = createRandom(seed, KEY_STREAM);
  return Uint32Array.from({ length: ops * each }, () => drawBelow(random, keyspace));
}

/**
 * @param {number} length
 * @param {(n: number) => string} make
 */
function listOf(length, make) {
  return Array.from({ length }, (_, n) => make(n));
}

/**
 * @param {Send} send
 * @param {readonly string[]} start start of each command
 * @param {readonly string[]} words
 */
async function inBatches(send, start, words) {
  for (let from = 0; from < words.length; from += BATCH) {
    await send([...start, ...words.slice(from, from + BATCH)]);
  }
}

const always = { fill: async () => {}, settle: async () => null };

/** @returns {Prepared} */
function ping() {
  return {
    words: () => ['PING'],
    verify: (_index, reply) => (reply === 'PONG' ? OK : MISMATCH),
    ...always,
    baseline: ['PING'],
  };
}

/** @returns {Prepared} */
function pingInline() {
  return { ...ping(), inline: 'PING', baseline: 'ping_inline' };
}

/**
 * SET and MSET: keys that are absent before and have their values afterwards.
 * @param {Shape} shape
 * @param {number} each
 * @returns {Prepared}
 */
function write(shape, each) {
  const { keyspace, dataSize, slot } = shape;
  const { keyOf } = keysAt(slot);
  const numbers = drawNumbers(shape, each);
  const pairs = listOf(keyspace, (n) => keyOf(n)).map((key, n) => [key, valueText(n, dataSize)]);
  const name = each === 1 ? 'SET' : 'MSET';
  const names = pairs.map(([key]) => key);
  const keyAndValue = /** @type {[string, string]} */ ([`${keyOf(0).slice(0, -12)}${RANDOM}`, '']);
  return {
    words(index) {
      const words = [name];
      for (let i = index * each; i < (index + 1) * each; i += 1) words.push(...pairs[numbers[i]]);
      return words;
    },
    verify: (_index, reply) => (reply === 'OK' ? OK : MISMATCH),
    async fill(send) {
      await overNames(send, 'DEL', names);
    },
    async settle(send, { issued }) {
      const drawn = new Set(numbers.subarray(0, issued * each));
      for (let from = 0; from < keyspace; from += BATCH) {
        const values = await send(['MGET', ...names.slice(from, from + BATCH)]);
        for (const [i, value] of values.entries()) {
          const expected = drawn.has(from + i) ? pairs[from + i][1] : null;
          if (value !== expected) return `${names[from + i]} holds ${value} instead of ${expected}`;
        }
      }
      return null;
    },
    baseline: [
      name,
      ...listOf(each, () => '').flatMap(() => [keyAndValue[0], 'x'.repeat(dataSize)]),
    ],
  };
}

/**
 * @param {Shape} shape
 * @returns {Prepared}
 */
function get(shape) {
  const { keyspace, dataSize, slot } = shape;
  const { keyOf } = keysAt(slot);
  const numbers = drawNumbers(shape);
  const values = listOf(keyspace, (n) => valueText(n, dataSize));
  const commands = values.map((_, n) => ['GET', keyOf(n)]);
  return {
    words: (index) => commands[numbers[index]],
    verify(index, reply) {
      if (reply === null) return MISS;
      return reply === values[numbers[index]] ? OK : MISMATCH;
    },
    fill: (send) =>
      inBatches(
        send,
        ['MSET'],
        values.flatMap((value, n) => [keyOf(n), value]),
      ),
    settle: async () => null,
    baseline: ['GET', `${keyOf(0).slice(0, -12)}${RANDOM}`],
  };
}

/**
 * Each number from 1 to the final count must be returned once.
 * @param {Shape} shape
 * @returns {Prepared}
 */
function incr(shape) {
  const { keyspace, slot } = shape;
  const { counterOf } = keysAt(slot);
  const numbers = drawNumbers(shape);
  const raised = new Uint32Array(keyspace + 1);
  for (const n of numbers) raised[n + 1] += 1;
  const starts = raised.slice();
  for (let n = 1; n <= keyspace; n += 1) starts[n] += starts[n - 1];
  const seen = new Uint8Array(numbers.length);
  const commands = listOf(keyspace, (n) => counterOf(n)).map((key) => ['INCR', key]);
  return {
    words: (index) => commands[numbers[index]],
    verify(index, reply) {
      const n = numbers[index];
      const at = starts[n] + reply - 1;
      if (!Number.isInteger(reply) || reply < 1 || at >= starts[n + 1] || seen[at] !== 0) {
        return MISMATCH;
      }
      seen[at] = 1;
      return OK;
    },
    async fill(send) {
      await overNames(
        send,
        'DEL',
        commands.map(([, key]) => key),
      );
    },
    async settle(send, { issued, answered }) {
      let sum = 0;
      for (const [, key] of commands) sum += Number((await send(['GET', key])) ?? 0);
      return sum >= answered && sum <= issued
        ? null
        : `the sum of the counters is ${sum} after ${issued} INCR`;
    },
    baseline: ['INCR', `${counterOf(0).slice(0, -12)}${RANDOM}`],
  };
}

/**
 * For an initially empty list each length from 1 on must be returned once.
 * @param {Shape} shape
 * @param {'list' | 'range'} which
 * @returns {Prepared}
 */
function push({ ops, dataSize, slot }, which) {
  const key = keysAt(slot)[which];
  const seen = new Uint8Array(ops + 1);
  const command = ['LPUSH', key, valueText(0, dataSize)];
  return {
    words: () => command,
    verify(_index, reply) {
      if (!Number.isInteger(reply) || reply < 1 || reply > ops || seen[reply] !== 0) {
        return MISMATCH;
      }
      seen[reply] = 1;
      return OK;
    },
    fill: (send) => send(['DEL', key]),
    settle: (send, count) => settleLength(send, ['LLEN', key], count, 0),
    baseline: command,
  };
}

/**
 * @param {Send} send
 * @param {readonly string[]} command
 * @param {{ issued: number, answered: number }} count
 * @param {number} before initial elements for operations that remove; others add elements
 */
async function settleLength(send, command, { issued, answered }, before) {
  const length = Number(await send(command));
  const done = before === 0 ? length : before - length;
  if (done >= answered && done <= issued) return null;
  return `${command.join(' ')} is ${length}, after ${issued} operations on ${before} elements`;
}

/**
 * A list with as many elements as operations; the replies must be the stored elements.
 * @param {Shape} shape
 * @returns {Prepared}
 */
function pop({ ops, dataSize, slot }) {
  const { list } = keysAt(slot);
  const values = elementsOf(ops, dataSize);
  /** @type {Map<unknown, number>} */
  const left = new Map();
  for (const value of values) left.set(value, (left.get(value) ?? 0) + 1);
  const command = ['LPOP', list];
  return {
    words: () => command,
    verify(_index, reply) {
      if (reply === null) return MISS;
      const n = left.get(reply) ?? 0;
      if (n === 0) return MISMATCH;
      left.set(reply, n - 1);
      return OK;
    },
    async fill(send) {
      await send(['DEL', list]);
      await inBatches(send, ['RPUSH', list], values);
    },
    settle: (send, count) => settleLength(send, ['LLEN', list], count, ops),
    baseline: command,
  };
}

/**
 * @param {Shape} shape
 * @returns {Prepared}
 */
function add(shape) {
  const numbers = drawNumbers(shape);
  const { set } = keysAt(shape.slot);
  const commands = listOf(shape.keyspace, (n) => memberOf(n)).map((one) => ['SADD', set, one]);
  let added = 0;
  return {
    words: (index) => commands[numbers[index]],
    verify(_index, reply) {
      if (reply !== 0 && reply !== 1) return MISMATCH;
      added += reply;
      return OK;
    },
    fill: (send) => send(['DEL', set]),
    async settle(send, { issued, answered }) {
      const members = Number(await send(['SCARD', set]));
      const drawn = new Set(numbers.subarray(0, issued)).size;
      if (answered < issued) return null; // it is unknown which of them were executed
      return members === drawn && members === added
        ? null
        : `${members} members, ${added} added, ${drawn} different ones sent`;
    },
    baseline: ['SADD', set, `element:${RANDOM}`],
  };
}

/**
 * As many members as operations; each must be returned once.
 * @param {Shape} shape
 * @returns {Prepared}
 */
function takeMember({ ops, slot }) {
  const { set } = keysAt(slot);
  const seen = new Uint8Array(ops);
  const command = ['SPOP', set];
  return {
    words: () => command,
    verify(_index, reply) {
      if (reply === null) return MISS;
      const n = /^element:\d{12}$/.test(reply) ? Number(reply.slice(8)) : ops;
      if (n >= ops || seen[n] !== 0) return MISMATCH;
      seen[n] = 1;
      return OK;
    },
    async fill(send) {
      await send(['DEL', set]);
      await inBatches(send, ['SADD', set], listOf(ops, memberOf));
    },
    settle: (send, count) => settleLength(send, ['SCARD', set], count, ops),
    baseline: command,
  };
}

/** Elements of the list to read. */
const RANGE_LENGTH = 600;

/**
 * @param {Shape} shape
 * @param {number} count elements to read
 * @returns {Prepared}
 */
function range({ dataSize, slot }, count) {
  const key = keysAt(slot).range;
  const values = listOf(RANGE_LENGTH, (n) => valueText(n, dataSize));
  const command = ['LRANGE', key, '0', String(count - 1)];
  return {
    words: () => command,
    verify(_index, reply) {
      if (!Array.isArray(reply)) return MISMATCH;
      if (reply.length === 0) return MISS;
      if (reply.length !== count) return MISMATCH;
      return reply.every((value, i) => value === values[i]) ? OK : MISMATCH;
    },
    async fill(send) {
      await send(['DEL', key]);
      await inBatches(send, ['RPUSH', key], values);
    },
    async settle(send) {
      const length = Number(await send(['LLEN', key]));
      return length === RANGE_LENGTH ? null : `the list has ${length} elements`;
    },
    baseline: command,
  };
}

/**
 * @param {string} name
 * @param {number} count elements to read
 * @returns {CommandTest}
 */
function lrange(name, count) {
  return {
    title: `${name} (first ${count} elements)`,
    command: 'lrange',
    lasts: true,
    prepare: (shape) => range(shape, count),
  };
}

/** @type {Readonly<Record<string, CommandTest>>} */
export const TESTS = Object.freeze({
  PING_INLINE: { title: 'PING_INLINE', command: 'ping', lasts: true, prepare: pingInline },
  PING_BULK: { title: 'PING_BULK', command: 'ping', lasts: true, prepare: ping },
  SET: { title: 'SET', command: 'set', prepare: (shape) => write(shape, 1) },
  GET: { title: 'GET', command: 'get', lasts: true, prepare: get },
  INCR: { title: 'INCR', command: 'incr', prepare: incr },
  LPUSH: { title: 'LPUSH', command: 'lpush', prepare: (shape) => push(shape, 'list') },
  LPOP: { title: 'LPOP', command: 'lpop', prepare: pop },
  SADD: { title: 'SADD', command: 'sadd', prepare: add },
  SPOP: { title: 'SPOP', command: 'spop', prepare: takeMember },
  LPUSH_LRANGE: {
    title: 'LPUSH (needed to benchmark LRANGE)',
    command: 'lpush',
    prepare: (shape) => push(shape, 'range'),
  },
  LRANGE_100: lrange('LRANGE_100', 100),
  LRANGE_300: lrange('LRANGE_300', 300),
  LRANGE_500: lrange('LRANGE_500', 450),
  LRANGE_600: lrange('LRANGE_600', 600),
  MSET: { title: 'MSET (10 keys)', command: 'mset', prepare: (shape) => write(shape, MSET_KEYS) },
});

/** Names of the tests, in the order of execution. */
export const TEST_NAMES = Object.freeze(Object.keys(TESTS));

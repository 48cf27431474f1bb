/**
 * The fixtures: replies of real servers, byte for byte, with the expected decoded values; and the
 * input rows of encoders. test/helpers/record-codec-fixtures.js recorded the bytes, which
 * codecs/archive.js reads; test/contract records them again and compares.
 */

import { usageError } from '../lib/errors.js';
import {
  BATCH_ROWS,
  largeValue,
  listItem,
  MIXED_TEXTS,
  REQUESTS,
  SET_COUNT,
  SET_ROWS,
  setRows,
  smallValue,
} from './rows.js';

/** @typedef {'handlersocket' | 'resp' | 'messagepack' | 'cql'} Protocol */
/** @typedef {'decode' | 'encode'} Direction */

/**
 * Input of a decoder in addition to the bytes: the column types, which the client that requests
 * rows knows.
 * @typedef {object} Shape
 * @property {readonly ('utf8' | 'number' | 'buffer')[]} types types of HandlerSocket's columns
 * @property {boolean} buffers RESP: strings as Buffers
 */

/**
 * @typedef {object} Fixture
 * @property {string} name
 * @property {Protocol} protocol
 * @property {Direction} direction
 * @property {string} summary
 * @property {number} rows rows decoded or encoded per pass
 * @property {number} replies replies or requests
 * @property {Shape} shape
 * @property {boolean} small small enough for the tests to split it at every position; measured only
 *   if named
 * @property {string} [bytesOf] name of the fixture whose bytes it shares
 * @property {boolean} [single] one chunk per reply, as with one request in flight
 * @property {() => any[]} expected expected output of a decoder: one value per reply
 */

const count = (/** @type {number} */ length) => Array.from({ length }, (_, i) => i + 1);
const TEXT = /** @type {const} */ (['utf8']);
const SET_TYPES = /** @type {const} */ (['number', 'number', 'number', 'buffer', 'buffer']);

/** Rows of a range, as 20 requests of 100 read them. */
const RANGES = Array.from({ length: 20 }, (_, i) => 1 + i * 40);
const rangeRows = (/** @type {number} */ from) =>
  Array.from({ length: 100 }, (_, i) => [from + i, smallValue(from + i)]);
const textual = (/** @type {any[][]} */ rows) => rows.map((row) => row.map(String));

/** Keys of MGET_100; one does not exist. */
export const MGET_MISSING = 37;
/** Values of a Tarantool tuple: every MessagePack type that JavaScript has too. */
export const MIXED_VALUES = Object.freeze([
  [0, 1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1],
  [-1, -32, -33, -128, -129, -32_768, -32_769, -(2 ** 31), -(2 ** 31) - 1, -(2 ** 53) + 1],
  [0.5, -0.25, 1e300, true, false, null],
  { a: 1, nested: { list: [1, [2, [3]]], none: null } },
  [Buffer.from([0, 1, 2, 254, 255]), Buffer.alloc(0)],
  Array.from({ length: 20 }, (_, i) => i),
  MIXED_TEXTS,
]);

/** Replies of Redis to the mixed requests; error replies as Error. */
const RESP_MIXED = () => [
  'OK',
  'PONG',
  0,
  -1,
  1_234_567_890_123,
  null,
  [],
  '',
  ...MIXED_TEXTS.filter((text) => text !== null),
  new Error("ERR unknown command 'NOPE', with args beginning with: "),
  new Error('WRONGTYPE Operation against a key holding the wrong kind of value'),
  [1, [2, ['x', null, []]], 'deep', [3]],
  ['é', null, '', 'tail'],
];

/** HandlerSocket's columns are text in its own form. */
const mixedRows = () => MIXED_TEXTS.map((text, i) => [String(i + 1), text, `row ${i + 1}`]);

const HANDLERSOCKET = [
  ...byKey('find', 'finds by key', (_id, value) => [[value]]),
  ranges('finds of 100 rows', (from) => textual(rangeRows(from)), { types: ['utf8', 'utf8'] }),
  sets('result sets: bigint, tinyint, double, blob, blob', setRows, { types: SET_TYPES }),
  mixed(
    'NULL, escapes, UTF-8, no row',
    2 * MIXED_TEXTS.length,
    () => [mixedRows(), [], mixedRows().reverse()],
    { types: ['utf8', 'utf8', 'utf8'] },
  ),
];

const RESP = [
  ...byKey('get', 'GETs', (_id, value) => value),
  decoded('mget-100', 'MGET of 100 keys, 1 KB, one missing', 100, 1, () => [
    count(100).map((id) => (id === MGET_MISSING ? null : largeValue(id))),
  ]),
  decoded('lrange-450', '20 LRANGEs of 450 items, 3 B', 9000, 20, () =>
    Array.from({ length: 20 }, () => Array.from({ length: 450 }, (_, i) => listItem(i))),
  ),
  sets('LRANGEs of the result sets, five items a row', (set) => setRows(set).flatMap(itemsOf), {
    buffers: true,
  }),
  mixed('statuses, integers, errors, null, nested arrays, UTF-8', RESP_MIXED().length, RESP_MIXED),
];

const MESSAGEPACK = [
  ...byKey('select', 'selects by key', (id, value) => [[id, value]]),
  ranges('selects of 100 tuples', rangeRows),
  sets('selects of the result sets: uint, int, double, bin, bin', setRows),
  mixed('every type that JavaScript has, UTF-8, no tuple', MIXED_VALUES.length, () => [
    ...MIXED_VALUES.map((value, i) => [[i + 1, value]]),
    [],
  ]),
];

/** Columns of a CQL row: id, then text, int, bigint, smallint, double, boolean, blob. */
export const CQL_MIXED = Object.freeze(
  MIXED_TEXTS.map((text, i) => [
    i + 1,
    text,
    i % 3 === 0 ? null : 7 - 2 ** (3 * i),
    i % 2 === 0 ? -(2n ** 63n) + BigInt(i) : 2n ** 62n + 1n,
    i - 5,
    0.125 * i - 1e300,
    i % 2 === 1,
    Buffer.from(i === 4 ? '' : `0\0\u00ff${i}`, 'latin1'),
  ]),
);
/** Error of a statement on a missing table. */
export const CQL_ERROR = 'table nothing does not exist';

const CQL = [
  ...byKey('select', 'SELECTs by key', (_id, value) => [[value]]),
  ranges('SELECTs of 100 rows', rangeRows),
  sets('SELECTs of the result sets: bigint, tinyint, double, blob, blob', (set) =>
    setRows(set).map(([big, ...others]) => [BigInt(big), ...others]),
  ),
  mixed('eight types, NULL, UTF-8, no row, no rows, an error', CQL_MIXED.length, () => [
    ...CQL_MIXED.map((row) => [row]),
    [],
    null,
    new Error(CQL_ERROR),
  ]),
];

/**
 * @param {string} name
 * @param {string} summary
 * @param {number} rows
 * @param {number} replies
 * @param {() => any[]} expected
 * @param {Partial<Shape>} [shape]
 * @returns {Omit<Fixture, 'protocol' | 'direction'>}
 */
function decoded(name, summary, rows, replies, expected, shape) {
  const whole = { types: TEXT, buffers: false, ...shape };
  return { name, summary, rows, replies, expected, shape: whole, small: false };
}

/**
 * @param {string} name
 * @param {string} requests
 * @param {(id: number, value: string) => any} replyOf
 * @returns {Omit<Fixture, 'protocol' | 'direction'>[]}
 */
function byKey(name, requests, replyOf) {
  return [
    decoded(`${name}-16`, `1000 ${requests}, 16 B`, 1000, 1000, () =>
      count(1000).map((id) => replyOf(id, smallValue(id))),
    ),
    decoded(`${name}-1k`, `100 ${requests}, 1 KB`, 100, 100, () =>
      count(100).map((id) => replyOf(id, largeValue(id))),
    ),
  ];
}

/** @param {string} requests @param {(from: number) => any} of @param {Partial<Shape>} [shape] */
function ranges(requests, of, shape) {
  return decoded('rows-100', `20 ${requests}: id, 16 B`, 2000, 20, () => RANGES.map(of), shape);
}

/** @param {string} requests @param {(set: number) => any} of @param {Partial<Shape>} [shape] */
function sets(requests, of, shape) {
  const all = () => Array.from({ length: SET_COUNT }, (_, i) => of(i));
  return decoded('sets', `${SET_COUNT} ${requests}`, SET_ROWS, SET_COUNT, all, shape);
}

/**
 * @param {string} summary
 * @param {number} rows
 * @param {() => any[]} all
 * @param {Partial<Shape>} [shape]
 */
function mixed(summary, rows, all, shape) {
  return { ...decoded('mixed', summary, rows, all().length, all, shape), small: true };
}

/**
 * @param {import('./rows.js').SetRow} row
 * @returns {Buffer[]} the elements of a list in Redis
 */
export function itemsOf(row) {
  return row.map((benchmark) =>
    Buffer.isBuffer(benchmark) ? benchmark : Buffer.from(String(benchmark)),
  );
}

/**
 * @param {Omit<Fixture, 'protocol' | 'direction'>} of
 * @returns {typeof of} the fixture with each reply in its own chunk
 */
function singly(of) {
  const summary = `${of.summary}, one chunk per reply`;
  return { ...of, name: `${of.name}-single`, summary, bytesOf: of.name, single: true };
}

/** Inputs of the encoders, per protocol. */
const ENCODED = [
  encoded('batch-4096', '4096 rows: string of 40 B, int, int, blob of 8 B', BATCH_ROWS),
  encoded('requests-1000', '1000 requests of one row by its key', REQUESTS),
];

/** @param {string} name @param {string} summary @param {number} rows */
function encoded(name, summary, rows) {
  return decoded(name, summary, rows, rows, () => []);
}

const DECODED = Object.freeze({
  handlersocket: HANDLERSOCKET,
  resp: RESP,
  messagepack: MESSAGEPACK,
  cql: CQL,
});

/** @type {readonly Fixture[]} */
export const FIXTURES = Object.freeze(
  Object.entries(DECODED).flatMap(([name, decodes]) => {
    const protocol = /** @type {Protocol} */ (name);
    const [first, ...rest] = decodes;
    const all = [first, singly(first), ...rest];
    // CQL has a single encoder, so there is nothing to compare.
    const encodes = protocol === 'cql' ? [] : ENCODED;
    return [
      ...all.map((one) => ({ ...one, protocol, direction: /** @type {const} */ ('decode') })),
      ...encodes.map((one) => ({ ...one, protocol, direction: /** @type {const} */ ('encode') })),
    ];
  }),
);

/**
 * @param {string} protocol
 * @param {string} direction
 * @param {string} name
 * @returns {Fixture}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: no such fixture
 */
export function getFixture(protocol, direction, name) {
  const found = FIXTURES.find(
    (one) => one.protocol === protocol && one.direction === direction && one.name === name,
  );
  if (found !== undefined) return found;
  throw usageError(`${protocol} has no fixture "${name}" to ${direction}`);
}

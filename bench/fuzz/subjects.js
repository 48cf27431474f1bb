/** The fuzzed parsers, with valid messages for each, from Dragstrip's encoders. */

import { inflateSync } from 'node:zlib';
import { parseEndpoint } from '../../lib/address.js';
import { parseResult } from '../../lib/parse-result.js';
import { decode, encode } from '../../measure/hdr.js';
import { readCounts } from '../../measure/hdr-counts.js';
import { Histogram } from '../../measure/histogram.js';
import { ReplyParser } from '../../packages/handlersocket/reply-parser.js';
import { decodeError, isSuccess, rowsDecoder } from '../../packages/handlersocket/reply-values.js';
import { encodeError, encodeRows } from '../../protocols/handlersocket/answer.js';
import { HandlerSocketFramer } from '../../protocols/handlersocket/framer.js';
import { IprotoFramer } from '../../protocols/iproto/framer.js';
import { encodeReply, encodeSelect, readPacket, replyOf } from '../../protocols/iproto/packet.js';
import { MysqlFramer } from '../../protocols/mysql/framer.js';
import { encodeHandshake, readHandshake } from '../../protocols/mysql/handshake.js';
import { packet, readPacket as readMysqlPacket } from '../../protocols/mysql/packet.js';
import {
  binaryRow,
  encodeColumn,
  encodeResultSet,
  OK_PAYLOAD,
  readResultSet,
} from '../../protocols/mysql/result-set.js';
import { encodeCommand, readCommand } from '../../protocols/resp/command.js';
import { RespFramer } from '../../protocols/resp/framer.js';
import { readReply } from '../../protocols/resp/reply.js';
import { parseProxyCommand } from '../../servers/proxy-command.js';
import { storedResults } from './stored-results.js';

/** @typedef {import('./run.js').Subject} Subject */

const VALUE = 'v'.repeat(40);
const text = (/** @type {string} */ bytes) => Buffer.from(bytes, 'latin1');

/**
 * Subject of a framer: counts of replies, errors and misses.
 * @param {() => import('../../protocols/framer.js').Framer} make
 * @returns {Subject['parse']}
 */
function counted(make) {
  return (bytes, cut) => {
    const framer = make();
    for (const part of cut === 0 ? [bytes] : [bytes.subarray(0, cut), bytes.subarray(cut)]) {
      framer.feed(part, part.length);
    }
    return [framer.replies, framer.errors, framer.misses];
  };
}

/**
 * Feeds complete messages to a reader, in sequence. If the bytes arrive in two parts, the reader
 * first gets the first part alone.
 * @param {(bytes: Buffer, at: number) => { end: number } | null} read
 * @returns {Subject['parse']}
 */
function repeated(read) {
  const all = (/** @type {Buffer} */ bytes) => {
    const values = [];
    for (let at = 0; at < bytes.length; ) {
      const one = read(bytes, at);
      if (one === null) break;
      if (!(one.end > at && one.end <= bytes.length)) throw new RangeError(`end ${one.end}`);
      values.push(one);
      at = one.end;
    }
    return values;
  };
  return (bytes, cut) => {
    if (cut > 0) all(bytes.subarray(0, cut));
    return all(bytes);
  };
}

/** @param {(text: string) => unknown} parse @returns {Subject['parse']} */
function ofText(parse) {
  return (bytes) => parse(bytes.toString('utf8'));
}

const column = encodeColumn({ database: 'd', table: 't', name: 'n', charset: 45, size: 40 });
const rows = encodeResultSet(column, binaryRow(VALUE));
const failure = packet(1, Buffer.of(0xff, 0x15, 0x04), text('#42000denied'));
const RESP = [
  text(`$40\r\n${VALUE}\r\n`),
  text('$-1\r\n'),
  text('_\r\n'),
  text('-ERR unknown\r\n'),
];
const LINES = [encodeRows(1, [[VALUE]]), encodeRows(2, [['a', null]]), encodeError(2, 'stmtnum')];
const PACKETS = [encodeReply([[7, VALUE]]), encodeReply([])];

/** @type {Subject['parse']} */
function handlerSocketReplies(bytes, cut) {
  /** @type {unknown[]} */
  const replies = [];
  const decodeRows = rowsDecoder(['utf8', 'bigint']);
  const parser = new ReplyParser((line, start, end, flags) => {
    if (isSuccess(line, start, end)) replies.push(line.slice(start, end));
    else replies.push(decodeError(line, start, end).code);
    if (isSuccess(line, start, end)) {
      try {
        replies.push(decodeRows(line, start, end, flags).length);
      } catch (error) {
        replies.push(error.code);
        if (!String(error.code).startsWith('HS_')) throw error;
      }
    }
  });
  for (const part of cut === 0 ? [bytes] : [bytes.subarray(0, cut), bytes.subarray(cut)]) {
    parser.push(part);
  }
  return replies;
}

const histogram = new Histogram();
for (let i = 1; i < 50; i += 1) histogram.record(i * 97);
const HISTOGRAM = Buffer.from(encode(histogram));

/** @type {Subject[]} */
export const SUBJECTS = [
  {
    name: 'resp reply',
    samples: [...RESP, text('*2\r\n$1\r\na\r\n:-12\r\n'), text('+OK\r\n'), text('*-1\r\n')],
    parse: repeated((bytes, at) => readReply(bytes, at, 4096)),
  },
  {
    name: 'resp command',
    samples: [encodeCommand(['GET', 'key']), encodeCommand(['MSET', 'a', 'ä', 'b', ''])],
    parse: repeated(readCommand),
  },
  { name: 'resp framer', samples: RESP, parse: counted(() => new RespFramer(VALUE.length)) },
  {
    name: 'iproto packet',
    samples: [...PACKETS, encodeSelect(3, { space: 512, key: [7] })],
    parse: repeated((bytes, at) => {
      const one = readPacket(bytes, at, 4096);
      if (one !== null) replyOf(one);
      return one === null ? null : { end: one.end };
    }),
  },
  { name: 'iproto framer', samples: PACKETS, parse: counted(() => new IprotoFramer(VALUE.length)) },
  {
    name: 'mysql packet',
    samples: [rows, failure, packet(1, OK_PAYLOAD)],
    parse: repeated((bytes, at) => {
      const one = readMysqlPacket(bytes, at, 4096);
      return one === null ? null : { end: one.end };
    }),
  },
  {
    name: 'mysql result set',
    samples: [rows, failure, packet(1, OK_PAYLOAD)],
    parse: repeated((bytes, at) => readResultSet(bytes, at, false, 4096)),
  },
  {
    name: 'mysql framer',
    samples: [rows, failure, packet(1, OK_PAYLOAD)],
    parse: counted(() => new MysqlFramer(VALUE.length, false)),
  },
  {
    name: 'mysql handshake',
    samples: [
      encodeHandshake({ version: '10.11.6', charset: 45, salt: Buffer.alloc(20, 7) }).subarray(4),
    ],
    parse: (bytes) => readHandshake(bytes).capabilities,
  },
  { name: 'handlersocket reply', samples: LINES, parse: handlerSocketReplies },
  {
    name: 'handlersocket framer',
    samples: LINES,
    parse: counted(() => new HandlerSocketFramer(VALUE.length)),
  },
  {
    name: 'histogram',
    samples: [HISTOGRAM],
    parse: ofText((base64) => decode(base64).count),
  },
  {
    // A change of the compressed bytes is usually detected by their checksum.
    name: 'histogram counts',
    samples: [inflateSync(Buffer.from(`${HISTOGRAM}`, 'base64').subarray(8))],
    parse: readCounts,
  },
  {
    name: 'stored result',
    samples: storedResults(`${HISTOGRAM}`, histogram.count),
    parse: ofText((json) => parseResult(json, 'x').id),
  },
  {
    name: 'address',
    samples: [text('127.0.0.1:6379'), text('[::1]:1'), text('unix:/a/b'), text('localhost:80')],
    parse: ofText((address) => parseEndpoint(address, '--redis')),
  },
  {
    name: 'proxy command',
    samples: [text('envoy --listen {port} "a b" --to {redis}'), text("'x y' {socket}")],
    parse: ofText(parseProxyCommand),
  },
];

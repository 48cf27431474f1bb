/**
 * Data of the user on a server of the Redis family, read and never written: a sample of its string
 * keys, and their values for comparison. The commands are SCAN, TYPE, STRLEN and GET, in bounded
 * numbers, but never KEYS, which blocks a server.
 */

import { isUtf8 } from 'node:buffer';
import { targetError } from '../../lib/errors.js';
import { commandText } from '../../protocols/resp/command.js';
import { RespConnection } from '../connections/redis.js';
import { RespCluster } from '../connections/redis-cluster.js';
import { drawSample } from './reservoir.js';

/** Keys per SCAN: about 0.3 ms of the server's time. */
const SCAN_COUNT = 1000;
/** A sample covers the first million keys, in the order of the server's hashes. */
const SCAN_CALLS_MAX = 1000;
/** Limits of value size, each and in total, because each process reads them twice. */
export const VALUE_BYTES_MAX = 256 * 1024;
const ALL_BYTES_MAX = 256 * 2 ** 20;
/** Commands per write, so that their replies stay small. */
const BATCH = 64;
/** A key that every driver can send: hiredis' Reader accepts no other characters. */
const PLAIN_KEY = /^[\x21-\x7e]{1,1024}$/;

/** @typedef {import('../../lib/types.js').ConnectionContext} ConnectionContext */
/** @typedef {RespConnection | RespCluster} Connection */

/**
 * @template {string | number} [K=string]
 * @typedef {object} Sample
 * @property {K[]} keys keys with a text value
 * @property {number} seen number of keys inspected
 * @property {Record<string, number>} leftOut number of drawn keys that were skipped, by reason
 * @property {{ min: number, median: number, max: number }} valueBytes
 */

/**
 * @param {ConnectionContext} context
 * @param {{ limit: number, seed: number, listed?: readonly string[], cluster?: boolean }} how
 *   limit: maximum keys; listed: keys to draw from, instead of a SCAN; cluster: on all of its
 *   primaries
 * @returns {Promise<Sample>} identical for the same keys, seed and server process
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET, E_ABORTED
 */
export async function sampleKeys(context, { cluster = false, ...how }) {
  const connection = await connect(context, cluster);
  try {
    return await drawSample(
      how,
      async (reservoir) => {
        const calls = Math.ceil(SCAN_CALLS_MAX / connection.nodes.length);
        for (const node of connection.nodes) await scanInto(node, reservoir, calls);
      },
      async (drawn, leave) =>
        keepTexts(connection, await keepStrings(connection, drawn, leave), leave),
    );
  } finally {
    connection.close();
  }
}

/**
 * @param {ConnectionContext} context
 * @param {boolean} cluster
 * @returns {Promise<Connection>}
 */
function connect(context, cluster) {
  return cluster ? RespCluster.connect(context) : RespConnection.connect(context);
}

/**
 * @param {RespConnection} connection
 * @param {import('./reservoir.js').Reservoir} reservoir
 * @param {number} callsMax
 */
async function scanInto(connection, reservoir, callsMax) {
  let ofStrings = ['TYPE', 'string'];
  let cursor = '0';
  for (let calls = 0; calls < callsMax; calls += 1) {
    const words = ['SCAN', cursor, 'COUNT', SCAN_COUNT, ...ofStrings];
    /** @type {[string, string[]] | null} */
    const page = await connection.command(...words).catch((error) => {
      // Before Redis 6, SCAN has no TYPE, so those keys are skipped when their type is read.
      if (ofStrings.length === 0 || !/syntax/i.test(error.message)) throw readFailure(error);
      return null;
    });
    if (page === null) {
      ofStrings = [];
      continue;
    }
    for (const key of page[1]) reservoir.add(key);
    [cursor] = page;
    if (cursor === '0') return;
  }
}

/** @param {any} error error of a connection whose hints are those of a loader */
function readFailure(error) {
  if (!/NOPERM/.test(error.message)) return error;
  return targetError(error.message, 'the user needs SCAN, TYPE, STRLEN and GET', error);
}

/**
 * @param {Connection} connection
 * @param {readonly string[]} drawn
 * @param {(why: string) => void} leave
 * @returns {Promise<string[]>}
 */
async function keepStrings(connection, drawn, leave) {
  const plain = drawn.filter((key) => PLAIN_KEY.test(key) || leave('characters'));
  const types = await ask(connection, 'TYPE', plain);
  return plain.filter((_key, i) => {
    if (types[i] === 'string') return true;
    leave(types[i] === 'none' ? 'gone' : 'type');
    return false;
  });
}

/**
 * Values that are not UTF-8 differ between drivers once they are strings.
 * @param {Connection} connection
 * @param {readonly string[]} strings
 * @param {(why: string) => void} leave
 * @returns {Promise<{ keys: string[], sizes: number[] }>}
 */
async function keepTexts(connection, strings, leave) {
  const lengths = await ask(connection, 'STRLEN', strings);
  /** @type {string[]} */
  const small = [];
  let all = 0;
  for (const [i, key] of strings.entries()) {
    const isSmall = lengths[i] <= VALUE_BYTES_MAX && all + lengths[i] <= ALL_BYTES_MAX;
    if (!isSmall) leave('size');
    else {
      small.push(key);
      all += lengths[i];
    }
  }
  /** @type {string[]} */
  const keys = [];
  /** @type {number[]} */
  const sizes = [];
  await readOver(connection, small, (i, text, bytes) => {
    if (text === undefined) leave(bytes === 0 ? 'gone' : 'binary');
    else {
      keys.push(small[i]);
      sizes.push(bytes);
    }
  });
  return { keys, sizes };
}

/**
 * @param {Connection} connection
 * @param {string} command command with one key
 * @param {readonly string[]} keys
 * @returns {Promise<any[]>} one reply per key, from the node that has it
 */
async function ask(connection, command, keys) {
  /** @type {any[]} */
  const replies = [];
  for (const node of connection.nodes) {
    const own = [...keys.keys()].filter((i) => connection.ownerOf(keys[i]) === node);
    for (let at = 0; at < own.length; at += BATCH) {
      const some = own.slice(at, at + BATCH);
      const text = some.map((i) => commandText([command, keys[i]])).join('');
      const bytes = Buffer.from(text, 'latin1');
      const part = await node.batch(bytes, some.length, true).catch((error) => {
        throw readFailure(error);
      });
      for (const [j, i] of some.entries()) replies[i] = part[j];
    }
  }
  return replies;
}

/**
 * @callback OnValue
 * @param {number} index index of the key
 * @param {string | undefined} text undefined: no such key, or not UTF-8
 * @param {number} bytes
 * @returns {void}
 */

/**
 * @param {Connection} connection
 * @param {readonly string[]} keys
 * @param {OnValue} onValue
 */
async function readOver(connection, keys, onValue) {
  for (let at = 0; at < keys.length; at += BATCH) {
    const replies = await ask(connection, 'GET', keys.slice(at, at + BATCH));
    for (const [i, reply] of replies.entries()) {
      const bytes = Buffer.from(reply ?? '', 'latin1');
      const text = reply === null || !isUtf8(bytes) ? undefined : bytes.toString('utf8');
      onValue(at + i, text, bytes.length);
    }
  }
}

/**
 * Reads values over a connection that is not a driver's, so that a driver is not compared with
 * itself.
 * @param {ConnectionContext} context
 * @param {readonly string[]} keys
 * @param {{ onValue: OnValue, cluster?: boolean }} how onValue: in the order of the keys
 * @returns {Promise<void>}
 */
export async function readValues(context, keys, { onValue, cluster = false }) {
  const connection = await connect(context, cluster);
  try {
    await readOver(connection, keys, onValue);
  } finally {
    connection.close();
  }
}

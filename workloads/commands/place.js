/**
 * Where the commands have their keys in Redis: names under one prefix, all known beforehand, so
 * that every one can be looked at before, and removed after. A key that says so makes them ours.
 */

import { formatEndpoint } from '../../lib/address.js';
import { refusedError } from '../../lib/errors.js';
import { MARKER as OWNER, PREFIX } from './namespace.js';

const OWNER_FORM = /^dragstrip commands, keyspace (\d{1,9})$/;
/** Keys in one DEL or EXISTS. */
const KEYS_PER_COMMAND = 500;

/** @typedef {(words: readonly string[]) => Promise<any>} Send */

/** @param {number} n @returns {string} in twelve digits, as redis-benchmark writes it */
function digits(n) {
  return String(n).padStart(12, '0');
}

export const keyOf = (/** @type {number} */ n) => `${PREFIX}key:${digits(n)}`;
export const counterOf = (/** @type {number} */ n) => `${PREFIX}counter:${digits(n)}`;
export const memberOf = (/** @type {number} */ n) => `element:${digits(n)}`;
export const LIST = `${PREFIX}list`;
export const RANGE = `${PREFIX}range`;
export const SET = `${PREFIX}set`;

/**
 * @param {number} keyspace
 * @returns {string[]} all names, without the owner's
 */
export function namesOf(keyspace) {
  const numbers = Array.from({ length: keyspace }, (_, n) => n);
  return [...numbers.map(keyOf), ...numbers.map(counterOf), LIST, RANGE, SET];
}

/**
 * @param {Send} send
 * @param {string} command DEL or EXISTS
 * @param {readonly string[]} names
 * @returns {Promise<number>} the sum of the replies
 */
export async function overNames(send, command, names) {
  let sum = 0;
  for (let from = 0; from < names.length; from += KEYS_PER_COMMAND) {
    sum += Number(await send([command, ...names.slice(from, from + KEYS_PER_COMMAND)]));
  }
  return sum;
}

/**
 * Takes the place: what a run that was killed has left is removed.
 * @param {Send} send
 * @param {number} keyspace
 * @param {string} where for the message
 * @throws {import('../../lib/errors.js').DragstripError} E_REFUSED: a key there is not ours
 */
export async function takePlace(send, keyspace, where) {
  const type = await send(['TYPE', OWNER]);
  const text = type === 'string' ? await send(['GET', OWNER]) : null;
  const left = OWNER_FORM.exec(text ?? '');
  if (type !== 'none' && left === null) throw foreign(OWNER, where);
  if (left !== null) await overNames(send, 'DEL', namesOf(Number(left[1])));
  const names = namesOf(keyspace);
  const taken = await overNames(send, 'EXISTS', names);
  if (taken > 0) throw foreign(`${taken} of the keys ${PREFIX}…`, where);
  await send(['SET', OWNER, `dragstrip commands, keyspace ${keyspace}`]);
}

/**
 * @param {Send} send
 * @param {number} keyspace
 */
export async function leavePlace(send, keyspace) {
  await overNames(send, 'DEL', namesOf(keyspace));
  await send(['DEL', OWNER]);
}

/**
 * @param {string} what
 * @param {string} where
 */
function foreign(what, where) {
  return refusedError(
    `Redis at ${where}: ${what} not made by Dragstrip: nothing was touched`,
    'remove or rename what is there, or name another server by --redis',
  );
}

/**
 * Around all rounds, in the parent.
 * @type {NonNullable<import('../../lib/types.js').WorkloadDefinition['stage']>}
 */
export async function stage({ servers, options }) {
  const { keyspace } = /** @type {any} */ (options)['commands'];
  const { Redis } = await import('ioredis');
  /** @type {{ client: import('ioredis').Redis, send: Send }[]} */
  const taken = [];
  const strike = async () => {
    for (const { client, send } of taken) {
      await leavePlace(send, keyspace).finally(() => client.disconnect());
    }
  };
  try {
    for (const { address, credentials } of servers) {
      const { main } = address;
      const client = new Redis({
        ...(main.path === undefined ? { host: main.host, port: main.port } : { path: main.path }),
        username: credentials.user,
        password: credentials.password,
        ...(main.db && { db: main.db }),
        protocol: 2,
        maxRetriesPerRequest: 1,
        // A Redis that came back is cleaned all the same.
        retryStrategy: (times) => (times > 3 ? null : 100 * times),
      });
      client.on('error', () => {}); // the same error rejects the command
      /** @type {Send} */
      const send = (words) => client.call(.../** @type {[string, ...string[]]} */ (words));
      try {
        await takePlace(send, keyspace, formatEndpoint(main));
      } catch (error) {
        client.disconnect();
        throw error;
      }
      taken.push({ client, send });
    }
  } catch (error) {
    await strike().catch(() => {}); // the first error is the one that tells
    throw error;
  }
  return strike;
}

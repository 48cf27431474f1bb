/**
 * tarantool-driver on a Tarantool server.
 *
 * Version 3.1.0 hangs in a closed loop from about 1,000 in flight (its issue 44): when a read ends
 * in the middle of a reply, the data handler writes a state of its parser (awaiting 2,
 * awaiting_length 16) into the state of the connection; requests issued meanwhile then go to the
 * offline queue, which only a reconnection empties. Therefore `state` is an accessor here that
 * ignores parser states; the parser itself uses `dataState`.
 */

import { defineStorage } from '../lib/define.js';
import { targetError } from '../lib/errors.js';
import {
  closeSocket,
  connectOptions,
  connectWithCause,
  corked,
  createCork,
  openOrThrow,
  targetOf,
  watchLoss,
  withCode,
} from './connection.js';
import { openSeveral } from './inserts/connections.js';
import { TARANTOOL_INSERTS, tarantoolInserter } from './inserts/tarantool.js';
import { openFiberLocks, TARANTOOL_LOCKS } from './locks/fiber.js';

const VSPACE = 281; // box.schema.VSPACE_ID, the spaces visible to this user
const NAME_INDEX = 2; // its index by name
const PARSER_STATES = new Set([2, 16]);

// A lost server must be visible, so there is no reconnection. The driver's connect timeout is off.
const OPTIONS = { retryStrategy: null, timeout: 5000, state: 'parser states kept out (issue 44)' };

/** @param {any[][]} reply tuples of [id, str] */
const value = (reply) => (reply.length === 0 ? undefined : reply[0][1]);
/** @param {any[][]} reply the updated tuple */
const stored = (reply) => reply.length === 1;
/** @param {[(string | null)[]]} reply result of the function: one list */
const values = (reply) => reply[0];

export const storage = defineStorage({
  name: 'tarantool',
  summary: 'tarantool-driver',
  package: 'tarantool-driver',
  server: 'tarantool',
  rows: ['get', 'mget', 'set', 'add', 'del', 'scan'],
  inserts: TARANTOOL_INSERTS,
  locks: TARANTOOL_LOCKS,
  profiles: {
    default: { summary: 'select by primary key, one write a request', options: OPTIONS },
    tuned: {
      summary: 'its socket corked for a tick: one write for all requests of the tick',
      options: { ...OPTIONS, socket: 'corked per tick from outside' },
    },
  },
  open: { rows: openRows, insert: openInserter, lock: openLocks },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows(context) {
  const { profile, names } = context;
  const { socket } = /** @type {any} */ (profile.options);
  const { connection, space } = await openConnection(context);
  const cork = socket === undefined ? null : createCork(connection.socket);
  return watchLoss(connection.socket, {
    get: corked(cork, (id) => connection.select(space, 0, 1, 0, 'eq', [id])),
    value,
    // There is no select of several keys, so a function of box.lua reads them in one call.
    mget: corked(cork, (ids) => connection.call('dragstrip_mget', names.space, ids)),
    values,
    set: corked(cork, (id, text) => connection.replace(space, [id, text])),
    stored,
    add: corked(cork, (id, text) => connection.insert(space, [id, text])),
    added: stored,
    del: corked(cork, (id) => connection.delete(space, 0, [id])),
    deleted: stored,
    // Its index is a tree.
    scan: corked(cork, (first, count) => connection.select(space, 0, count, 0, 'ge', [first])),
    close: () => closeConnection(connection),
  });
}

/**
 * @param {Pick<import('../lib/types.js').OpenContext, 'address' | 'credentials' | 'profile' |
 *   'names'>} context names: contains the name of the space
 * @returns {Promise<{ connection: any, space: number }>} space: its id
 */
async function openConnection(context) {
  const { credentials, profile, names } = context;
  const target = targetOf(context, 'main', 'tarantool');
  // @ts-expect-error it ships no types
  const { default: Tarantool } = await import('tarantool-driver');
  const { state: _state, socket: _socket, ...options } = /** @type {any} */ (profile.options);
  const connection = new Tarantool({
    ...options,
    ...connectOptions(target.endpoint),
    username: credentials.user ?? null,
    password: credentials.password ?? null,
    lazyConnect: true,
  });
  keepParserStatesOut(connection);
  guardParser(connection);
  codeLostRequests(connection);
  const id = await openOrThrow(target, connect(connection, names.space), () => {
    connection.disconnect();
    connection.socket?.destroy();
  });
  return { connection, space: id };
}

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['insert']>} */
async function openInserter(context) {
  const { all, close } = await openSeveral(
    context.connections,
    () => openConnection(context),
    ({ connection }) => closeConnection(connection),
  );
  return { ...tarantoolInserter(all, context), close };
}

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['lock']>} */
async function openLocks(context) {
  const { connection } = await openConnection(context);
  const close = () => closeConnection(connection);
  try {
    return { ...(await openFiberLocks(connection)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * @param {any} connection
 * @param {string} space
 * @returns {Promise<number>} the id of the space, looked up once, because names cost a look-up per
 *   request
 */
async function connect(connection, space) {
  await connectWithCause(connection);
  // The driver treats the first received bytes as a greeting; Tarantool's has a salt of 44 base64
  // characters (32 bytes).
  if (!/^[A-Za-z0-9+/]{43}=$/.test(connection.salt)) throw new Error('not a Tarantool');
  const spaces = await connection.select(VSPACE, NAME_INDEX, 1, 0, 'eq', [space]);
  if (spaces.length > 0) return spaces[0][0];
  throw targetError(
    `tarantool: space ${space} is missing, or its user may not read it`,
    'fill it with "npx dragstrip seed tarantool"',
  );
}

/** @param {any} connection */
function keepParserStatesOut(connection) {
  let state = connection.state;
  Object.defineProperty(connection, 'state', {
    get: () => state,
    set(next) {
      if (!PARSER_STATES.has(next)) state = next;
    },
  });
}

/**
 * Invalid replies make the driver's parser throw uncaught; they become a socket error, which
 * rejects requests in flight.
 * @param {any} connection
 */
function guardParser(connection) {
  const { connector } = connection;
  const { connect } = connector;
  connector.connect = (/** @type {(error: any, socket?: any) => void} */ callback) =>
    connect.call(connector, (/** @type {any} */ error, /** @type {any} */ socket) => {
      callback(error, socket); // which attaches the listener
      if (!socket) return;
      const [parse] = socket.listeners('data');
      socket.removeListener('data', parse);
      socket.on('data', (/** @type {Buffer} */ chunk) => {
        try {
          parse(chunk);
        } catch (cause) {
          socket.destroy(withCode(cause, 'EPROTO'));
        }
      });
    });
}

/**
 * Adds a code to the TarantoolError that rejects outstanding requests at a loss.
 * @param {any} connection
 */
function codeLostRequests(connection) {
  const flushQueue = connection.flushQueue;
  connection.flushQueue = (/** @type {Error} */ error) =>
    flushQueue.call(connection, withCode(error));
}

/** @param {any} connection */
async function closeConnection(connection) {
  const { socket } = connection;
  await closeSocket(socket, () => {
    connection.disconnect(); // so that the driver does not treat it as a loss
    socket.destroy(); // end() of the driver waits for a possibly lost server
  });
}

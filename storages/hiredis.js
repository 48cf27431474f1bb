/**
 * hiredis-node 0.5.0, the C parser of Redis's own client library: as it was shipped (its own
 * connection), and its Reader alone on a socket that writes once a tick. As published it does not
 * compile on Node 12 or later; this module loads the build of hiredis-build.js.
 */

import { createRequire } from 'node:module';
import net from 'node:net';
import { defineStorage } from '../lib/define.js';
import { builtFolder, missingBuild } from '../lib/hiredis-build.js';
import { findHome } from '../lib/home.js';
import { called } from '../lib/promised.js';
import {
  arrayHead,
  authWords,
  bulk,
  commandText,
  inlineCommand,
} from '../protocols/resp/command.js';
import {
  closedError,
  closeSocket,
  connectOptions,
  openOrThrow,
  targetOf,
  withCode,
  withLogin,
} from './connection.js';
import { PendingQueue } from './pending-queue.js';
import { changesByWords, REDIS_REPLIES } from './redis-replies.js';

/** @typedef {import('./pending-queue.js').Done} Done */
/** @typedef {import('../lib/types.js').Endpoint} Endpoint */

/** A longer batch is sent before the end of the tick. */
const BATCH_CHARS_MAX = 65_536;
/** Bytes before the first key. */
const GET_HEAD = arrayHead(2) + bulk('GET');
const SET_HEAD = arrayHead(3) + bulk('SET');
const MGET = bulk('MGET');
const BATCH = 'one string write a tick, or for 64 KiB';

export const storage = defineStorage({
  name: 'hiredis',
  summary: "hiredis-node, the C parser of Redis's own client",
  package: 'hiredis',
  server: 'redis',
  rows: ['get', 'mget', 'set', 'add', 'del', 'hash', 'expire'],
  commands: ['words', 'inline'],
  profiles: {
    default: { summary: 'its own connection, one write a request', options: {}, calls: 'callback' },
    reader: {
      summary: 'its Reader on a plain socket: one write per tick',
      options: { connection: 'Dragstrip’s, on node:net', noDelay: true, write: BATCH },
      calls: 'callback',
    },
  },
  unavailable: async () => missingBuild(findHome()),
  open: { rows: openRows, command: openCommands },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows(context) {
  const client = await connect(context, 'main');
  const { redisPrefix: prefix } = context.names;
  return {
    ...REDIS_REPLIES,
    get: /** @type {any} */ (client.get),
    mget: /** @type {any} */ (client.mget),
    set: /** @type {any} */ (client.set),
    ...changesByWords(client.command, prefix),
    close: () => closeSocket(client.socket),
  };
}

/**
 * @param {import('../lib/types.js').OpenContext} context
 * @param {string} name name of the endpoint
 * @returns {Promise<Client>} connected and logged in
 */
async function connect(context, name) {
  const { profile, names } = context;
  const target = targetOf(context, name, 'hiredis');
  const { endpoint, credentials } = target;
  const hiredis = createRequire(`${builtFolder(findHome())}/`)('hiredis');
  const open = profile.name === 'reader' ? openReader : openShipped;
  const client = open(hiredis, endpoint, names.redisPrefix);
  await openOrThrow(target, greet(client, credentials, endpoint.db), () => client.socket.destroy());
  return client;
}

/**
 * Arbitrary commands over separate connections.
 * @param {import('../lib/types.js').OpenContext} context
 * @returns {Promise<import('../lib/types.js').CommandHandle>}
 */
async function openCommands(context) {
  return {
    async connect(name, login) {
      const client = await connect(withLogin(context, login), name);
      return {
        send: (words) => called((done) => client.command([...words], done)),
        inline: (line) => called((done) => client.line(line, done)),
        close: () => closeSocket(client.socket),
      };
    },
    async close() {}, // closed by the connecting side
  };
}

/**
 * @typedef {object} Client
 * @property {net.Socket} socket
 * @property {(id: number, done: Done) => void} get
 * @property {(ids: readonly number[], done: Done) => void} mget
 * @property {(id: number, text: string, done: Done) => void} set text: ASCII
 * @property {(words: string[], done: Done) => void} command command of any name
 * @property {(text: string, done: Done) => void} line an inline command
 */

/**
 * The connection of the package: `write(...words)` encodes, "reply" events are in order.
 * @param {any} hiredis
 * @param {Endpoint} endpoint
 * @param {string} prefix prefix of keys
 * @returns {Client}
 */
function openShipped(hiredis, endpoint, prefix) {
  const socket =
    endpoint.path === undefined
      ? hiredis.createConnection(endpoint.port, endpoint.host)
      : hiredis.createConnection(endpoint.path);
  const pending = new PendingQueue();
  failWithSocket(socket, pending);
  socket.on('reply', (/** @type {any} */ reply) => settle(pending, socket, reply));
  /** @type {Client['command']} */
  const command = (words, done) => {
    if (pending.lost !== null) return refuse(pending, done);
    pending.push(done);
    socket.write(...words);
  };
  return {
    socket,
    get: (id, done) => command(['GET', prefix + id], done),
    mget: (ids, done) => command(['MGET', ...ids.map((id) => prefix + id)], done),
    set: (id, text, done) => command(['SET', prefix + id, text], done),
    command,
    line(text, done) {
      if (pending.lost !== null) return refuse(pending, done);
      pending.push(done);
      net.Socket.prototype.write.call(socket, inlineCommand(text)); // its own write encodes words
    },
  };
}

/**
 * @param {any} hiredis
 * @param {Endpoint} endpoint
 * @param {string} prefix prefix of keys, ASCII
 * @returns {Client}
 */
function openReader(hiredis, endpoint, prefix) {
  const socket = net.connect({ ...connectOptions(endpoint), noDelay: true });
  const reader = new hiredis.Reader();
  const pending = new PendingQueue();
  failWithSocket(socket, pending);
  socket.on('data', (chunk) => {
    reader.feed(chunk);
    try {
      for (let reply = reader.get(); reply !== undefined; reply = reader.get()) {
        settle(pending, socket, reply);
      }
    } catch (error) {
      socket.destroy(withCode(error, 'EPROTO'));
    }
  });
  let batch = '';
  const flush = () => {
    if (batch === '') return;
    socket.write(batch, 'latin1');
    batch = '';
  };
  const send = (/** @type {string} */ text, /** @type {Done} */ done) => {
    if (pending.lost !== null) return refuse(pending, done);
    pending.push(done);
    if (batch === '') process.nextTick(flush);
    batch += text;
    if (batch.length > BATCH_CHARS_MAX) flush();
  };
  return {
    socket,
    // ASCII: as many bytes as characters.
    get: (id, done) => send(GET_HEAD + bulk(prefix + id), done),
    mget(ids, done) {
      let text = arrayHead(ids.length + 1) + MGET;
      for (const id of ids) text += bulk(prefix + id);
      send(text, done);
    },
    set: (id, text, done) => send(SET_HEAD + bulk(prefix + id) + bulk(text), done),
    line: (text, done) => send(inlineCommand(text), done),
    command: (words, done) => send(commandText(words), done), // flush writes latin1
  };
}

/**
 * An unexpected reply means that requests and replies are out of step, so later ones are not
 * reliable.
 * @param {PendingQueue} pending
 * @param {net.Socket} socket
 * @param {any} reply error replies are Error objects
 */
function settle(pending, socket, reply) {
  const done = pending.take();
  if (done === undefined) {
    socket.destroy(withCode(new Error('unexpected reply: no request is outstanding'), 'EPROTO'));
  } else if (reply instanceof Error) {
    done(withCode(reply, reply.message.split(' ')[0]));
  } else {
    done(null, reply);
  }
}

/**
 * @param {net.Socket} socket
 * @param {PendingQueue} pending
 */
function failWithSocket(socket, pending) {
  /** @type {Error | undefined} */
  let cause;
  socket.on('error', (error) => {
    cause = withCode(error);
  });
  socket.on('close', () => pending.fail(cause ?? closedError()));
}

/**
 * Asynchronous, because a caller that retries in its callback would recurse forever.
 * @param {PendingQueue} pending
 * @param {Done} done
 */
function refuse(pending, done) {
  process.nextTick(done, pending.lost);
}

/**
 * @param {Client} client
 * @param {import('../lib/types.js').Credentials} credentials
 * @param {number} [db]
 * @returns {Promise<void>}
 */
async function greet(client, credentials, db = 0) {
  const command = (/** @type {string[]} */ words) => called((done) => client.command(words, done));
  const login = authWords(credentials);
  if (login !== null) await command(login);
  if (db > 0) await command(['SELECT', `${db}`]);
  // A command that the server counts as an operation, unlike those.
  if (login === null && db === 0) await command(['PING']);
}

/**
 * node-handlersocket's own parser and encoder, without a socket: its connection is made on one that
 * is none, and fed. Its queue of callbacks, whose shift() is quadratic, is replaced: it is no part
 * of the codec.
 */

import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import net from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { ofTokens } from './encoders.js';

/** @type {(name: string) => any} they have no types, or none of what is inside */
const requireModule = createRequire(import.meta.url);

/** Decodes UTF-8 as a socket with setEncoding does, and is never connected. */
class Unconnected extends EventEmitter {
  readyState = 'open';
  decoder = new StringDecoder('utf8');

  setEncoding() {}

  connect() {}

  write() {}

  /** @param {Buffer} chunk */
  feed(chunk) {
    this.emit('data', this.decoder.write(chunk));
  }
}

/** @returns {import('../definition.js').Codec} */
export function loadNodeHandlersocket() {
  const driver = requireModule('node-handlersocket');
  return {
    createDecoder(_shape, emit) {
      const connection = connectNowhere(driver);
      const callback = (/** @type {any} */ _error, /** @type {string} */ response) =>
        driver._handleResponse(
          response,
          (/** @type {any} */ error, /** @type {any[]} */ fields) => {
            if (error) throw error;
            emit(rowsOf(fields));
          },
        );
      connection._callbacks = { shift: () => callback };
      const { _socket: socket } = connection;
      return { write: (chunk) => socket.feed(chunk) };
    },
    encoders: ofTokens(
      (tokens, target, at) => at + target.write(driver._encodeRequest(tokens), at, 'utf8'),
    ),
  };
}

/**
 * Its constructor makes a net.Socket: for that moment it is another class.
 * @param {any} driver
 */
function connectNowhere(driver) {
  const { Socket } = net;
  const mutable = /** @type {any} */ (requireModule('node:net'));
  mutable.Socket = Unconnected;
  try {
    return driver.connect();
  } finally {
    mutable.Socket = Socket;
  }
}

/**
 * As its _handleResultSet does, which it does not export.
 * @param {any[]} fields
 */
function rowsOf(fields) {
  const columns = Number.parseInt(fields[1], 10);
  const rows = [];
  for (let i = 2; i < fields.length; i += columns) rows.push(fields.slice(i, i + columns));
  return rows;
}

/**
 * node-handlersocket's own parser and encoder, without a socket: its connection gets a substitute,
 * and bytes are passed to it. Its callback queue, whose shift() is quadratic, is replaced, since it
 * is not part of the codec.
 */

import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import net from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { ofTokens } from './encoders.js';

/** @type {(name: string) => any} untyped modules, or modules with untyped internals */
const requireModule = createRequire(import.meta.url);

/** Decodes UTF-8 like a socket with setEncoding, and is never connected. */
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
 * Its constructor creates a net.Socket, whose class is replaced for that moment.
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
 * Same as its _handleResultSet, which it does not export.
 * @param {any[]} fields
 */
function rowsOf(fields) {
  const columns = Number.parseInt(fields[1], 10);
  const rows = [];
  for (let i = 2; i < fields.length; i += columns) rows.push(fields.slice(i, i + columns));
  return rows;
}

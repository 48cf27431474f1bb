/**
 * tarantool-driver's own path from chunks to tuples and from a select to bytes, without a socket:
 * its data handler, its parser (msgpack-lite with its own types) and its commands, on an object
 * with the fields that they use. Its queue holds the one request that is answered next.
 */

import { createRequire } from 'node:module';
import { requestKeys } from '../rows.js';
import { SPACE_ID } from './requests.js';

/** @type {(name: string) => any} untyped modules, or modules with untyped internals */
const requireModule = createRequire(import.meta.url);
const SELECT = 1;

/** @returns {import('../definition.js').Codec} */
export function loadTarantoolDriver() {
  const { dataHandler } = requireModule('tarantool-driver/lib/event-handler.js');
  const { _processResponse } = requireModule('tarantool-driver/lib/parser.js');
  const SliderBuffer = requireModule('tarantool-driver/lib/sliderBuffer.js');
  const Commands = requireModule('tarantool-driver/lib/commands.js');
  return {
    createDecoder(_shape, emit) {
      const handle = dataHandler({
        state: STATES.CONNECT,
        states: STATES,
        dataState: STATES.CONNECTED,
        awaitingResponseLength: -1,
        bufferSlide: new SliderBuffer(),
        commandsQueue: queueOfOne({ resolve: emit, reject: thrown }),
        options: {},
        namespace: {},
        _processResponse,
      });
      return { write: handle };
    },
    encoders: {
      'requests-1000': () => {
        const keys = requestKeys();
        /** @type {{ target: Buffer, at: number, id: number }} */
        const out = { target: Buffer.alloc(0), at: 0, id: 0 };
        const commands = Object.create(Commands.prototype);
        commands._getRequestId = () => {
          out.id += 1;
          return out.id;
        };
        commands.namespace = {};
        commands.sendCommand = (/** @type {any} */ _task, /** @type {Buffer} */ bytes) => {
          out.at += bytes.copy(out.target, out.at);
        };
        return (target) => {
          Object.assign(out, { target, at: 0, id: 0 });
          // One promise per request, as for its callers; none of them is ever settled.
          for (const key of keys) commands.select(SPACE_ID, 0, 1, 0, 'eq', key);
          return out.at;
        };
      },
    },
  };
}

/** Same as in its connection.js. */
const STATES = Object.freeze({
  CONNECTED: 1,
  AWAITING: 2,
  PREHELLO: 8,
  AWAITING_LENGTH: 16,
  CONNECT: 256,
});

/**
 * Its parser searches the queue for the number of the reply, and uses the last entry if it finds
 * none; here there is only one.
 * @param {{ resolve: (reply: any) => void, reject: (error: any) => void }} deferred
 */
function queueOfOne(deferred) {
  return { length: 1, _head: 0, _capacityMask: 0, _list: [[SELECT, -1, deferred]] };
}

/** @param {any} error @returns {never} */
function thrown(error) {
  throw error;
}

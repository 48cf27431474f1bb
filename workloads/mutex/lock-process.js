/**
 * A separate process that opens the same locks, controlled by messages (engine/storage-process.js).
 * It ends when this process ends, in any way.
 */

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { heapFlags } from '../../lib/heap-size.js';

/** A path instead of an import, because a process receives names and options, never functions. */
const PROCESS = fileURLToPath(new URL('../../engine/storage-process.js', import.meta.url));
const ACTIONS = new URL('./actions.js', import.meta.url).href;

/** @typedef {{ type: string, [key: string]: any }} Message */
/**
 * @typedef {{ promise: Promise<Message>, resolve: (message: Message) => void,
 *   reject: (error: Error) => void }} Awaited
 */

export class LockProcess {
  /** @type {Map<string, Awaited>} messages by type: awaited, or received before being awaited */
  #awaited = new Map();
  /** @type {Error | null} */
  #ended = null;

  /**
   * @param {import('../../lib/types.js').Origin | undefined} origin
   * @param {(message: Message) => void} [onMessage] called for every message
   */
  constructor(origin, onMessage) {
    this.child = fork(PROCESS, [], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: heapFlags(),
    });
    this.child.on('message', (/** @type {any} */ message) => {
      onMessage?.(message);
      const { type, code } = message;
      if (type === 'failed') this.#end(Object.assign(new Error(message.message), { code }));
      else this.#of(type).resolve(message);
    });
    this.child.on('error', (error) => this.#end(error));
    this.child.on('exit', (code, signal) =>
      this.#end(new Error(`the process ended by ${signal ?? `status ${code}`}`)),
    );
    this.send({ type: 'open', origin, kind: 'lock', module: ACTIONS });
  }

  /** @param {Message} message */
  send(message) {
    if (this.child.connected) this.child.send(message, () => {});
  }

  /**
   * @param {string} type
   * @returns {Promise<Message>} the first message of that type
   * @throws {Error} the error of the process, or its unexpected end
   */
  wait(type) {
    if (this.#ended !== null && !this.#awaited.has(type)) return Promise.reject(this.#ended);
    return this.#of(type).promise;
  }

  /** @returns {Promise<void>} resolves when it has ended */
  async kill() {
    const { pid, exitCode, signalCode } = this.child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
  }

  /** @param {string} type @returns {Awaited} */
  #of(type) {
    const known = this.#awaited.get(type);
    if (known !== undefined) return known;
    const one = /** @type {Awaited} */ ({});
    one.promise = new Promise((resolve, reject) => Object.assign(one, { resolve, reject }));
    this.#awaited.set(type, one);
    return one;
  }

  /** @param {Error} error */
  #end(error) {
    this.#ended ??= error;
    for (const { reject } of this.#awaited.values()) reject(this.#ended);
  }
}

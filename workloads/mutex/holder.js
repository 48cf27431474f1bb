/**
 * A separate process that opens the same locks, controlled by messages (engine/storage-process.js).
 * It ends with this one, however this one ends.
 */

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { semiSpaceFlags } from '../../lib/young-generation.js';

/** By its path, not by an import: a process receives names and options, never functions. */
const PROCESS = fileURLToPath(new URL('../../engine/storage-process.js', import.meta.url));
const ACTIONS = new URL('./actions.js', import.meta.url).href;

/** @typedef {{ type: string, [key: string]: any }} Message */

export class LockProcess {
  /** @type {Message[]} what came before anybody waited for it */
  #inbox = [];
  /**
   * @type {{ type: string, resolve: (message: Message) => void, reject: (error: Error) => void }[]}
   */
  #waiting = [];
  /** @type {Error | null} */
  #ended = null;

  /**
   * @param {import('../../lib/types.js').Origin | undefined} origin
   * @param {(message: Message) => void} [onMessage] of every message
   */
  constructor(origin, onMessage) {
    this.child = fork(PROCESS, [], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: semiSpaceFlags(),
    });
    this.child.on('message', (/** @type {any} */ message) => {
      onMessage?.(message);
      this.#take(message);
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
   * @returns {Promise<Message>} the next message of that type
   * @throws {Error} what it failed with, or that it ended
   */
  wait(type) {
    const at = this.#inbox.findIndex((message) => message.type === type);
    if (at >= 0) return Promise.resolve(this.#inbox.splice(at, 1)[0]);
    if (this.#ended !== null) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => this.#waiting.push({ type, resolve, reject }));
  }

  /** @returns {Promise<void>} resolves when it is gone */
  async kill() {
    if (this.#ended !== null) return;
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
  }

  /** @param {Message} message */
  #take(message) {
    if (message.type === 'failed') {
      this.#end(Object.assign(new Error(message.message), { code: message.code }));
      return;
    }
    const at = this.#waiting.findIndex(({ type }) => type === message.type);
    if (at >= 0) this.#waiting.splice(at, 1)[0].resolve(message);
    else this.#inbox.push(message);
  }

  /** @param {Error} error */
  #end(error) {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }
}

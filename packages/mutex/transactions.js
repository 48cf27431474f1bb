/**
 * Connections for WATCH … EXEC: watched keys belong to a connection, so concurrent transactions
 * need separate ones. Created on demand, up to a limit; further transactions wait.
 */

import { MutexError } from './mutex-error.js';
import { Queue } from './queue.js';

/** @typedef {import('./client-adapter.js').Dedicated} Dedicated */

const CONNECTIONS_MAX = 4;

export class Transactions {
  /** @type {Dedicated[]} */
  #idle = [];
  /** @type {Set<Dedicated>} */
  #all = new Set();
  #count = 0;
  /** @type {Queue<(connection: Dedicated | null) => void>} */
  #waiting = new Queue();
  #closed = false;

  /** @param {() => Promise<Dedicated>} dedicate */
  constructor(dedicate) {
    this.dedicate = dedicate;
  }

  /**
   * @template T
   * @param {(command: Dedicated['command']) => Promise<T>} work must not leave watched keys
   * @returns {Promise<T>}
   */
  async run(work) {
    const connection = await this.#take();
    try {
      const result = await work(connection.command);
      this.#give(connection);
      return result;
    } catch (error) {
      this.#drop(connection); // its state is unknown
      throw error;
    }
  }

  /** @returns {Promise<Dedicated>} */
  async #take() {
    for (;;) {
      if (this.#closed) throw new MutexError('MUTEX_CLOSED', 'the locker is closed');
      const idle = this.#idle.pop();
      if (idle?.isAlive()) return idle;
      if (idle !== undefined) {
        this.#drop(idle);
        continue;
      }
      if (this.#count < CONNECTIONS_MAX) return this.#make();
      const connection = await new Promise(
        (/** @type {(connection: Dedicated | null) => void} */ resolve) =>
          this.#waiting.push(resolve),
      );
      if (connection !== null) return connection;
    }
  }

  async #make() {
    this.#count += 1;
    try {
      const connection = await this.dedicate();
      this.#all.add(connection);
      if (this.#closed) this.#drop(connection);
      return connection;
    } catch (error) {
      this.#count -= 1;
      this.#waiting.take()?.(null);
      throw error;
    }
  }

  /** @param {Dedicated} connection */
  #give(connection) {
    const next = this.#waiting.take();
    if (next !== undefined) next(connection);
    else this.#idle.push(connection);
  }

  /** @param {Dedicated} connection */
  #drop(connection) {
    if (this.#all.delete(connection)) this.#count -= 1;
    connection.close();
    this.#waiting.take()?.(null);
  }

  close() {
    this.#closed = true;
    for (const connection of this.#all) connection.close();
    for (const resolve of this.#waiting.takeAll()) resolve(null);
  }
}

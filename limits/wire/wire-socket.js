/**
 * A socket of the wire loop: one buffer for all reads, request and reply during the handshake, then
 * a callback per read. Not a driver: it parses no replies.
 */

import { formatEndpoint } from '../../lib/address.js';
import { targetError } from '../../lib/errors.js';
import { openSocket } from '../../lib/tls.js';

/** Upper bound of one read. */
const READ_BYTES = 256 * 1024;
/** Time limit for one reply of the greeting. */
const ANSWER_MS = 5000;

/** @typedef {import('../../lib/types.js').Endpoint} Endpoint */

export class WireSocket {
  /** @type {(bytes: Buffer, length: number) => void} */
  onBytes = (bytes, length) => this.#gather(bytes, length);
  /** @type {(error: Error) => void} */
  onLost = () => {};
  /** @type {Error | null} */
  lost = null;
  #gathered = Buffer.alloc(0);
  #answered = () => {};

  /** @param {Endpoint} endpoint */
  constructor(endpoint) {
    this.where = formatEndpoint(endpoint);
    const { socket } = openSocket(endpoint, {
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafeSlow(READ_BYTES),
        callback: (/** @type {number} */ length, /** @type {Buffer} */ buffer) => {
          try {
            this.onBytes(buffer, length);
          } catch (error) {
            this.#lose(error);
            this.socket.destroy();
          }
          return true;
        },
      },
    });
    this.socket = socket;
    this.socket.on('error', (error) =>
      this.#lose(targetError(`${this.where}: ${error.message}`, undefined, error)),
    );
    this.socket.on('close', () =>
      this.#lose(targetError(`${this.where}: the server closed the connection`)),
    );
  }

  /**
   * @template {{ end: number }} T
   * @param {Buffer | null} request null: the server sends first
   * @param {(bytes: Buffer) => T | null} read null: incomplete; may throw
   * @returns {Promise<T>}
   * @throws {import('../../lib/errors.js').DragstripError} E_TARGET
   */
  async ask(request, read) {
    if (request !== null) this.socket.write(request);
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    try {
      return await new Promise((resolve, reject) => {
        const look = () => {
          try {
            const answer = read(this.#gathered);
            if (answer !== null) {
              this.#gathered = this.#gathered.subarray(answer.end);
              resolve(answer);
            } else if (this.lost !== null) reject(this.lost);
          } catch (error) {
            reject(error);
          }
        };
        const silence = targetError(`${this.where}: no reply within ${ANSWER_MS / 1000} s`);
        timer = setTimeout(reject, ANSWER_MS, silence);
        this.#answered = look;
        look();
      });
    } finally {
      clearTimeout(timer);
      this.#answered = () => {};
    }
  }

  /** @returns {number} received bytes that no request consumed */
  get left() {
    return this.#gathered.length;
  }

  close() {
    this.onLost = () => {};
    this.socket.destroy();
  }

  /** @param {Buffer} bytes @param {number} length */
  #gather(bytes, length) {
    this.#gathered = Buffer.concat([this.#gathered, bytes.subarray(0, length)]);
    this.#answered();
  }

  /** @param {Error} error */
  #lose(error) {
    if (this.lost !== null) return;
    this.lost = error;
    this.#answered();
    this.onLost(error);
  }
}

/**
 * Preloaded into the processes of agents (NODE_OPTIONS=--import): in the second copy of the first
 * contender (A/A) each fifth operation sends two requests, so that it is slower by a known amount.
 * Without a storage file, which agents would refuse.
 */

import { Redis } from 'ioredis';

const EVERY = 5;
let isCopy = false;

const listen = process.on.bind(process);
process.on = /** @type {any} */ (
  (/** @type {any} */ name, /** @type {(message: any) => void} */ listener) => {
    if (name !== 'message') return listen(name, listener);
    return listen('message', (/** @type {any} */ message) => {
      if (message?.type === 'open') isCopy = message.spec.isCopy === true;
      listener(message);
    });
  }
);

const client = /** @type {any} */ (Redis.prototype);
const { get } = client;
let calls = 0;
client.get = function getTwice(/** @type {string} */ key) {
  calls += 1;
  const reply = get.call(this, key);
  return isCopy && calls % EVERY === 0 ? reply.then(() => get.call(this, key)) : reply;
};

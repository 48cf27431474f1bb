/**
 * The harness overhead: rows in an array of this process. It measures the harness and the cost of a
 * promise, not a store.
 */

import { defineStorage } from '../lib/define.js';
import { fieldRecord } from './redis-hashes.js';

export const storage = defineStorage({
  name: 'memory',
  summary: 'an array in the process: the overhead of the harness in every figure',
  package: null,
  server: null,
  rows: ['get', 'mget', 'set', 'add', 'del', 'scan', 'hash'],
  profiles: {
    default: { summary: 'an async function, one promise an operation', options: {} },
    sync: { summary: 'the value itself, no promise', options: {}, calls: 'sync' },
  },
  async open({ dataset, profile }) {
    /** @type {(string | undefined)[] | null} */
    let rows = [undefined]; // ids begin at 1
    for (let id = 1; id <= dataset.rows; id += 1) rows.push(dataset.value(id));
    const held = rows;
    const close = async () => {
      rows = null;
      held.length = 0;
    };
    const set = (/** @type {number} */ id, /** @type {string} */ text) => {
      held[id] = text;
    };
    const mget = (/** @type {readonly number[]} */ ids) => ids.map((id) => held[id]);
    /** @type {Map<number, any>} inserted rows, with ids far above those of the dataset; hashes */
    const more = new Map();
    const changes = changesOf(held, more);
    return profile.calls === 'sync'
      ? { get: (id) => held[id] ?? more.get(id), mget, set, ...changes, close }
      : {
          get: async (id) => held[id] ?? more.get(id),
          mget: async (ids) => mget(ids),
          set: async (id, text) => set(id, text),
          ...promisesOf(changes),
          close,
        };
  },
});

/**
 * @param {readonly (string | undefined)[]} held
 * @param {Map<number, any>} more
 */
function changesOf(held, more) {
  return {
    add(/** @type {number} */ id, /** @type {string} */ text) {
      if (more.has(id)) return false;
      more.set(id, text);
      return true;
    },
    added: Boolean,
    del: (/** @type {number} */ id) => more.delete(id),
    deleted: Boolean,
    scan: (/** @type {number} */ first, /** @type {number} */ count) =>
      held.slice(first, first + count).map((text, i) => [first + i, text]),
    hset(/** @type {number} */ id, /** @type {readonly string[]} */ fields) {
      more.set(id, fieldRecord(fields));
    },
    hget: (/** @type {number} */ id) => more.get(id),
    fields: (/** @type {any} */ reply) => reply ?? {},
  };
}

const PURE = ['added', 'deleted', 'fields'];

/**
 * @param {Record<string, any>} operations
 * @returns {any} the same operations with a promise per reply
 */
function promisesOf(operations) {
  const entries = Object.entries(operations).map(([name, own]) => [
    name,
    PURE.includes(name) ? own : async (/** @type {any[]} */ ...words) => own(...words),
  ]);
  return Object.fromEntries(entries);
}

/**
 * The harnessOverhead: rows in an array of this process. What a benchmark measures here is the
 * harness and the price of a promise, not a store.
 */

import { defineStorage } from '../lib/define.js';

export const storage = defineStorage({
  name: 'memory',
  summary: 'an array in the process: the harnessOverhead of every figure',
  package: null,
  server: null,
  rows: ['get', 'mget', 'set'],
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
    return profile.calls === 'sync'
      ? { get: (id) => held[id], mget, set, close }
      : {
          get: async (id) => held[id],
          mget: async (ids) => mget(ids),
          set: async (id, text) => set(id, text),
          close,
        };
  },
});

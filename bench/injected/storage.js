/**
 * ioredis with an injected defect, which a comparison must detect. Every n-th operation sends two
 * requests, or every n-th reply is delayed by a millisecond, or a process sends all requests twice
 * in its first second, or each operation allocates some objects, or the process pauses in each
 * second with operations; plain ones have the same wrapper without a defect.
 */

import { defineStorage } from '../../lib/define.js';
import { systemClock } from '../../measure/clock.js';
import { storage as ioredis } from '../../storages/ioredis.js';

/** A longer gap between two operations means that another contender is running. */
const GAP_NS = 2e6;

/**
 * @typedef {object} Injected
 * @property {number} [twiceEvery]
 * @property {number} [lateEvery]
 * @property {number} [slowMs] time since it was opened
 * @property {number} [objects] objects of 88 bytes per operation
 * @property {number} [pauseMs] pause per second of operations
 */

/**
 * @param {string} name
 * @param {Injected} [defect]
 * @returns {import('../../lib/types.js').StorageDefinition}
 */
export function injected(name, defect = {}) {
  const { twiceEvery = 0, lateEvery = 0, slowMs = 0, objects = 0, pauseMs = 0 } = defect;
  return defineStorage({
    name,
    package: ioredis.package,
    server: ioredis.server,
    rows: ['get'],
    profiles: { default: ioredis.profiles['default'] },
    summary: `${name}: a contender with a known defect`,
    open: { rows: openRows },
  });

  /** @type {NonNullable<import('../../lib/types.js').StorageDefinition['open']['rows']>} */
  async function openRows(context) {
    const handle = await /** @type {any} */ (ioredis.open.rows)(context);
    const ask = handle.get;
    let count = 0;
    const fastNs = systemClock.now() + slowMs * 1e6;
    const pause = pauseMs > 0 ? pauses(pauseMs) : null;
    /** @param {number} id */
    const get = async (id) => {
      count += 1;
      pause?.();
      if (objects > 0) waste(objects);
      if (twiceEvery > 0 && count % twiceEvery === 0) await ask(id);
      if (slowMs > 0 && systemClock.now() < fastNs) await ask(id);
      if (lateEvery > 0 && count % lateEvery === 0) {
        const reply = await ask(id);
        await new Promise((resolve) => setTimeout(resolve, 1));
        return reply;
      }
      return ask(id);
    };
    return { get, value: handle.value, close: () => handle.close() };
  }
}

/** Prevents the objects from being optimised away. */
const holder = { last: /** @type {unknown} */ (null) };

/** @param {number} count */
function waste(count) {
  let one = null;
  for (let i = 0; i < count; i += 1) one = { a: i, b: i, c: i, d: i, e: i, f: i, g: i, one };
  holder.last = one;
}

/** @param {number} pauseMs @returns {() => void} function to call with each operation */
function pauses(pauseMs) {
  let [ranNs, beforeNs] = [0, systemClock.now()];
  return () => {
    const nowNs = systemClock.now();
    ranNs += nowNs - beforeNs < GAP_NS ? nowNs - beforeNs : 0;
    beforeNs = nowNs;
    if (ranNs < 1e9) return;
    ranNs = 0;
    while (systemClock.now() < nowNs + pauseMs * 1e6);
    beforeNs = systemClock.now();
  };
}

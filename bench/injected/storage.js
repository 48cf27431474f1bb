/**
 * ioredis with a defect put in: what a comparison must find. Every n-th operation asks twice, or
 * every n-th reply comes a millisecond later, or a process asks all twice in its first second; the
 * plain ones have the same wrapper and no defect.
 */

import { defineStorage } from '../../lib/define.js';
import { systemClock } from '../../measure/clock.js';
import { storage as ioredis } from '../../storages/ioredis.js';

/**
 * @param {string} name
 * @param {{ twiceEvery?: number, lateEvery?: number, slowMs?: number }} [defect] slowMs: since it
 *   was opened
 * @returns {import('../../lib/types.js').StorageDefinition}
 */
export function injected(name, { twiceEvery = 0, lateEvery = 0, slowMs = 0 } = {}) {
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
    /** @param {number} id */
    const get = async (id) => {
      count += 1;
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

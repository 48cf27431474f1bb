/** The subset of Redis for the command list, in this process, for tests of reply verification. */

/**
 * @param {{ lie?: (words: readonly string[], reply: any) => any }} [options] lie: replaces a
 *   correct reply
 * @returns {{ send: (words: readonly string[]) => Promise<any>, data: Map<string, any> }}
 */
export function createFakeRedis({ lie = (_words, reply) => reply } = {}) {
  /** @type {Map<string, any>} */
  const data = new Map();
  const list = (/** @type {string} */ key) => data.get(key) ?? data.set(key, []).get(key);
  const set = (/** @type {string} */ key) => data.get(key) ?? data.set(key, new Set()).get(key);
  /** @type {Record<string, (...words: string[]) => any>} */
  const commands = {
    PING: () => 'PONG',
    GET: (key) => data.get(key) ?? null,
    SET: (key, value) => data.set(key, value) && 'OK',
    MGET: (...keys) => keys.map((key) => data.get(key) ?? null),
    MSET(...pairs) {
      for (let i = 0; i < pairs.length; i += 2) data.set(pairs[i], pairs[i + 1]);
      return 'OK';
    },
    DEL: (...keys) => keys.filter((key) => data.delete(key)).length,
    EXISTS: (...keys) => keys.filter((key) => data.has(key)).length,
    TYPE: (key) => (data.has(key) ? 'string' : 'none'),
    INCR: (key) => Number(data.set(key, String(Number(data.get(key) ?? 0) + 1)).get(key)),
    LPUSH: (key, ...values) => list(key).unshift(...values.reverse()),
    RPUSH: (key, ...values) => list(key).push(...values),
    LPOP: (key) => list(key).shift() ?? null,
    LLEN: (key) => list(key).length,
    LRANGE: (key, from, to) => list(key).slice(Number(from), Number(to) + 1),
    SADD(key, ...members) {
      const before = set(key).size;
      for (const member of members) set(key).add(member);
      return set(key).size - before;
    },
    SPOP(key) {
      const [first = null] = set(key);
      set(key).delete(first);
      return first;
    },
    SCARD: (key) => set(key).size,
  };
  return {
    data,
    send: async ([name, ...words]) => lie([name, ...words], commands[name](...words)),
  };
}

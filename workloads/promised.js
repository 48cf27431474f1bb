/** Converts calls of any style to promises, for workloads that mix styles. */

/**
 * @param {(i: number, done?: any) => any} way
 * @param {import('../lib/types.js').CallStyle} style
 * @param {number} i
 * @returns {Promise<any>}
 */
export function promised(way, style, i) {
  if (style !== 'callback') return Promise.resolve(way(i));
  return new Promise((resolve, reject) => {
    way(i, (/** @type {any} */ error, /** @type {any} */ reply) =>
      error ? reject(error) : resolve(reply),
    );
  });
}

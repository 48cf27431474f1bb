/** Calls of any style as promises. */

/**
 * @param {import('./types.js').CallStyle} style
 * @param {(done?: any) => any} call `done` is for the style `callback`
 * @returns {Promise<any>}
 */
export async function promised(style, call) {
  if (style !== 'callback') return call();
  return new Promise((resolve, reject) => {
    call((/** @type {any} */ error, /** @type {any} */ reply) =>
      error ? reject(error) : resolve(reply),
    );
  });
}

/** Calls of any style as promises. */

/**
 * @param {(done: (error: any, reply?: any) => void) => void} call
 * @returns {Promise<any>}
 */
export function called(call) {
  return new Promise((resolve, reject) => {
    call((error, reply) => (error ? reject(error) : resolve(reply)));
  });
}

/**
 * @param {import('./types.js').CallStyle} style
 * @param {(done?: any) => any} call `done` is for the style `callback`
 * @returns {Promise<any>}
 */
export async function promised(style, call) {
  return style === 'callback' ? called(call) : call();
}

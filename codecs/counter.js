/**
 * A decoder that decodes nothing: a protocol's framer, which counts replies. What it takes is what
 * every decoder takes at least.
 */

/**
 * @param {import('../protocols/framer.js').Framer} framer
 * @returns {import('./definition.js').Decoder}
 */
export function countReplies(framer) {
  return {
    write: (chunk) => framer.feed(chunk, chunk.length),
    take() {
      const { replies } = framer;
      framer.replies = 0;
      return replies;
    },
  };
}

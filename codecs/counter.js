/**
 * A decoder that decodes nothing: a protocol's framer, which counts replies. Its time is a lower
 * bound for every decoder.
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

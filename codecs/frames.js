/**
 * Whole frames out of chunks, for codecs that know what is in a frame and not how a stream is cut.
 * Apart from protocols/, on purpose: the cutting, which is the same for all, is a part of the timed
 * work, and is written as drivers do it.
 */

/**
 * @typedef {object} FrameForm
 * @property {number} headBytes of which a frame's length is known
 * @property {(bytes: Buffer, at: number) => number} bodyBytes after the head
 */

/**
 * @param {FrameForm} form
 * @param {(bytes: Buffer, at: number, end: number) => void} onFrame at: of its body
 * @returns {import('./definition.js').Decoder}
 */
export function frameCutter({ headBytes, bodyBytes }, onFrame) {
  /** @type {Buffer[]} of a frame that is not whole */
  let pieces = [];
  let have = 0;
  let need = headBytes;
  return {
    write(chunk) {
      pieces.push(chunk);
      have += chunk.length;
      if (have < need) return;
      const bytes = pieces.length === 1 ? chunk : Buffer.concat(pieces);
      let at = 0;
      need = headBytes;
      while (bytes.length - at >= headBytes) {
        const end = at + headBytes + bodyBytes(bytes, at);
        if (end > bytes.length) {
          need = end - at;
          break;
        }
        onFrame(bytes, at + headBytes, end);
        at = end;
      }
      pieces = at === bytes.length ? [] : [bytes.subarray(at)];
      have = bytes.length - at;
    },
  };
}

/**
 * Extracts complete frames from chunks, for codecs that decode frames but not streams. Deliberately
 * separate from protocols/: framing, the same for all codecs, is part of the timed work, and is
 * implemented as in drivers.
 */

/**
 * @typedef {object} FrameForm
 * @property {number} headBytes bytes that determine a frame's length
 * @property {(bytes: Buffer, at: number) => number} bodyBytes length of the rest of the frame
 */

/**
 * @param {FrameForm} form
 * @param {(bytes: Buffer, at: number, end: number) => void} onFrame at: start of its body
 * @returns {import('./definition.js').Decoder}
 */
export function frameCutter({ headBytes, bodyBytes }, onFrame) {
  /** @type {Buffer[]} start of an incomplete frame */
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

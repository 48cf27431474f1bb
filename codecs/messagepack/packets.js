/**
 * Tarantool's packets out of chunks, for codecs that know MessagePack and no Tarantool: a length of
 * five bytes, a map that is the header, a map that is the body. Apart from protocols/iproto/, on
 * purpose: each codec decodes the maps by itself, and the cutting, which is the same for all, is a
 * part of the timed work.
 */

const PREFIX_BYTES = 5;
/** Keys of the header and of the body. */
const CODE = 0;
const DATA = 0x30;

/**
 * @typedef {(packet: Buffer) => { header: any, body: any }} Unpack both maps, as objects or as Maps
 */

/**
 * @param {Unpack} unpack
 * @returns {NonNullable<import('../definition.js').Codec['createDecoder']>} emits the tuples of
 *   each reply
 */
export function packetDecoder(unpack) {
  return (_shape, emit) => {
    /** @type {Buffer[]} of a packet that is not whole */
    let pieces = [];
    let have = 0;
    let need = PREFIX_BYTES;
    return {
      write(chunk) {
        pieces.push(chunk);
        have += chunk.length;
        if (have < need) return;
        const bytes = pieces.length === 1 ? chunk : Buffer.concat(pieces);
        let at = 0;
        need = PREFIX_BYTES;
        while (bytes.length - at >= PREFIX_BYTES) {
          const end = at + PREFIX_BYTES + bytes.readUInt32BE(at + 1);
          if (end > bytes.length) {
            need = end - at;
            break;
          }
          emit(tuplesOf(unpack(bytes.subarray(at + PREFIX_BYTES, end))));
          at = end;
        }
        pieces = at === bytes.length ? [] : [bytes.subarray(at)];
        have = bytes.length - at;
      },
    };
  };
}

/** @param {{ header: any, body: any }} packet */
function tuplesOf({ header, body }) {
  const isMap = header instanceof Map;
  const code = isMap ? header.get(CODE) : header[CODE];
  if (code !== 0) throw new Error(`the fixture holds an error reply: ${code}`);
  return isMap ? body.get(DATA) : body[DATA];
}

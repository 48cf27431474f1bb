/** The dataset in MariaDB's input formats: lines for LOAD DATA, tuples for INSERT. */

import { Readable } from 'node:stream';

/** Bytes of a piece of the stream: a few hundred rows of the default size. */
const PIECE_BYTES = 128 * 1024;
/** Bytes of a line in addition to its value: ten digits, a tab, a line end. */
const LINE_OVERHEAD_BYTES = 12;
const TAB = 9;
const LF = 10;

/**
 * Lines of `id TAB value LF`, LOAD DATA's own default; values need no escapes. The pieces are fresh
 * buffers, since the driver may still hold the last one; back-pressure bounds their number.
 * @param {import('../../lib/types.js').Dataset} dataset
 * @param {number} first
 * @param {number} last
 * @param {(id: number) => void} onRow called for each piece with its last row
 * @returns {Readable}
 */
export function rowStream(dataset, first, last, onRow) {
  const lineBytes = dataset.valueSize + LINE_OVERHEAD_BYTES;
  const pieceBytes = Math.max(PIECE_BYTES, lineBytes);
  let id = first;
  return new Readable({
    highWaterMark: PIECE_BYTES,
    read() {
      if (id > last) {
        this.push(null);
        return;
      }
      const piece = Buffer.allocUnsafe(pieceBytes);
      let at = 0;
      for (; id <= last && at + lineBytes <= pieceBytes; id += 1) {
        at += piece.write(`${id}`, at, 'latin1');
        piece[at] = TAB;
        at = dataset.write(id, piece, at + 1);
        piece[at] = LF;
        at += 1;
      }
      onRow(id - 1);
      this.push(piece.subarray(0, at));
    },
  });
}

/**
 * The tuples of INSERTs of about `bytes` each, one at a time.
 * @param {import('../../lib/types.js').Dataset} dataset
 * @param {number} first
 * @param {number} bytes
 * @returns {Generator<{ values: string, last: number }>}
 */
export function* rowInserts(dataset, first, bytes) {
  for (let id = first; id <= dataset.rows; ) {
    const tuples = [];
    let left = bytes;
    for (; id <= dataset.rows; id += 1) {
      left -= dataset.sizeOf(id) + 16;
      if (left < 0 && tuples.length > 0) break;
      tuples.push(`(${id},'${dataset.value(id)}')`);
    }
    yield { values: tuples.join(','), last: id - 1 };
  }
}

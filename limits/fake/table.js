/** The replies to all rows of a dataset, encoded once, so that a reply is a copy. */

import { datasetOptions } from '../../lib/dataset.js';

/**
 * Rows of a fake server: few enough for the processor's caches, so that the driver is the
 * bottleneck.
 */
const ROWS_MAX = 4096;
const TABLE_BYTES_MAX = 64 * 2 ** 20;

export class ReplyTable {
  /**
   * @param {import('../../lib/types.js').Dataset} dataset dataset of at most tableRows() rows
   * @param {(value: string, id: number) => Buffer} encode encodes a complete reply
   */
  constructor(dataset, encode) {
    const { rows } = dataset;
    this.rows = rows;
    this.offsets = new Float64Array(rows + 2);
    /** @type {Buffer[]} */
    const parts = [];
    for (let id = 1; id <= rows; id += 1) {
      const part = encode(dataset.value(id), id);
      parts.push(part);
      this.offsets[id + 1] = this.offsets[id] + part.length;
    }
    this.bytes = Buffer.concat(parts);
  }

  /**
   * @param {number} id
   * @returns {boolean}
   */
  has(id) {
    return id >= 1 && id <= this.rows;
  }

  /**
   * @param {number} id id of an existing row
   * @param {import('./write-buffer.js').WriteBuffer} out
   */
  copy(id, out) {
    out.append(this.bytes, this.offsets[id], this.offsets[id + 1]);
  }
}

/**
 * @param {import('../../lib/types.js').DatasetOptions} dataset
 * @returns {import('../../lib/types.js').DatasetOptions} the same dataset, reduced to the rows of a
 *   fake server
 */
export function tableDataset(dataset) {
  const { rows, valueSize } = dataset;
  const fitting = Math.max(1, Math.floor(TABLE_BYTES_MAX / valueSize));
  return { ...datasetOptions(dataset), rows: Math.min(rows, ROWS_MAX, fitting) };
}

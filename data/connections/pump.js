/**
 * Batches in flight: encodes the next one while the server processes the previous one, into reused
 * buffers. Never more than SLOTS batches are outstanding, however many rows there are.
 */

/** Two would overlap both sides; four also absorb one slow reply. */
export const SLOTS = 4;
/** Bytes of a batch: more than a socket buffer, far less than the memory of a process. */
export const BATCH_BYTES = 256 * 1024;

/**
 * @param {object} options
 * @param {number} options.first id of the first row
 * @param {number} options.last id of the last row; below `first`: nothing to do
 * @param {number} options.bufferBytes size of each buffer, so that one batch fits
 * @param {(buffer: Buffer, id: number) => { length: number, next: number }} options.encode writes a
 *   batch that begins with row `id`; returns the bytes written and the first row of the next batch
 * @param {(bytes: Uint8Array, id: number, next: number) => Promise<any>} options.send resolves when
 *   the server has accepted rows `id` to `next - 1`
 * @param {(next: number, reply: any) => void} [options.onDone] rows below `next` are complete
 * @returns {Promise<void>}
 */
export async function pump({ first, last, bufferBytes, encode, send, onDone }) {
  /** @type {Buffer[]} */
  const buffers = [];
  /** @type {Promise<void>[]} */
  const slots = [];
  for (let id = first, slot = 0; id <= last; slot = (slot + 1) % SLOTS) {
    // A rejected slot ends the loop here; later ones were marked as handled when they began.
    await slots[slot];
    buffers[slot] ??= Buffer.allocUnsafe(bufferBytes);
    const { length, next } = encode(buffers[slot], id);
    const taken = send(buffers[slot].subarray(0, length), id, next);
    slots[slot] = taken.then((reply) => onDone?.(next, reply));
    slots[slot].catch(() => {});
    id = next;
  }
  await Promise.all(slots);
}

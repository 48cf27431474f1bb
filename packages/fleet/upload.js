/** What an agent uploads of a step, as text: JSON, deflated, since histograms are mostly small numbers. */

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { DragstripError } from '../../lib/errors.js';
import { firstIssue } from './strict.js';
import { uploadSchema } from './upload-schema.js';

/** Of an upload, inflated; the texts of a hostile one take seconds to parse beyond. */
const BYTES_BASE = 8 * 2 ** 20;
/** Of the histogram of a second, or of a segment. */
const BYTES_PER_PART = 64 * 2 ** 10;
/** An operation is one more count at most. */
const BYTES_PER_OPERATION = 16;
const BYTES_MAX = 128 * 2 ** 20;

/**
 * @typedef {Pick<import('../../engine/seat.js').Seat,
 *   'segments' | 'leads' | 'kept' | 'facts' | 'failure'>} UploadedSeat
 *
 * @typedef {object} Upload what came of one step on one agent
 * @property {(UploadedSeat | null)[]} seats by contender; null: it runs on another machine
 * @property {{ code: string, message: string } | null} failure why there are none
 * @property {import('./coordinator-clock.js').ClockReading} clock compared after it
 * @property {Record<string, number | null>} targets ns to open a connection to each server
 */

/**
 * @typedef {Pick<import('./fleet-rounds.js').Order,
 *   'contenders' | 'amount' | 'timetable'>} Ordered
 */

/** @param {Ordered} order @returns {number} bytes that an upload of it may have, inflated */
function bytesMaxOf({ contenders, amount, timetable }) {
  const { durationNs, operations } = amount ?? { durationNs: null, operations: null };
  const loads = contenders.reduce((sum, { spec }) => sum + spec.tasks.length, 0);
  const segments = timetable ? loads * (timetable.blocks + timetable.leadBlocks) : 0;
  const parts = segments + (durationNs ?? 0) / 1e9;
  const bytes = BYTES_PER_PART * parts + BYTES_PER_OPERATION * (operations ?? 0);
  return Math.min(BYTES_MAX, BYTES_BASE + Math.ceil(bytes));
}

/**
 * @param {Upload} upload
 * @param {Ordered | null} order null: it was not understood
 * @returns {string} of the failure alone where the rest is too large
 */
export function packUpload(upload, order) {
  const text = JSON.stringify(upload);
  const packed = deflateRawSync(text).toString('base64');
  if (order === null || Buffer.byteLength(text) <= bytesMaxOf(order)) return packed;
  const failure = { code: 'E_UPLOAD', message: 'too much for one upload: give it less time' };
  return packUpload({ ...upload, seats: [], failure }, null);
}

/**
 * @param {string} text
 * @param {Ordered} order
 * @returns {Upload}
 * @throws {DragstripError} E_UPLOAD: too large, not JSON, a field that is unknown or missing
 */
export function unpackUpload(text, order) {
  const bytesMax = bytesMaxOf(order);
  const { contenders } = order;
  if (text.length > bytesMax) throw invalid(`${text.length} characters`);
  let found;
  try {
    const bytes = inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: bytesMax });
    found = JSON.parse(bytes.toString());
  } catch (error) {
    throw invalid(String(error.message));
  }
  const { data, error } = uploadSchema.safeParse(found);
  if (error) throw invalid(firstIssue(error));
  const upload = /** @type {Upload} */ (data);
  const isOf = upload.seats.every(
    (seat, i) =>
      seat === null ||
      [seat.segments, seat.leads, seat.kept].every(
        ({ length }) => length === contenders[i]?.spec.tasks.length,
      ),
  );
  const isWhole = upload.seats.length === (upload.failure === null ? contenders.length : 0);
  if (isOf && isWhole) return upload;
  throw invalid('other contenders or loads than ordered');
}

/** @param {string} why */
function invalid(why) {
  return new DragstripError('E_UPLOAD', `its upload is not valid: ${why.slice(0, 300)}`);
}

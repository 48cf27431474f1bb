/** Upload of a step as text: JSON, deflated, since histograms are mostly small numbers. */

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { DragstripError } from '../../lib/errors.js';
import { firstIssue } from './strict.js';
import { UPLOAD_MAX, uploadSchema } from './upload-schema.js';

/** Maximum inflated bytes of an upload; parsing a larger malicious text takes seconds. */
const BYTES_BASE = 8 * 2 ** 20;
/** Maximum bytes per histogram, of a second or of a segment. */
const BYTES_PER_PART = 64 * 2 ** 10;
/** Maximum bytes that an operation adds to a histogram. */
const BYTES_PER_OPERATION = 16;

/**
 * @typedef {Pick<import('../../engine/seat.js').Seat,
 *   'segments' | 'leads' | 'kept' | 'processRecords' | 'failure'>} UploadedSeat
 *
 * @typedef {object} Upload result of one step on one agent
 * @property {(UploadedSeat | null)[]} seats by contender; null: it runs on another machine
 * @property {{ code: string, message: string } | null} failure reason of missing seats
 * @property {import('./coordinator-clock.js').ClockReading} clock clock comparison after the step
 * @property {Record<string, number | null>} targets connect time in ns per server
 */

/**
 * @typedef {Pick<import('./fleet-rounds.js').Order,
 *   'contenders' | 'amount' | 'timetable'>} Ordered
 */

/** @param {Ordered} order @returns {number} maximum bytes of its upload, inflated */
function bytesMaxOf({ contenders, amount, timetable }) {
  const { durationNs, operations } = amount ?? { durationNs: null, operations: null };
  const loads = contenders.reduce((sum, { spec }) => sum + spec.tasks.length, 0);
  const segments = timetable ? loads * (timetable.blocks + timetable.leadBlocks) : 0;
  const parts = segments + (durationNs ?? 0) / 1e9;
  const bytes = BYTES_PER_PART * parts + BYTES_PER_OPERATION * (operations ?? 0);
  return Math.min(UPLOAD_MAX, BYTES_BASE + Math.ceil(bytes));
}

/**
 * @param {Upload} upload
 * @param {Ordered | null} order null: invalid
 * @returns {string} only the failure if the rest is too large
 */
export function packUpload(upload, order) {
  const text = JSON.stringify(upload);
  const packed = deflateRawSync(text).toString('base64');
  if (order === null || Buffer.byteLength(text) <= bytesMaxOf(order)) return packed;
  const failure = { code: 'E_UPLOAD', message: 'the upload is too large: use a shorter duration' };
  return packUpload({ ...upload, seats: [], failure }, null);
}

/**
 * @param {string} text
 * @param {Ordered} order
 * @returns {Upload}
 * @throws {DragstripError} E_UPLOAD: too large, not JSON, an unknown or missing field
 */
export function unpackUpload(text, order) {
  const bytesMax = bytesMaxOf(order);
  const { contenders } = order;
  if (text.length > bytesMax) throw invalid(`${text.length} characters`);
  let parsed;
  try {
    const bytes = inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: bytesMax });
    parsed = JSON.parse(bytes.toString());
  } catch (error) {
    throw invalid(String(error.message));
  }
  const { data, error } = uploadSchema.safeParse(parsed);
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
  return new DragstripError('E_UPLOAD', `invalid upload: ${why.slice(0, 300)}`);
}

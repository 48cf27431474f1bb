/**
 * The mark of a namespace that holds rows: which dataset they are, and how far they came. See
 * data/namespaces/mark.js for ownership.
 */

import { haveSameRows, ROWS_MAX } from '../../lib/dataset.js';
import { sizesName } from '../../lib/value-sizes.js';
import { formatMark } from '../namespaces/mark.js';

/**
 * @typedef {object} Marker
 * @property {number} rows of the dataset that was being written
 * @property {number} valueSize characters, at most
 * @property {string} [valueSizes] name of their distribution; absent: all have valueSize
 * @property {number} seed
 * @property {boolean} complete written, counted and sampled
 * @property {number} done ids 1 to `done` hold the dataset's values
 * @property {number} extent Dragstrip owns no id above it: what a smaller dataset has to delete
 */

/**
 * @param {import('../../lib/types.js').DatasetOptions} dataset
 * @param {{ complete: boolean, done: number, extent: number }} state
 * @returns {string} one line of ASCII without quotes that SQL or Lua would have to escape
 */
export function formatMarker(dataset, { complete, done, extent }) {
  return formatMark({ ...markedDataset(dataset), complete, done, extent });
}

/**
 * @param {import('../../lib/types.js').DatasetOptions} dataset of a run, or of a marker
 * @returns {import('../../lib/types.js').DatasetOptions} as a marker says it
 */
export function markedDataset({ rows, valueSize, valueSizes, seed }) {
  return { rows, valueSize, ...(valueSizes && { valueSizes: sizesName(valueSizes) }), seed };
}

/**
 * @param {Record<string, any> | null} fields of our mark
 * @returns {Marker | null} null if it is not a marker of rows
 */
export function readMarker(fields) {
  if (fields === null) return null;
  const { rows, valueSize, valueSizes, seed, complete, done, extent } = fields;
  const counts = [rows, valueSize, seed, done, extent];
  if (!counts.every((count) => Number.isInteger(count) && count >= 0)) return null;
  if (rows < 1 || rows > ROWS_MAX || extent > ROWS_MAX || done > rows) return null;
  if (valueSizes !== undefined && typeof valueSizes !== 'string') return null;
  const dataset = markedDataset({ rows, valueSize, valueSizes, seed });
  return { ...dataset, complete: complete === true, done, extent };
}

/**
 * The rows that may stay as they are: a value depends on the seed, its size and its id alone, so a
 * dataset that differs in its rows only is continued, or cut.
 * @param {Marker | null} marker
 * @param {import('../../lib/types.js').DatasetOptions} dataset
 * @returns {number} ids 1 to this are not written again
 */
export function rowsToKeep(marker, dataset) {
  if (marker === null || !haveSameRows(marker, dataset)) return 0;
  return Math.min(marker.done, dataset.rows);
}

/**
 * @param {Marker | null} marker
 * @param {import('../../lib/types.js').DatasetOptions} dataset
 * @returns {boolean} whether the marker describes this very dataset, complete
 */
export function isWhole(marker, dataset) {
  return (
    marker?.complete === true &&
    marker.rows === dataset.rows &&
    rowsToKeep(marker, dataset) === dataset.rows
  );
}

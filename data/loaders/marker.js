/**
 * The mark of a namespace that holds rows: their dataset, and the progress of the load. See
 * data/namespaces/mark.js for ownership.
 */

import { haveSameRows, ROWS_MAX } from '../../lib/dataset.js';
import { sizesName } from '../../lib/value-sizes.js';
import { formatMark } from '../namespaces/mark.js';

/**
 * @typedef {object} Marker
 * @property {number} rows number of rows in the dataset being written
 * @property {number} valueSize maximum characters
 * @property {string} [valueSizes] name of their distribution; absent: all have valueSize
 * @property {number} seed
 * @property {boolean} complete written, counted and sampled
 * @property {number} done ids 1 to `done` hold the dataset's values
 * @property {number} extent highest id owned by Dragstrip, up to which a smaller dataset has to
 *   delete
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
 * @param {import('../../lib/types.js').DatasetOptions} dataset fields of a run's dataset, or of a
 *   marker
 * @returns {import('../../lib/types.js').DatasetOptions} fields as in a marker
 */
export function markedDataset({ rows, valueSize, valueSizes, seed }) {
  return { rows, valueSize, ...(valueSizes && { valueSizes: sizesName(valueSizes) }), seed };
}

/**
 * @param {Record<string, any> | null} fields fields of Dragstrip's mark
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
 * The rows that may stay: a value depends only on the seed, its size and its id, so a dataset that
 * differs only in its number of rows is continued, or cut.
 * @param {Marker | null} marker
 * @param {import('../../lib/types.js').DatasetOptions} dataset
 * @returns {number} ids up to this are not written again
 */
export function rowsToKeep(marker, dataset) {
  if (marker === null || !haveSameRows(marker, dataset)) return 0;
  return Math.min(marker.done, dataset.rows);
}

/**
 * @param {Marker | null} marker
 * @param {import('../../lib/types.js').DatasetOptions} dataset
 * @returns {boolean} whether the marker describes this dataset, complete
 */
export function isWhole(marker, dataset) {
  return (
    marker?.complete === true &&
    marker.rows === dataset.rows &&
    rowsToKeep(marker, dataset) === dataset.rows
  );
}

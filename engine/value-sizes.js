/**
 * Several value sizes in one run (--value-size 16,1k,64k): each has rows of its own, made for the
 * run in a namespace of its own on every server and removed after it, so that no read of one size
 * ever meets a row of another.
 */

import { DATASET_DEFAULTS, ROWS_NAMESPACE } from '../lib/dataset.js';
import { usageError } from '../lib/errors.js';
import { rowsNamespace } from '../workloads/rows-namespace.js';

/** @typedef {import('../lib/result.js').Load} Load */
/** @typedef {import('../lib/types.js').DatasetOptions} DatasetOptions */
/** @typedef {import('../lib/types.js').Namespace} Namespace */
/** @typedef {{ namespace: Namespace, dataset: DatasetOptions }} OwnRows */

/** Of the rows of the largest size, where nothing is said of their number. */
const BYTES_USUAL = 128 * 2 ** 20;
/** Of all rows together, which servers keep in memory. */
const BYTES_MAX = 2 ** 30;

/**
 * The same number of rows for all sizes: what differs is the size alone.
 * @param {readonly number[]} sizes
 * @param {number | undefined} rows where it is given
 * @returns {number}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE for more than a server should hold
 */
export function rowsForSizes(sizes, rows) {
  const most = Math.max(...sizes);
  if (rows === undefined) {
    return Math.max(1, Math.min(DATASET_DEFAULTS.rows, Math.floor(BYTES_USUAL / most)));
  }
  const bytes = rows * sizes.reduce((sum, size) => sum + size, 0);
  if (bytes <= BYTES_MAX) return rows;
  const gib = (bytes / 2 ** 30).toFixed(1);
  throw usageError(
    `--value-size ${sizes.join()}: ${rows} rows of each are ${gib} GiB, 1 at most`,
    `write --rows ${Math.floor((rows * BYTES_MAX) / bytes)}, or fewer`,
  );
}

/**
 * @template {object} T
 * @param {readonly T[]} loads
 * @param {readonly number[]} sizes
 * @returns {(T & { valueSize?: number })[]} each for each size; one size is that of the dataset
 */
export function withSizes(loads, sizes) {
  if (sizes.length < 2) return [...loads];
  return loads.flatMap((load) => sizes.map((valueSize) => ({ ...load, valueSize })));
}

/**
 * What a benchmark reads.
 * @param {{ load: Pick<Load, 'valueSize'>, dataset: DatasetOptions }} spec
 * @returns {OwnRows}
 */
export function rowsOf({ load: { valueSize }, dataset }) {
  return valueSize === undefined
    ? { dataset, namespace: ROWS_NAMESPACE }
    : { dataset: { ...dataset, valueSize }, namespace: rowsNamespace(`value-${valueSize}`) };
}

/**
 * @param {{ sizes?: readonly number[], dataset: DatasetOptions }} plan
 * @param {{ namespace?: Namespace }} workload
 * @returns {OwnRows[]} that a run owns while it lasts, and the rows of those that have some
 */
export function namespacesOf({ sizes = [], dataset }, { namespace }) {
  if (namespace !== undefined) return [{ namespace, dataset }];
  return sizes.map((valueSize) => rowsOf({ load: { valueSize }, dataset }));
}

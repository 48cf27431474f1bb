/**
 * Several value sizes in one run (--value-size 16,1k,64k): each has its own rows, created for the
 * run in a separate namespace on every server and removed after it, so that reads of different
 * sizes never mix.
 */

import { DATASET_DEFAULTS, ROWS_NAMESPACE } from '../lib/dataset.js';
import { usageError } from '../lib/errors.js';
import { rowsNamespace } from '../workloads/rows-namespace.js';

/** @typedef {import('../lib/result.js').Load} Load */
/** @typedef {import('../lib/types.js').DatasetOptions} DatasetOptions */
/** @typedef {import('../lib/types.js').Namespace} Namespace */
/** @typedef {{ namespace: Namespace, dataset: DatasetOptions }} OwnRows */

/** Bytes of all rows of the largest size, if their number is not given. */
const BYTES_USUAL = 128 * 2 ** 20;
/** Maximum bytes of all rows together, since servers keep them in memory. */
const BYTES_MAX = 2 ** 30;

/**
 * The same number of rows for all sizes, so that only the size differs.
 * @param {readonly number[]} sizes
 * @param {number | undefined} rows number of rows, if given
 * @returns {number}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: more data than a server should hold
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
    `--value-size ${sizes.join()}: ${rows} rows of each are ${gib} GiB; the maximum is 1 GiB`,
    `write --rows ${Math.floor((rows * BYTES_MAX) / bytes)}, or fewer`,
  );
}

/**
 * @template {object} T
 * @param {readonly T[]} loads
 * @param {readonly number[]} sizes
 * @returns {(T & { valueSize?: number })[]} each load for each size; a single size is the dataset's
 */
export function withSizes(loads, sizes) {
  if (sizes.length < 2) return [...loads];
  return loads.flatMap((load) => sizes.map((valueSize) => ({ ...load, valueSize })));
}

/**
 * The dataset of a benchmark.
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
 * @returns {OwnRows[]} namespaces that a run owns while it lasts, with their rows
 */
export function namespacesOf({ sizes = [], dataset }, { namespace }) {
  if (namespace !== undefined) return [{ namespace, dataset }];
  return sizes.map((valueSize) => rowsOf({ load: { valueSize }, dataset }));
}

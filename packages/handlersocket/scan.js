/**
 * Walks an index page by page: bounded memory on both sides for any number of rows, whereas the
 * server would buffer a single reply completely. The next page is requested while one is consumed.
 *
 * Each page is a separate find, so rows that change meanwhile may be returned in either state, as
 * in any scan without a transaction.
 */

import { argumentError } from './handlersocket-error.js';
import { abortedError } from './limited.js';
import { checkInteger } from './validate.js';

/** @typedef {import('./request-lines.js').Value} Value */
/** @typedef {import('./reply-values.js').Row} Row */

/**
 * @typedef {object} ScanOptions
 * @property {readonly string[]} [keyColumns] the key columns of the index, in order; they must be
 *   among the opened columns, because a page begins where the last one ended; the first column
 * @property {boolean} [unique] false: several rows may have the same key (its columns must then
 *   compare by bytes, like numbers and binary collations); true
 * @property {readonly Value[]} [from] first key, or a prefix of it; from the start of the index
 * @property {boolean} [after] exclude rows with exactly that key; false
 * @property {boolean} [descending] walk down; requires `from`
 * @property {number} [pageSize] rows per page, 1 to 1000000; 1000
 * @property {readonly import('./index-requests.js').Filter[]} [filters]
 * @property {AbortSignal} [signal]
 */

/**
 * @param {import('./open-index.js').OpenIndex} index
 * @param {ScanOptions} options
 * @returns {AsyncGenerator<Row, void, undefined>}
 */
export async function* scanRows(index, options) {
  const { pageSize = 1000, signal, unique = true, descending = false } = options;
  checkInteger('pageSize', pageSize, 1, 1_000_000);
  const places = keyPlaces(index.columns, options.keyColumns ?? [index.columns[0]]);
  if (descending && options.from === undefined) {
    throw argumentError('scan: a descending scan needs `from`, its first key');
  }
  // NULL sorts first, so from NULL is from the start.
  const from = options.from ?? places.map(() => null);
  const strict = descending ? '<' : '>';
  const { filters } = options;
  /** @type {{ op: any, key: readonly Value[], offset: number }} */
  let place = { op: options.after ? strict : `${strict}=`, key: from, offset: 0 };
  const ask = () => {
    const promise = index.find(place.op, place.key, {
      limit: pageSize,
      offset: place.offset,
      filters,
      signal,
    });
    // It may reject while a page is consumed; the error is thrown when the next page is needed.
    promise.catch(() => {});
    return promise;
  };
  for (let next = ask(); ; ) {
    const page = await next;
    const full = page.length === pageSize;
    if (full) {
      place = nextPlace(place, page, places, unique, strict);
      next = ask();
    }
    for (const row of page) {
      if (signal?.aborted) throw abortedError(signal, false);
      yield row;
    }
    if (!full) return;
  }
}

/**
 * @param {{ op: string, key: readonly Value[], offset: number }} place index of the page
 * @param {Row[]} page
 * @param {number[]} places positions of the key columns in a row
 * @param {boolean} unique
 * @param {string} strict
 */
function nextPlace(place, page, places, unique, strict) {
  const key = places.map((at) => page[page.length - 1][at]);
  if (unique) return { op: strict, key, offset: 0 };
  // Rows with this key that were already returned: those at the end of the page and, if the whole
  // page has this key, those skipped before it.
  let same = 1;
  while (same < page.length && isSameKey(page[page.length - 1 - same], key, places)) same += 1;
  const before = same === page.length && isSame(place.key, key) ? place.offset : 0;
  return { op: `${strict}=`, key, offset: same + before };
}

/**
 * @param {Row} row
 * @param {readonly Value[]} key
 * @param {number[]} places
 */
function isSameKey(row, key, places) {
  return isSame(
    places.map((at) => row[at]),
    key,
  );
}

/**
 * @param {readonly Value[]} a
 * @param {readonly Value[]} b
 * @returns {boolean}
 */
function isSame(a, b) {
  if (a.length !== b.length) return false;
  return a.every((value, i) => {
    const other = b[i];
    if (value instanceof Uint8Array && other instanceof Uint8Array) {
      return Buffer.compare(value, other) === 0;
    }
    return value === other;
  });
}

/**
 * @param {readonly string[]} columns
 * @param {readonly string[]} keyColumns
 * @returns {number[]}
 */
function keyPlaces(columns, keyColumns) {
  return keyColumns.map((column) => {
    const at = columns.indexOf(column);
    if (at >= 0) return at;
    throw argumentError(`scan: the index was opened without the key column ${column}`);
  });
}

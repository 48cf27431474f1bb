/** Redirections reported by the handles of a benchmark while it is measured. */

/** @typedef {import('../lib/types.js').RowsHandle} RowsHandle */

/**
 * @param {readonly import('../lib/types.js').Handle[]} handles handles of one benchmark
 * @returns {() => { redirects?: Record<string, number> }} redirections since this call, by kind;
 *   absent: the driver does not report them
 */
export function watchRedirects(handles) {
  const read = () =>
    addRedirects(handles.map((handle) => /** @type {RowsHandle} */ (handle).redirects?.()));
  const before = read();
  return () => {
    const after = read();
    if (before === undefined || after === undefined) return {};
    const since = Object.entries(after).map(([kind, count]) => [kind, count - (before[kind] ?? 0)]);
    return { redirects: Object.fromEntries(since) };
  };
}

/**
 * @param {readonly (Record<string, number> | undefined)[]} each
 * @returns {Record<string, number> | undefined} sums by kind; undefined: one is unknown
 */
export function addRedirects(each) {
  /** @type {Record<string, number>} */
  const sum = {};
  for (const counts of each) {
    if (counts === undefined) return undefined;
    for (const [kind, count] of Object.entries(counts)) sum[kind] = (sum[kind] ?? 0) + count;
  }
  return each.length === 0 ? undefined : sum;
}

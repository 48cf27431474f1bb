/** The help of a command: common options with descriptions, and the names of the others. */

/** @typedef {import('./options.js').OptionRow} OptionRow */

/** Commands with at most this many options show all of them. */
const FEW = 16;
const WIDTH = 80;
/** Long names of the common options, over all commands. */
const COMMON = new Set(
  [
    'workload storages servers against setup redis read-only table',
    'keys mix value-size ops duration in-flight rate find-max p99 processes',
    'precision budget rounds fail-if baseline save-baseline json',
    'core speed batch rows strategies variants protocols fixtures handlers tests lock-keys',
    'pipelined gnuplot counts cycles pipeline data-size keep-alive route proxy from to every metric',
  ]
    .join(' ')
    .split(' '),
);

/** @param {OptionRow} row @returns {string} `in-flight` */
export function longName({ flags }) {
  return /--([\w-]+)/.exec(flags)?.[1] ?? flags;
}

/**
 * @param {readonly OptionRow[]} rows rows of a command
 * @returns {readonly OptionRow[]} the rows described in its help
 */
export function commonOf(rows) {
  const shown = rows.filter(({ hidden }) => !hidden);
  return shown.length <= FEW ? shown : shown.filter((row) => COMMON.has(longName(row)));
}

/**
 * @param {readonly OptionRow[]} rows
 * @returns {string} flags of the remaining options
 */
export function moreText(rows) {
  const lines = [''];
  for (const { flags } of rows) {
    const last = lines[lines.length - 1];
    const next = last === '' ? `  ${flags}` : `${last}, ${flags}`;
    if (next.length < WIDTH) lines[lines.length - 1] = next;
    else lines.push(`  ${flags}`);
  }
  return `\nMore options (described by --help-all and in docs/options.md):\n${lines.join('\n')}`;
}

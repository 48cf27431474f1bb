/**
 * The closing sentences of a run, one per load: the fastest contender and those tied with it, the
 * highest rate within a limit, or the figure of a single contender. For every kind of run and every
 * format. Verdicts of comparisons are in verdict.js. Pure.
 */

import {
  formatCount,
  formatDuration,
  formatThroughput,
  formatWidth,
  plainText,
} from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { flightName } from '../lib/load-name.js';
import { sustainedOf } from '../stats/knee.js';
import { numberOf } from '../stats/metrics.js';
import { searchesByLimit } from './searches.js';
import { valueText } from './text.js';
import { busyText, verdictOf } from './verdict.js';

/** With more tables than this, leaders are only counted. */
const TABLES_NAMED = 3;

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/report-types.js').Table} Table */
/** @typedef {import('../lib/report-types.js').TableRow} TableRow */
/** @typedef {import('./analysis/rows.js').Group} Group */
/** @typedef {import('./analysis/rows.js').Row} Row */

/**
 * @param {Result} result
 * @param {readonly Group[]} groups
 * @param {readonly (readonly Table[])[]} others tables of variants by workload, or of ceilings
 * @returns {string[]} empty only if all have a reference
 */
export function closingLines({ benchmarks, searches = [] }, groups, others) {
  const several = new Set(groups.map(({ workload }) => workload)).size > 1;
  // Trials of a search are not rates requested by the user.
  const shown = groups.filter(({ load }) => load.kind !== 'rate' || searches.length === 0);
  const lines = [
    ...searchSentences(searches),
    ...shown.flatMap((group) =>
      sentencesOf(group).map((text) => (several ? `${plainText(group.workload)}: ${text}` : text)),
    ),
    ...others.flatMap(tableSentences),
  ];
  if (lines.length > 0 || shown.some(({ isAgainst }) => isAgainst)) return lines;
  return [
    benchmarks.some(({ rounds }) => rounds.length > 0)
      ? 'No figure to compare.'
      : 'Nothing was measured.',
  ];
}

/** @param {Group} group @returns {string[]} */
function sentencesOf({ load, rows, comparison, isAgainst }) {
  const others = rows.filter(({ kind }) => kind !== 'overhead');
  // A run with nothing else reports the harness overhead.
  const contenders = others.length === 0 ? rows.slice(0, 1) : others;
  if (load.kind === 'rate') return [openSentence(contenders)];
  const where = flightName(load);
  const sound = contenders.filter(
    ({ throughput, wrong, state }) =>
      (throughput?.value ?? 0) > 0 && wrong === 0 && state !== 'failed',
  );
  if (sound.length === 0) return [`No figure without failures or wrong replies, ${where}.`];
  const hasServer = sound.some(({ kind }) => kind === 'server');
  const [first, ...slower] = hasServer ? sound.filter(({ kind }) => kind === 'server') : sound;
  if (slower.length === 0) return [`${plainText(first.label)}, ${where}: ${figureText(first)}.`];
  if (comparison === null) return [];
  // With a reference none is the fastest; pairs.js has the sentences.
  if (!isAgainst) return verdictOf(comparison);
  return comparison.standings.isBusy ? [busyText('compare speeds', comparison)] : [];
}

/** @param {Row} row @returns {string} `17,201 ops/s ± 1.4 %` */
function figureText({ throughput }) {
  const { value = null, spread = null } = throughput ?? {};
  return `${formatThroughput(value)} ops/s${formatWidth(spread, value ?? 0, formatThroughput)}`;
}

/**
 * @param {readonly Row[]} rows rows of an open loop: one per storage and rate
 * @returns {string} the highest sustained rate per storage
 */
function openSentence(rows) {
  const storages = [...new Set(rows.map(({ label }) => label))].map((label) => {
    const own = rows.filter((row) => row.label === label);
    const rate = sustainedOf(own.map(stepOf));
    const at = own.find(({ source }) => source.load.rate === rate);
    return { label: plainText(label), rate, p99Ns: at?.latency?.p99Ns ?? null };
  });
  const isRamp = new Set(rows.map(({ source }) => source.load.rate)).size > 1;
  const kept = storages
    .filter(({ rate }) => rate !== null)
    .sort((a, b) => Number(b.rate) - Number(a.rate) || Number(a.p99Ns) - Number(b.p99Ns))
    .map(({ label, rate, p99Ns }) => {
      const p99 = `p99 ${formatDuration(p99Ns)}`;
      return isRamp ? `${label} ${formatThroughput(rate)}/s (${p99})` : `${label}, ${p99}`;
    });
  const not = storages.filter(({ rate }) => rate === null).map(({ label }) => label);
  const what = isRamp
    ? 'Highest rate sustained'
    : `Sustained ${formatThroughput(rows[0].source.load.rate ?? null)}/s`;
  if (kept.length === 0) kept.push('none');
  if (not.length > 0) kept.push(`not sustained: ${not.join(', ')}`);
  return `${what}: ${kept.join('; ')}.`;
}

/** @param {Row} row @returns {import('../stats/knee.js').Step} */
function stepOf({ source, throughput, open, latency, state }) {
  return {
    offered: source.load.rate ?? 0,
    achieved: state === 'failed' ? 0 : (throughput?.value ?? 0),
    dropped: open === null || open.offered === 0 ? 0 : open.dropped / open.offered,
    p99Ns: latency?.p99Ns ?? null,
  };
}

/**
 * @param {NonNullable<Result['searches']>} searches
 * @returns {string[]} one per limit
 */
function searchSentences(searches) {
  return searchesByLimit(searches).map(([title, own]) => {
    const parts = own.map((search) => {
      const name = plainText(labelOf(search));
      if (search.rate === null) return `${name} none`;
      const remark = search.confirmed ? '' : ' (not confirmed)';
      return `${name} ${formatThroughput(search.rate)} ops/s${remark}`;
    });
    return `${title}: ${parts.join('; ')}.`;
  });
}

/**
 * Tables of variants, or of ceilings; only those of the first kind are compared.
 * @param {readonly Table[]} tables tables of a workload
 * @returns {string[]} the leader of each table, or the number of tables led
 */
function tableSentences(tables) {
  const keysOf = (/** @type {Table} */ { columns }) => columns.map(({ key }) => key).join();
  const contests = tables
    .filter((table) => keysOf(table) === keysOf(tables[0]))
    .flatMap((table) => {
      const leader = leaderOf(table);
      return leader === null ? [] : [{ ...leader, title: table.title }];
    });
  if (contests.length <= TABLES_NAMED) {
    return contests.map(({ what, title, name, tied, figure }) => {
      const others = tied.length === 0 ? '' : `; not separated: ${tied.join(', ')}`;
      return `${what}, ${title.replace(/[;:](?! \d+$).*/, '')}: ${name}, ${figure}${others}.`;
    });
  }
  /** @type {Map<string, number>} */
  const wins = new Map();
  for (const { name } of contests) wins.set(name, (wins.get(name) ?? 0) + 1);
  const sorted = [...wins].sort(([, a], [, b]) => b - a);
  const parts = sorted.map(([name, n]) => `${name} in ${formatCount(n)}`);
  return [`${contests[0].what} of ${formatCount(contests.length)} tables: ${parts.join(', ')}.`];
}

/**
 * @param {Table} table
 * @returns {{ what: string, name: string, figure: string, tied: string[] } | null} the row with the
 *   highest rate, or the lowest time or amount; null: no figure
 */
function leaderOf({ columns, rows }) {
  const rate = columns.find(({ better, unit }) => better === 'more' && unit.endsWith('/s'));
  const column = rate ?? columns.find(({ better }) => better === 'less');
  if (column === undefined) return null;
  const figureIn = (/** @type {TableRow} */ { values }) => numberOf(values[column.key]) ?? 0;
  const rankOf = (/** @type {TableRow} */ { values: { rank } }) =>
    rank !== undefined && 'value' in rank ? rank : null;
  // In a table with ranks, a row without one is not a contender.
  const isRanked = rows.some((row) => rankOf(row) !== null);
  const sound = rows.filter(
    (row) => row.mark !== 'wrong' && figureIn(row) > 0 && (!isRanked || rankOf(row) !== null),
  );
  if (sound.length === 0) return null;
  const sign = rate === undefined ? -1 : 1;
  const leader = sound.reduce((best, row) =>
    sign * figureIn(row) > sign * figureIn(best) ? row : best,
  );
  const worst = rankOf(leader)?.high ?? 0;
  const tied = sound.filter((row) => row !== leader && (rankOf(row)?.low ?? Infinity) <= worst);
  const nameOf = (/** @type {TableRow} */ { keys }) =>
    columns
      .filter(({ role, key }) => role === 'key' && keys[key] !== null)
      .map(({ key, name }) => (typeof keys[key] === 'number' ? `${keys[key]} ${name}` : keys[key]))
      .map((text) => plainText(String(text)))
      .join(', ');
  const figure = valueText({ ...column, shows: [] }, leader.values[column.key]);
  const what = rate === undefined ? `Lowest ${column.name}` : `Highest ${column.name}`;
  return { what, name: nameOf(leader), figure, tied: tied.map(nameOf) };
}

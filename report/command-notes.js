/**
 * What is to be said of the command list beside its tables: what was refused and in which words,
 * what the proxy answered by itself, and what the figures mean.
 */

import { plainText } from '../lib/format.js';
import { refusalOf, toCommandGroups } from './analysis/commands.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/report-types.js').Item} Item */

/**
 * @param {Result} result
 * @returns {import('../lib/report-types.js').List}
 */
export function refusedList({ benchmarks }) {
  /** @type {Map<string, string[]>} words to what they were said of */
  const said = new Map();
  for (const benchmark of benchmarks) {
    const words = refusalOf(benchmark);
    if (words === null) continue;
    const { test, way } = /** @type {Record<string, unknown>} */ (benchmark.parameters ?? {});
    const key = JSON.stringify([`${test}, ${way}`, words]);
    said.set(key, [...(said.get(key) ?? []), benchmark.id]);
  }
  /** @type {Item[]} */
  const items = [...said].map(([key, ids]) => {
    const [subject, words] = JSON.parse(key);
    const text = plainText(
      `${words} (${ids.length} ${ids.length === 1 ? 'benchmark' : 'benchmarks'})`,
    );
    return { subject: plainText(subject), text, hint: null, untrusted: true };
  });
  return { kind: 'skipped', title: 'Refused, and not counted as operations', items };
}

/**
 * @param {Result} result
 * @returns {string[]} what Redis never saw
 */
export function commandNotes(result) {
  const own = toCommandGroups(result).flatMap(({ tests }) =>
    tests.flatMap(({ test, figures }) =>
      figures.some((figure) => figure?.perSecond && figure.reached === 0) ? [test] : [],
    ),
  );
  const names = [...new Set(own)];
  const silent =
    names.length === 0
      ? []
      : [`answered by the proxy itself, Redis has seen none of them: ${names.join(', ')}`];
  return [...silent, ...baselineFailures(result)].map(plainText);
}

/**
 * @param {Result} result
 * @returns {string[]} where redis-benchmark gave no figures, in its own words
 */
function baselineFailures(result) {
  const failed = toCommandGroups(result).flatMap(({ tests }) =>
    tests.flatMap(({ test, figures }) =>
      figures.flatMap((figure) => {
        if (figure === null || figure.state === 'refused') return [];
        const { baselineFailure, benchmark } = figure;
        const { way, transport } = /** @type {Record<string, unknown>} */ (benchmark.parameters);
        return baselineFailure === null
          ? []
          : [`redis-benchmark, ${test}, ${way} ${transport}: ${baselineFailure}`];
      }),
    ),
  );
  return [...new Set(failed)];
}

/**
 * @param {Result} result
 * @returns {string[]} what the figures mean
 */
export function commandLegend(result) {
  if (toCommandGroups(result).length === 0) return [];
  return [
    'ops/s: right answers a second, median of the rounds. Ratios: pairs of one round, geometric ' +
      'mean ± its 95 % interval (from two rounds on). With a connection for each request an ' +
      'operation is connecting, the command and closing; connect and command are medians of the ' +
      'parts. redis-benchmark: the same connections, requests, keys and values right after each ' +
      'test; its latency leaves connecting out. CPU: for each right answer.',
    'LRANGE_500 reads 450 elements, as redis-benchmark does; LPUSH_LRANGE is its LPUSH that fills ' +
      'the list of LRANGE; MSET sets 10 keys.',
  ];
}

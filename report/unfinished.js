/**
 * The unfinished round in blocks of a killed or aborted run, as a list beside the tables, with the
 * throughput of each contender. It is not part of any estimate. Pure.
 */

import { formatCount, formatThroughput, plainText } from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { flightName } from '../lib/load-name.js';
import { medianOfAll } from '../stats/metrics.js';

/** @typedef {import('../lib/comparison.js').StoredComparison} StoredComparison */
/** @typedef {import('../lib/report-types.js').Item} Item */
/** @typedef {import('../lib/report-types.js').List} List */
/** @typedef {NonNullable<StoredComparison['unfinished']>['loads'][number][number]} Contender */

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {List} one item per load; empty if every round was finished
 */
export function unfinishedList({ benchmarks, comparison }) {
  const { unfinished, loads = [] } = comparison ?? {};
  if (unfinished === undefined) return abortedList(benchmarks, comparison?.blocks.length);
  const { round, blocks } = unfinished;
  const items = unfinished.loads.flatMap((contenders, i) => {
    const texts = contenders.flatMap(speedOf);
    if (texts.length === 0 || loads[i] === undefined) return [];
    const { workload, parameters = {}, ...shape } = loads[i];
    const of = [workload, ...Object.values(parameters), flightName(shape)];
    const subject = plainText(of.filter((one) => one !== undefined).join(', '));
    return [{ subject, text: `${texts.join(', ')} ops/s`, hint: null, untrusted: true }];
  });
  const counted = `${formatCount(blocks)} ${blocks === 1 ? 'block' : 'blocks'}`;
  const title = `Round ${round + 1}, not finished (${counted}, not in the tables)`;
  return { kind: 'skipped', title, items };
}

/**
 * @param {import('../lib/result.js').Benchmark[]} benchmarks
 * @param {number | undefined} done complete rounds in blocks; undefined: not in blocks
 * @returns {List}
 */
function abortedList(benchmarks, done) {
  /** @type {Map<string, string[]>} */
  const speeds = new Map();
  for (const benchmark of benchmarks) {
    const round = benchmark.rounds.at(-1);
    if (round?.state !== 'aborted' || round.round !== done || round.outcomes.ok === 0) continue;
    const { load, parameters = {} } = benchmark;
    const of = [...Object.values(parameters), flightName(load)];
    const subject = plainText(of.join(', '));
    const text = plainText(`${labelOf(benchmark)} ${formatThroughput(round.throughput)}`);
    speeds.set(subject, [...(speeds.get(subject) ?? []), text]);
  }
  const items = [...speeds].map(([subject, texts]) => {
    return { subject, text: `${texts.join(', ')} ops/s`, hint: null, untrusted: true };
  });
  const title = `Round ${(done ?? 0) + 1}, unfinished (excluded from all estimates)`;
  return { kind: 'skipped', title, items };
}

/**
 * @param {Contender} contender
 * @returns {string[]} `ioredis 45.9 k`
 */
function speedOf({ name, timePs, invalid }) {
  const times = timePs.filter((time) => time !== null && time > 0);
  const wrong = invalid > 0 ? ` (${formatCount(invalid)} segments with failures)` : '';
  if (times.length === 0) return wrong === '' ? [] : [plainText(`${name}${wrong}`)];
  const speed = formatThroughput(1e12 / Number(medianOfAll(times)));
  return [plainText(`${name} ${speed}${wrong}`)];
}

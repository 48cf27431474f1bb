/** What races against forks came to (bench/forks.js): their order, a line per race, one table. Pure. */

import { formatRatio, NONE } from '../lib/format.js';

/** @typedef {import('../lib/gate.js').GateResult} GateResult */

/**
 * @typedef {object} ForkRace
 * @property {string} name of the case: `5%`
 * @property {number} number of the race in its case, from 1
 * @property {number} status of the command
 * @property {number} seconds
 * @property {number} load average before it
 * @property {GateResult[]} gates
 */

/**
 * So that races that no time is left for are missing in every case alike.
 * @param {Readonly<Record<string, number>>} counts of races by case
 * @returns {{ name: string, number: number }[]} mixed, each case spread over the whole
 */
export function orderOf(counts) {
  return Object.entries(counts)
    .flatMap(([name, count]) =>
      Array.from({ length: count }, (_, i) => ({ name, number: i + 1, at: (i + 0.5) / count })),
    )
    .sort((a, b) => a.at - b.at)
    .map(({ name, number }) => ({ name, number }));
}

/**
 * @param {ForkRace} race
 * @returns {'exit 6' | 'passed' | 'undecided' | 'other'}
 */
export function outcomeOf({ status, gates }) {
  if (status === 6) return 'exit 6';
  if (status !== 0 || gates.length === 0) return 'other';
  return gates.every(({ outcome }) => outcome === 'passed') ? 'passed' : 'undecided';
}

/** @param {ForkRace} race @returns {string} one line */
export function raceLine(race) {
  const { name, number, seconds, load, gates } = race;
  const parts = gates.map(({ gate, outcome, value, low, high, n, roundsNeeded }) => {
    const range = value === null ? NONE : `${value.toFixed(3)} (${texts([low, high]).join('–')})`;
    const more = roundsNeeded === null ? '' : `, ${roundsNeeded} would decide`;
    return `${gate} ${outcome}: ${range}, n ${n}${more}`;
  });
  const head = `${name} ${number}: ${outcomeOf(race)}, ${seconds.toFixed(0)} s, load ${load.toFixed(1)}`;
  return [head, ...parts].join('; ');
}

/** @param {readonly (number | null)[]} values */
function texts(values) {
  return values.map((value) => (value === null ? NONE : value.toFixed(3)));
}

/**
 * @param {readonly ForkRace[]} races
 * @returns {string} markdown: a row per case; of each metric the median of the values, the least
 *   and the greatest, and the median half-width of the intervals
 */
export function tableOf(races) {
  const names = [...new Set(races.map(({ name }) => name))];
  const gates = [...new Set(races.flatMap((race) => race.gates.map(({ gate }) => gate)))];
  const head = ['fork', 'races', 'exit 6', 'passed', 'undecided', 'other'];
  const columns = [...head, ...gates.map((gate) => `${gate}: ratio`), 'seconds', 'load'];
  const rows = names.map((name) => {
    const own = races.filter((race) => race.name === name);
    const count = (/** @type {string} */ outcome) =>
      String(own.filter((race) => outcomeOf(race) === outcome).length);
    return [
      ...[name, String(own.length), ...head.slice(2).map(count)],
      ...gates.map((gate) => ratiosOf(own, gate)),
      spread(own.map(({ seconds }) => seconds).map(Math.round)),
      spread(own.map(({ load }) => Number(load.toFixed(1)))),
    ];
  });
  const rule = columns.map((_, i) => (i === 0 ? '---' : '---:'));
  return [columns, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/**
 * @param {readonly ForkRace[]} races
 * @param {string} gate
 */
function ratiosOf(races, gate) {
  const known = races.flatMap((race) => race.gates.filter((one) => one.gate === gate));
  const values = known.flatMap(({ value }) => value ?? []);
  if (values.length === 0) return NONE;
  const halves = known.flatMap(({ low, high }) =>
    low === null || high === null ? [] : Math.sqrt(high / low) - 1,
  );
  const [least, most] = [Math.min(...values), Math.max(...values)].map((one) => one.toFixed(3));
  const half = (median(halves) * 100).toFixed(1);
  return `${formatRatio(median(values))} (${least}–${most}), ± ${half} %`;
}

/** @param {readonly number[]} values */
function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/** @param {readonly number[]} values @returns {string} median and range */
function spread(values) {
  return `${Number(median(values).toFixed(1))} (${Math.min(...values)}–${Math.max(...values)})`;
}

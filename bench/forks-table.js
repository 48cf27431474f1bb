/** Results of races against forks (bench/forks.js): order, a line per race, one table. Pure. */

import { formatRatio, NONE } from '../lib/format.js';

/** @typedef {import('../lib/gate.js').GateResult} GateResult */

/**
 * @typedef {object} ForkRace
 * @property {string} name name of the case: `5%`
 * @property {number} number index of the race in its case, from 1
 * @property {number} status exit status of the command
 * @property {number} seconds duration of the command
 * @property {number | null} spent time to decision: seconds of its rounds; null: no result
 * @property {number} rounds
 * @property {number} load load average before it
 * @property {GateResult[]} gates
 */

/**
 * So that missing races at the end are spread evenly over the cases.
 * @param {Readonly<Record<string, number>>} counts number of races by case
 * @returns {{ name: string, number: number }[]} mixed, with each case evenly distributed
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
  const { name, number, spent, rounds, load, gates } = race;
  const parts = gates.map(({ gate, outcome, value, low, high, n, roundsNeeded }) => {
    const range = value === null ? NONE : `${value.toFixed(3)} (${texts([low, high]).join('–')})`;
    const more = roundsNeeded === null ? '' : `, ${roundsNeeded} would decide`;
    return `${gate} ${outcome}: ${range}, n ${n}${more}`;
  });
  const took = `${spent?.toFixed(1) ?? NONE} s, ${rounds} rounds`;
  const head = `${name} ${number}: ${outcomeOf(race)}, ${took}, load ${load.toFixed(1)}`;
  return [head, ...parts].join('; ');
}

/** @param {readonly (number | null)[]} values */
function texts(values) {
  return values.map((value) => (value === null ? NONE : value.toFixed(3)));
}

/**
 * @param {readonly ForkRace[]} races
 * @returns {string} markdown: a row per case; per metric the median, minimum and maximum of the
 *   values, and the median half-width of the intervals
 */
export function tableOf(races) {
  const names = [...new Set(races.map(({ name }) => name))];
  const gates = [...new Set(races.flatMap((race) => race.gates.map(({ gate }) => gate)))];
  const head = ['fork', 'races', 'exit 6', 'passed', 'undecided', 'other'];
  const ratios = gates.map((gate) => `${gate}: ratio`);
  const columns = [...head, ...ratios, 'seconds to decision', 'rounds', 'load'];
  const rows = names.map((name) => {
    const own = races.filter((race) => race.name === name);
    const count = (/** @type {string} */ outcome) =>
      String(own.filter((race) => outcomeOf(race) === outcome).length);
    return [
      ...[name, String(own.length), ...head.slice(2).map(count)],
      ...gates.map((gate) => ratiosOf(own, gate)),
      spread(own.flatMap(({ spent }) => spent ?? []).map((one) => Number(one.toFixed(1)))),
      spread(own.map(({ rounds }) => rounds)),
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
  if (values.length === 0) return NONE;
  return `${Number(median(values).toFixed(1))} (${Math.min(...values)}–${Math.max(...values)})`;
}

/** Order, lines and table of races against forks (bench/forks.js). */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderOf, outcomeOf, raceLine, tableOf } from '../../bench/forks-table.js';

/**
 * @param {string} outcome
 * @param {number | null} value
 * @returns {any}
 */
function gate(outcome, value) {
  return {
    gate: 'throughput<0.98',
    outcome,
    value,
    n: 12,
    low: value && value / 1.01,
    high: value && value * 1.01,
    roundsNeeded: outcome === 'undecided' ? 30 : null,
  };
}

/** @param {Partial<import('../../bench/forks-table.js').ForkRace>} fields @returns {any} */
const race = (fields) => ({
  name: '5 %',
  number: 1,
  status: 0,
  seconds: 41.2,
  spent: 38.24,
  rounds: 9,
  load: 0.52,
  ...fields,
});

test('races of all cases are mixed, so that those missing at the end are of every case', () => {
  const order = orderOf({ equal: 4, '5 %': 2, '2 %': 0 });
  const names = order.map(({ name, number }) => `${name} ${number}`);
  assert.deepEqual(names, ['equal 1', '5 % 1', 'equal 2', 'equal 3', '5 % 2', 'equal 4']);
});

test('a race passes only if every gate passed; without gates it is undecided', () => {
  assert.equal(outcomeOf(race({ status: 6, gates: [gate('failed', 0.95)] })), 'exit 6');
  assert.equal(outcomeOf(race({ gates: [gate('passed', 1), gate('passed', 1)] })), 'passed');
  assert.equal(outcomeOf(race({ gates: [gate('passed', 1), gate('undecided', 1)] })), 'undecided');
  assert.equal(outcomeOf(race({ gates: [] })), 'other');
  assert.equal(outcomeOf(race({ status: 4, gates: [gate('passed', 1)] })), 'other');
});

test('a line has every gate with its interval, the table a row per fork', () => {
  const races = [
    race({ name: 'equal', status: 0, gates: [gate('passed', 1.001)] }),
    race({ status: 6, gates: [gate('failed', 0.951)] }),
    race({ number: 2, spent: 20, rounds: 4, gates: [gate('undecided', 0.961)] }),
    race({ number: 3, status: 4, gates: [gate('undecided', null)] }),
  ];
  assert.equal(
    raceLine(races[2]),
    '5 % 2: undecided, 20.0 s, 4 rounds, load 0.5; ' +
      'throughput<0.98 undecided: 0.961 (0.951–0.971), n 12, 30 would decide',
  );
  assert.match(raceLine(races[3]), /undecided: –, n 12/);
  const [, , equal, five, ...more] = tableOf(races).split('\n');
  assert.match(
    equal,
    /^\| equal \| 1 \| 0 \| 1 \| 0 \| 0 \| 1\.00× \(1\.001–1\.001\), ± 1\.0 % \|/,
  );
  assert.match(
    five,
    /^\| 5 % \| 3 \| 1 \| 0 \| 1 \| 1 \| 0\.96× \(0\.951–0\.961\), ± 1\.0 % \| 38\.2 \(20–38\.2\) \| 9 \(4–9\) \|/,
  );
  assert.deepEqual(more, []);
});

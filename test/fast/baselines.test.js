/** Named results: saved, compared with a later run, and gates that refer to them. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Baseline } from '../../cli/baselines.js';
import { parseGate } from '../../lib/gate.js';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure } from '../helpers/command-line.js';
import { benchmark, buildResult, measuredRound, SYNC } from '../helpers/result-builder.js';
import { withSlices } from '../helpers/slices.js';

const { callHere, file, textOf } = withCommands();

const RACE = [
  ...['race', '--storages', 'memory', '--ops', '200', '--rounds', '2'],
  ...['--warmup', '0', '--rows', '50', '--quiet', '--no-html', '--force', '--json', 'r.json'],
];

test('a saved result is compared with a later run; whole loads get no verdict', async () => {
  const missing = await callHere(...RACE, '--baseline', 'main');
  assertFailure(missing, 2, /--baseline main: unknown baseline.*--save-baseline main/);
  const wrong = await callHere(...RACE, '--save-baseline', '../x');
  assertFailure(wrong, 2, /--save-baseline "\.\.\/x": not a name/);
  const saved = await callHere(...RACE, '--save-baseline', 'main');
  assert.equal(saved.status, 0, saved.stderr);
  assert.match(saved.stdout, /\nbaseline: main\n/);
  const gates = ['--fail-if', 'throughput<0.5', '--fail-if', 'p50>10s'];
  const compared = await callHere(...RACE, '--baseline', 'main', ...gates);
  assert.equal(compared.status, 0, compared.stderr);
  assert.match(compared.stdout, /passed: p50>10s, memory/, 'a limit by itself is this run’s');
  assert.match(compared.stdout, /undecided: throughput<0\.5, .* of baseline main: no verdict/);
  const cpu = await callHere(...RACE, '--baseline', 'main', '--fail-if', 'memory>1.1');
  assertFailure(cpu, 2, /against a baseline only throughput is compared/);
});

test('a modified saved result is not compared', async () => {
  const saved = await callHere(...RACE, '--save-baseline', 'changed');
  assert.equal(saved.status, 0, saved.stderr);
  const name = 'state/baselines/changed.json';
  const text = textOf(name);
  const { cpu } = JSON.parse(text).environment;
  writeFileSync(file(name), text.replace(JSON.stringify(cpu), JSON.stringify(`${cpu}!`)));
  const refused = await callHere(...RACE, '--baseline', 'changed');
  assertFailure(refused, 2, /its digest differs; save it again: .* --save-baseline changed/);
  const { digest: _, ...unsealed } = JSON.parse(text);
  writeFileSync(file(name), JSON.stringify(unsealed));
  const bare = await callHere(...RACE, '--baseline', 'changed');
  assertFailure(bare, 2, /it has no digest, .*; save it again: .* --save-baseline changed/);
});

/** @param {number} speed @param {number} [rows] */
function runOf(speed, rows = 100) {
  const rounds = Array.from({ length: 8 }, (_, i) =>
    measuredRound(i, SYNC, { throughput: speed * (1 + 0.002 * Math.sin(3 * i)) }),
  );
  const result = buildResult({
    benchmarks: [benchmark({ storage: 'ioredis', load: SYNC, rounds })],
  });
  return withSlices({ ...result, dataset: { ...result.dataset, rows } });
}

test('with a reference in both runs a slower one fails, under different conditions none', async () => {
  const verdictOf = async (/** @type {any} */ result) => {
    const stored = { name: 'main', result: runOf(50_000) };
    const baseline = new Baseline({ stored, own: [parseGate('throughput<0.95')] });
    let text = '';
    const write = (/** @type {string} */ part) => {
      text += part;
    };
    await baseline.print(result, /** @type {any} */ ({ isTTY: false, write }));
    return { text, status: baseline.status() };
  };
  const slower = await verdictOf(runOf(40_000));
  assert.match(slower.text, /failed: throughput<0\.95, ioredis.* of baseline main: 0\.8/);
  assert.equal(slower.status, 6);
  const equal = await verdictOf(runOf(50_000));
  assert.match(equal.text, /passed: throughput<0\.95/);
  assert.equal(equal.status, 0);
  const other = await verdictOf(runOf(40_000, 500));
  assert.match(other.text, /rows/);
  assert.match(other.text, /undecided: .*different conditions, see above/);
  assert.equal(other.status, 0);
});

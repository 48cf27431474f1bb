/** Names of failures, and the exit status of a result. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showRun } from '../../cli/run-progress.js';
import { statusOf } from '../../cli/status.js';
import { slowBursts } from '../../engine/benchmarks.js';
import { diagnosticWarnings } from '../../engine/diagnostics.js';
import { LOST } from '../../engine/lost-servers.js';
import { codeOfError } from '../../lib/error-code.js';
import { TIMEOUT } from '../../lib/outcome.js';
import { outcomeOfError, Recorder } from '../../load/recorder.js';
import { loadStorage } from '../../storages/index.js';
import { raceResult } from '../helpers/result-builder.js';

class TimeoutError extends Error {}
class SimpleError extends Error {}
class ReplyError extends Error {
  get name() {
    return 'ReplyError';
  }
}

test('an error is identified by its code, the code of the server, or its class', () => {
  const cases = /** @type {const} */ ([
    [Object.assign(new Error('x'), { code: 'ECONNRESET' }), 'ECONNRESET'],
    [Object.assign(new Error('x'), { code: 1040 }), '1040'],
    [new ReplyError("OOM command not allowed when used memory > 'maxmemory'."), 'OOM'],
    [new SimpleError("READONLY You can't write against a read only replica."), 'READONLY'],
    [new ReplyError('LOADING Redis is loading the dataset in memory'), 'LOADING'],
    [new ReplyError('lower case'), 'ReplyError'],
    [new TimeoutError('Timeout'), 'TimeoutError'],
    [new TypeError('NOT A code of a server'), 'TypeError'],
    ['a text', null],
    [null, null],
  ]);
  for (const [error, code] of cases) assert.equal(codeOfError(error), code, String(error));
  assert.equal(outcomeOfError(new TimeoutError('by its class')), TIMEOUT);
});

test('a sample of a failure has that identifier', () => {
  const recorder = new Recorder(0);
  recorder.wrong(4, 0, new ReplyError('OOM command not allowed'));
  assert.equal(recorder.samples[0].code, 'OOM');
});

test('a driver’s own time limit causes a warning with a hint', () => {
  const result = raceResult();
  const [benchmark] = result.benchmarks;
  Object.assign(benchmark, { storage: 'redis', profile: 'default' });
  benchmark.load.kind = 'burst';
  const [round] = benchmark.rounds;
  round.outcomes.timeout = 7;
  round.samples = [{ outcome: 'timeout', operation: 3, code: 'TimeoutError', message: '' }];
  const warnings = diagnosticWarnings(result).filter(({ code }) => code === 'W_DRIVER_TIMEOUT');
  assert.equal(warnings.length, 1);
  assert.match(warnings[0].message, /own time limit per request rejected 7 requests/);
  assert.match(String(warnings[0].hint), /redis:tuned/);
  for (const storage of ['valkey-glide', 'valkey-glide-cluster']) {
    benchmark.storage = storage;
    round.samples[0].code = 'ETIMEDOUT';
    const [warning] = diagnosticWarnings(result).filter(({ code }) => code === 'W_DRIVER_TIMEOUT');
    assert.match(String(warning?.hint), /use a longer --timeout, --in-flight K/);
  }
  round.samples = [{ outcome: 'timeout', operation: 3, code: 'NO_REPLY', message: '' }];
  assert.ok(!diagnosticWarnings(result).some(({ code }) => code === 'W_DRIVER_TIMEOUT'));
});

test('a burst of minutes is announced before the run, with its duration', async () => {
  const definition = await loadStorage('node-handlersocket');
  const target = /** @type {any} */ ({ definition, profile: 'default' });
  const benchmarkOf = (/** @type {number} */ operations, /** @type {any} */ load) =>
    /** @type {any} */ ({
      id: 'x',
      storage: definition.name,
      profile: 'default',
      state: 'planned',
      load: { kind: 'burst', operations, ...load },
    });
  const [warning] = slowBursts([benchmarkOf(500_000, {})], [target]);
  assert.equal(warning.code, 'W_SLOW_BURST');
  assert.match(warning.message, /^node-handlersocket: a burst of 500,000 takes about 1 min 58 s/);
  const brief = [benchmarkOf(50_000, {}), benchmarkOf(500_000, { kind: 'window' })];
  assert.deepEqual(slowBursts([...brief, benchmarkOf(500_000, { processes: 10 })], [target]), []);
  /** @type {string[]} */
  const lines = [];
  const progress = /** @type {any} */ ({
    show: () => {},
    done: (/** @type {any} */ line) => lines.push(line),
  });
  const stream = /** @type {any} */ ({ write: assert.fail });
  const result = Object.assign(raceResult(), { warnings: [warning] });
  const plan = /** @type {any} */ ({ findMax: null, rounds: 1, loads: [] });
  showRun({ stdout: stream, stderr: stream, progress })({ type: 'planned', result, plan });
  assert.deepEqual(lines, [`${warning.message}; ${warning.hint}`]);
});

test('the exit status is 4 if a server was lost or absent, 5 for a wrong reply', () => {
  const result = raceResult();
  for (const { rounds } of result.benchmarks) {
    for (const { outcomes } of rounds) {
      Object.assign(outcomes, { miss: 0, mismatch: 0, error: 0, timeout: 0, unsent: 0 });
    }
  }
  for (const benchmark of result.benchmarks) benchmark.state = 'measured';
  assert.equal(statusOf(result), 0);
  const lost = structuredClone(result);
  lost.warnings.push({ code: LOST, message: '', hint: null, benchmark: null });
  lost.benchmarks[0].state = 'failed';
  assert.equal(statusOf(lost), 4);
  lost.benchmarks[0].rounds[0].outcomes.mismatch = 1;
  assert.equal(statusOf(lost), 5);
  const none = structuredClone(result);
  const served = none.storages.filter(({ server }) => server !== null);
  assert.ok(served.length > 0);
  for (const benchmark of none.benchmarks) {
    if (!served.some(({ name }) => name === benchmark.storage)) continue;
    Object.assign(benchmark, { state: 'skipped', rounds: [] });
  }
  assert.equal(statusOf(none), 4, 'an embedded storage alone does not make up for it');
});

test('the exit status is 5 if a lost agent ended the run, whatever was measured before', () => {
  const complete = raceResult();
  for (const benchmark of complete.benchmarks) benchmark.state = 'measured';
  const fleetOf = (/** @type {string} */ onLoss) =>
    /** @type {any} */ ({ onLoss, lost: { agent: 'b', reason: 'no sign of life' } });
  const ended = (onLoss = 'invalid') =>
    structuredClone({
      ...complete,
      state: /** @type {const} */ ('aborted'),
      fleet: fleetOf(onLoss),
    });
  assert.equal(statusOf(ended()), 5, 'a further round is missing');
  assert.equal(statusOf(ended('truncate')), 0, 'what was measured is kept');
  for (const onLoss of ['invalid', 'truncate']) {
    const none = ended(onLoss);
    for (const benchmark of none.benchmarks) {
      Object.assign(benchmark, { state: 'aborted', rounds: [] });
    }
    assert.equal(statusOf(none), 5, onLoss);
  }
  const after = { ...complete, fleet: fleetOf('invalid') };
  assert.equal(statusOf(after), 0, 'it was lost when all was measured');
});

/** What failures are called, and which exit status a result stands for. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusOf } from '../../cli/status.js';
import { diagnosticWarnings } from '../../engine/diagnostics.js';
import { LOST } from '../../engine/lost-servers.js';
import { codeOfError } from '../../lib/error-code.js';
import { TIMEOUT } from '../../lib/outcome.js';
import { outcomeOfError, Recorder } from '../../load/recorder.js';
import { raceResult } from '../helpers/result-builder.js';

class TimeoutError extends Error {}
class SimpleError extends Error {}
class ReplyError extends Error {
  get name() {
    return 'ReplyError';
  }
}

test('an error is named by its code, the code of the server, or its class', () => {
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

test('a sample of a failure has that name', () => {
  const recorder = new Recorder(0);
  recorder.wrong(4, 0, new ReplyError('OOM command not allowed'));
  assert.equal(recorder.samples[0].code, 'OOM');
});

test('a time limit of the driver itself is a warning with a hint', () => {
  const result = raceResult();
  const [benchmark] = result.benchmarks;
  Object.assign(benchmark, { storage: 'redis', profile: 'default' });
  benchmark.load.kind = 'burst';
  const [round] = benchmark.rounds;
  round.outcomes.timeout = 7;
  round.samples = [{ outcome: 'timeout', operation: 3, code: 'TimeoutError', message: '' }];
  const found = diagnosticWarnings(result).filter(({ code }) => code === 'W_DRIVER_TIMEOUT');
  assert.equal(found.length, 1);
  assert.match(found[0].message, /own time limit per request rejected 7 requests/);
  assert.match(String(found[0].hint), /redis:tuned/);
  round.samples = [{ outcome: 'timeout', operation: 3, code: 'NO_REPLY', message: '' }];
  assert.ok(!diagnosticWarnings(result).some(({ code }) => code === 'W_DRIVER_TIMEOUT'));
});

test('the exit status is 4 where a server was lost or none was there, 5 for a wrong reply', () => {
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

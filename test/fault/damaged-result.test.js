/**
 * A stored result that was damaged is not believed: every truncation and every flipped bit is
 * found, or the file still means the same. One that was changed by hand is read with --trust, and
 * says so.
 */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { openStore } from '../../cli/storage.js';
import { parseResult } from '../../lib/parse-result.js';
import { assertFailure, callCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { benchmark, buildResult, rounds, SYNC } from '../helpers/result-builder.js';

const folder = withFolder();
const file = join(folder, 'result.json');
/** @type {Buffer} */
let bytes;

before(async () => {
  // One of everything that a result has: each bit of it is tried.
  const [round] = rounds(SYNC, 20_000);
  const measured = benchmark({ storage: 'ioredis', load: SYNC, rounds: [round] });
  const result = buildResult({ benchmarks: [measured] });
  result.storages = result.storages.filter(({ name }) => name === 'ioredis').slice(0, 1);
  // Texts with characters that JSON escapes, and that have several bytes in UTF-8.
  result.warnings.push({ code: 'X', message: '\u001b[31m µ "', hint: null, benchmark: null });
  const store = await openStore({ json: file });
  await store?.write(result);
  bytes = readFileSync(file);
  assert.deepEqual(parseResult(bytes.toString(), 'whole'), result);
});

/** @param {Buffer} damaged @returns {any} null: it was refused */
function read(damaged) {
  try {
    return parseResult(damaged.toString('utf8'), 'damaged');
  } catch (error) {
    assert.equal(error.code, 'E_USAGE', error.stack);
    return null;
  }
}

test('every truncation is detected, except that of the final newline', () => {
  for (let length = 0; length < bytes.length - 1; length += 1) {
    assert.equal(read(bytes.subarray(0, length)), null, `${length} of ${bytes.length} bytes`);
  }
  assert.notEqual(read(bytes.subarray(0, -1)), null);
});

test('every flipped bit is detected, or does not change the meaning', () => {
  const intact = JSON.stringify(read(bytes));
  let unseen = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const damaged = Buffer.from(bytes);
      damaged[at] ^= 1 << bit;
      const result = read(damaged);
      if (result === null) continue;
      unseen += 1;
      assert.equal(JSON.stringify(result), intact, `bit ${bit} of byte ${at}`);
    }
  }
  // \u001b and \u001B are the same character, 1e-7 and 1E-7 the same number.
  assert.ok(unseen <= 10, `${unseen}`);
});

test('numbers that contradict each other are refused, with a digest or without', () => {
  const original = JSON.parse(bytes.toString());
  delete original.digest; // as of a program that stores what run() gave it
  assert.notEqual(read(Buffer.from(JSON.stringify(original))), null);
  const changes = /** @type {[RegExp, (round: any) => void][]} */ ([
    [/scheduled/, (round) => void (round.scheduled += 1)],
    [/outcomes sum/, (round) => void (round.outcomes.miss += 1)],
    [/latencies/, (round) => void (round.latency.count -= 1)],
    [/throughput/, (round) => void (round.throughput *= 1.001)],
    [/throughput/, (round) => void (round.durationNs *= 2)],
  ]);
  for (const [says, change] of changes) {
    const changed = structuredClone(original);
    change(changed.benchmarks[0].rounds[0]);
    assert.throws(() => parseResult(JSON.stringify(changed), 'x'), {
      code: 'E_USAGE',
      message: says,
      hint: /--trust/,
    });
  }
});

test('a result without its digest is read with a warning', async () => {
  const { digest: _, ...unsealed } = JSON.parse(bytes.toString());
  const bare = join(folder, 'bare.json');
  writeFileSync(bare, JSON.stringify(unsealed));
  const { status, stdout } = await callCommand(['bin/dragstrip.js', 'report', bare]);
  assert.equal(status, 0);
  assert.match(stdout, /W_NO_DIGEST: \S+bare\.json: it has no digest/);
  const whole = await callCommand(['bin/dragstrip.js', 'report', file]);
  assert.doesNotMatch(whole.stdout, /W_NO_DIGEST/);
});

test('a manual change is read with --trust, and the report has a warning', async () => {
  const changed = join(folder, 'changed.json');
  writeFileSync(changed, bytes.toString().replace('"command": "race"', '"command": "RACE"'));
  const words = ['bin/dragstrip.js', 'report', changed];
  assertFailure(await callCommand(words), 2, /its digest differs; .*--trust/);
  const { status, stdout } = await callCommand([...words, '--trust']);
  assert.equal(status, 0);
  assert.match(stdout, /W_CHANGED: it was changed after it was written/);
});

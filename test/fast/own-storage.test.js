/** Storages from a file of the user's: those that work, and all the ways in which one may not. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { mix32 } from '../../lib/random.js';
import { FullComparisons } from '../../load/full-comparisons.js';
import { WHOLE_EVERY } from '../../load/load.js';
import { ReplyBatch } from '../../load/reply-batch.js';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure, callCommand } from '../helpers/command-line.js';

/** Reads of the check before anything is measured: the first, then 64. */
const CHECKED = 65;
const OPS = 200;

/**
 * Each is the body of get(id), after `reads` was counted; `value` is the right one.
 * @type {Record<string, { get?: string, open?: string, calls?: string }>}
 */
const BODIES = {
  good: { get: 'return Promise.resolve(value);' },
  plain: { get: 'return value;', calls: 'sync' },
  'open-throws': { open: "throw new Error('no luck today');", get: '' },
  wrong: { get: "return Promise.resolve('x'.repeat(value.length));" },
  'wrong-later': {
    get: `return Promise.resolve(reads > ${CHECKED + 50} ? 'x'.repeat(value.length) : value);`,
  },
  missing: { get: 'return Promise.resolve(undefined);' },
  throws: {
    get: `if (reads > ${CHECKED}) throw new TypeError('thrown'); return Promise.resolve(value);`,
  },
  silent: { get: 'return new Promise(() => {});' },
  'silent-later': {
    get: `return reads > ${CHECKED + 50} ? new Promise(() => {}) : Promise.resolve(value);`,
  },
  'throws-outside': {
    get: `if (reads < ${CHECKED + 50}) return Promise.resolve(value);
      setImmediate(() => { throw new Error('from the loop'); });
      return new Promise(() => {});`,
  },
  limited: { open: "throw new Error('limit ' + arguments[0].timeoutMs);", get: '' },
  noisy: {
    get: "console.log('garbage {]'); console.error('more'); return Promise.resolve(value);",
  },
  leaves: { get: `if (reads > ${CHECKED + 50}) process.exit(0); return Promise.resolve(value);` },
};

/** @param {string} name */
function source(name) {
  const { open = '', get, calls = 'promise' } = BODIES[name];
  return `export default {
    name: '${name}', summary: 'of a test', package: null, server: null,
    profiles: { default: { summary: 'as it is', options: {}, calls: '${calls}' } },
    async open({ dataset }) {
      let reads = 0;
      ${open}
      return { get(id) { reads += 1; const value = dataset.value(id); ${get} }, async close() {} };
    },
  };\n`;
}

const { callHere, folder, resultIn } = withCommands();
before(async () => {
  for (const name of Object.keys(BODIES)) {
    await writeFile(path.join(folder, `${name}.mjs`), source(name));
  }
});

const FEW = ['--rows', '20', '--ops', `${OPS}`, '--warmup', '0', '--timeout', '2s'];

test('a storage from a file runs beside the others', async () => {
  const words = ['sync', '--storages', 'memory,./good.mjs,./plain.mjs'];
  const { status, stdout, stderr } = await callHere(...words, ...FEW.slice(0, -2));
  assert.equal(status, 0, `${stdout}${stderr}`);
  for (const name of ['memory', 'good', 'plain']) {
    assert.match(
      stdout,
      new RegExp(`Test '${name}' started\\nStorage .*\\nTest finished: ${OPS} ops`),
    );
  }
});

test('--setup reports a missing driver before it fetches a server', async () => {
  const text = source('good').replace('package: null', "package: 'not-installed'");
  await writeFile(path.join(folder, 'lacking.mjs'), text);
  const both = ['ioredis', './lacking.mjs'];
  for (const words of [
    ...['race', 'limit', 'commands'].map((name) => [name, '--storages', both.join(',')]),
    ['check', ...both],
  ]) {
    const ended = await callHere(...words, '--setup');
    assertFailure(
      ended,
      4,
      /lacking\.mjs: its driver, .*not-installed.*; npm install not-installed/,
    );
    assert.equal(existsSync(path.join(folder, 'state', 'servers')), false, words[0]);
  }
});

test('each fault of a storage has its outcome, and does not affect other storages', async () => {
  const names = Object.keys(BODIES).filter((name) => name !== 'plain');
  const words = ['sync', '--storages', names.map((name) => `./${name}.mjs`).join(','), ...FEW];
  const { status, stdout, stderr } = await callHere(...words, '--json', 'faults.json');
  assert.equal(status, 5, stderr);
  assert.doesNotMatch(stdout, /garbage|\n\s+at /);
  assert.doesNotMatch(stderr, /garbage|more|\n\s+at |dragstrip:/);
  const result = resultIn('faults.json');
  const rounds = new Map(
    result.benchmarks.map((benchmark) => [benchmark.storage, benchmark.rounds[0]]),
  );
  for (const name of ['good', 'noisy']) {
    assert.deepEqual([name, rounds.get(name)?.outcomes.ok], [name, OPS]);
  }
  /** @type {[string, RegExp][]} */
  const failed = [
    ['open-throws', /no luck today/],
    ['wrong', /wrong data: read 1 of the check is a mismatch/],
    ['missing', /wrong data: read 1 of the check is a miss/],
    ['silent', /the first read took more than 2 s/],
    ['limited', /limit 2000/],
    ['leaves', /ended with status 0 before it returned a result/],
  ];
  for (const [name, says] of failed) {
    const benchmark = result.benchmarks.find(({ storage }) => storage === name);
    assert.deepEqual([name, benchmark?.state], [name, 'failed']);
    assert.match(benchmark?.reason ?? '', says);
    assert.ok(stdout.includes(`Test failed: ${benchmark?.reason}`), name);
  }
  /** @type {[string, string, import('../../lib/types.js').Outcome, number][]} */
  const counted = [
    ['wrong-later', 'E_REPLIES', 'mismatch', OPS - 50],
    ['throws', 'E_REPLIES', 'error', OPS],
    ['silent-later', 'E_NO_REPLY', 'timeout', 1],
    ['throws-outside', 'E_REPLIES', 'error', 1],
  ];
  for (const [name, expected, outcome, n] of counted) {
    const round = rounds.get(name);
    const { code, message } = round?.failure ?? {};
    assert.deepEqual([name, code, round?.outcomes[outcome]], [name, expected, n]);
    assert.ok(stdout.includes(`Test failed: ${message}`), name);
    assert.ok(round && round.samples.length >= 1 && round.samples.length <= 10);
  }
  assert.match(rounds.get('throws-outside')?.samples[0].message ?? '', /from the loop/);
  for (const { outcomes, scheduled } of rounds.values()) {
    assert.equal(
      Object.values(outcomes).reduce((sum, n) => sum + n, 0),
      scheduled,
    );
  }
});

test('one flipped byte in 100 replies is detected, and comparisons are counted', async () => {
  const ops = 10_000;
  BODIES['flips'] = {
    get: `if (reads <= ${CHECKED} || reads % 100 !== 0) return Promise.resolve(value);
      const at = 8 + (reads * 7919) % (value.length - 8);
      const flipped = String.fromCharCode(value.charCodeAt(at) ^ 1);
      return Promise.resolve(value.slice(0, at) + flipped + value.slice(at + 1));`,
  };
  await writeFile(path.join(folder, 'flips.mjs'), source('flips'));
  const size = ['--rows', '20', '--value-size', '1024', '--ops', `${ops}`, '--warmup', '0'];
  const words = ['sync', '--storages', './flips.mjs,./good.mjs', ...size];
  const { status, stderr } = await callHere(...words, '--json', 'flips.json');
  assert.equal(status, 5, stderr);
  const result = resultIn('flips.json');
  const [flips, good] = ['flips', 'good'].map(
    (name) => result.benchmarks.find(({ storage }) => storage === name)?.rounds[0],
  );
  // Until the first one that is found, one of three is compared in full.
  const mismatches = flips?.outcomes.mismatch ?? 0;
  assert.ok(mismatches >= 85 && mismatches <= 100, `${mismatches} found`);
  assert.equal(good?.outcomes.ok, ops);
  assert.equal(good?.compared?.replies, ops);
  // The tag of all, and one batch of three in full, drawn by the seed of the run.
  const inFull = good?.compared?.whole ?? 0;
  const comparisons = new FullComparisons(mix32(mix32(1, 0), 0));
  const { limit } = new ReplyBatch(1024);
  let expected = 0;
  for (let left = ops; left > 0; left -= limit) {
    if (comparisons.next(WHOLE_EVERY.small)) expected += Math.min(limit, left);
  }
  assert.equal(inFull, expected);
  assert.equal(good?.compared?.bytes, inFull * 1024 + (ops - inFull) * 8);
});

test('after a wrong reply in the warm-up every reply is compared in full', async () => {
  BODIES['flips-early'] = {
    get: `if (reads <= ${CHECKED} || reads > 3000 || reads % 10 !== 0) return Promise.resolve(value);
      return Promise.resolve(value.slice(0, -20) + '!' + value.slice(-19));`,
  };
  await writeFile(path.join(folder, 'flips-early.mjs'), source('flips-early'));
  const size = ['--rows', '20', '--value-size', '1024', '--ops', '5000', '--warmup', '5000'];
  const words = ['sync', '--storages', './flips-early.mjs,./good.mjs', ...size];
  const { status, stderr } = await callHere(...words, '--json', 'flips-early.json');
  assert.equal(status, 0, stderr);
  for (const { storage, rounds } of resultIn('flips-early.json').benchmarks) {
    if (storage !== 'flips-early' && storage !== 'good') continue;
    const { replies = 0, whole = 0 } = rounds[0].compared ?? {};
    assert.equal(rounds[0].outcomes.ok, 5000);
    assert.equal(whole === replies, storage === 'flips-early', `${storage}: ${whole} in full`);
  }
});

test('a file without a storage is refused in one line', async () => {
  /** @type {[string, string, RegExp][]} */
  const cases = [
    ['throws.mjs', "throw new Error('on import');", /does not load: on import/],
    ['syntax.mjs', 'export default {', /does not load: /],
    [
      'commonjs/module.js',
      'import "node:fs";',
      /does not load: .*; name it \.mjs, or write "type"/,
    ],
    ['nothing.mjs', 'export const x = 1;', /exports no storage; export default defineStorage/],
    ['text.mjs', "export default 'x';", /not an object/],
    ['empty.mjs', 'export default {};', /name must be/],
    ['closed.mjs', source('good').replace('async open', 'async opens'), /open must be function/],
    [
      'memory.mjs',
      source('good').replace("'good'", "'memory'"),
      /two storages have the name "memory"/,
    ],
    [
      'gone.mjs',
      source('good').replace('package: null', "package: 'no-such-driver'"),
      /no-such-driver/,
    ],
  ];
  // As npm init -y writes it.
  await mkdir(path.join(folder, 'bad-commonjs'));
  await writeFile(path.join(folder, 'bad-commonjs/package.json'), '{ "type": "commonjs" }');
  for (const [name, text, says] of cases) {
    const file = path.join(folder, `bad-${name}`);
    await writeFile(file, text);
    const ended = await callCommand(['test.js', '--storages', `memory,${file}`, ...FEW]);
    assertFailure(ended, name === 'gone.mjs' ? 4 : 2, says);
  }
  const good = path.join(folder, 'good.mjs');
  const ended = await callCommand(['test.js', '--storages', `${good}:fast`, ...FEW]);
  assertFailure(ended, 2, /has no profile "fast".*available profiles: default/);
});

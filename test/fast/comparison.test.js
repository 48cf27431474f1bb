/** `dragstrip compare`: from made-up results to verdicts, a refusal and an exit status. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { sealResult } from '../../lib/digest.js';
import { displayWidth } from '../../lib/format.js';
import { compareResults, comparisonSchema, isSlower } from '../../report/analysis/comparison.js';
import { differencesOf } from '../../report/analysis/conditions.js';
import { comparisonDocument } from '../../report/comparison.js';
import { loadDocumentReport } from '../../report/index.js';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure } from '../helpers/command-line.js';
import { benchmark, buildResult, measuredRound, rounds, SYNC } from '../helpers/result-builder.js';
import { withSlices } from '../helpers/slices.js';

const { call, callHere, file, textOf } = withCommands();
const compare = (/** @type {string[]} */ ...words) => callHere('compare', ...words);

/**
 * Ten rounds of four storages, some tenths of a per cent apart.
 * @param {Record<string, number>} factors by storage
 * @param {Parameters<typeof buildResult>[0]} [fields]
 */
function run(factors, fields = {}) {
  const speeds = { redis: 12_500, ioredis: 10_600, 'manual-hs': 15_300, lmdb: 385_200 };
  const benchmarks = Object.entries(speeds).map(([storage, speed], k) =>
    benchmark({
      storage,
      load: SYNC,
      rounds: Array.from({ length: 10 }, (_, i) =>
        measuredRound(i, SYNC, {
          throughput: speed * (factors[storage] ?? 1) * (1 + 0.002 * Math.sin(3 * i + k)),
        }),
      ),
    }),
  );
  for (const { scheduled, outcomes } of benchmarks.flatMap((one) => one.rounds)) {
    assert.equal(
      Object.values(outcomes).reduce((a, b) => a + b, 0),
      scheduled,
    );
  }
  return withSlices(buildResult({ benchmarks, ...fields }));
}

const BASE = run({});
const SLOWER = run({ redis: 0.9, ioredis: 1.2, lmdb: 0.97 });

/** @param {ReturnType<typeof run>[]} results */
function compared(...results) {
  const [base, ...others] = results.map((result, i) => ({ file: `${'ABC'[i]}.json`, result }));
  return comparisonSchema.parse(compareResults(base, others, { failIfSlower: 0.05 }));
}

test('each benchmark has its ratio, interval, p after Holm, noise and verdict', () => {
  const { others, regressions } = compared(BASE, SLOWER);
  const verdicts = Object.fromEntries(
    others[0].benchmarks.map(({ benchmark: id, verdict }) => [id.split(':')[0], verdict]),
  );
  assert.deepEqual(verdicts, {
    redis: 'slower',
    ioredis: 'faster',
    'manual-hs': 'same',
    lmdb: 'slower',
  });
  const [redis] = others[0].benchmarks;
  assert.ok(Math.abs((redis.ratio ?? 0) - 0.9) < 0.001);
  assert.ok((redis.low ?? 1) < 0.9 && (redis.high ?? 0) > 0.9 && (redis.high ?? 1) < 0.91);
  assert.ok(redis.p !== null && redis.p < 0.001);
  assert.ok(redis.noise !== null && redis.noise < 0.01);
  assert.equal(redis.n, 10);
  assert.equal(regressions, 1, 'only redis is slower by more than 5 %');
});

test('a run compared with itself is equal in every benchmark', () => {
  const { others, regressions } = compared(BASE, BASE);
  assert.deepEqual(new Set(others[0].benchmarks.map(({ verdict }) => verdict)), new Set(['same']));
  assert.equal(regressions, 0);
});

test('several results are each compared with the first, and Holm counts all comparisons', () => {
  const alone = compared(BASE, SLOWER).others[0].benchmarks[3].p ?? 1;
  const three = compared(BASE, SLOWER, run({ lmdb: 0.97 }));
  assert.equal(three.others.length, 2);
  assert.ok((three.others[0].benchmarks[3].p ?? 0) >= alone);
  assert.equal(three.others[1].benchmarks[0].verdict, 'same');
});

test('one round decides nothing, and a noisy difference shows the number of rounds needed', () => {
  const once = (/** @type {number} */ speed) =>
    buildResult({
      benchmarks: [
        benchmark({ storage: 'redis', load: SYNC, rounds: rounds(SYNC, speed).slice(0, 1) }),
      ],
    });
  const [only] = compared(once(1000), once(500)).others[0].benchmarks;
  assert.deepEqual([only.verdict, only.low, only.roundsNeeded], ['undecided', null, null]);
  const few = (/** @type {number} */ speed) => {
    const own = rounds(SYNC, speed);
    for (const [i, round] of own.entries()) round.throughput *= i % 2 === 0 ? 0.95 : 1.05;
    return withSlices(
      buildResult({ benchmarks: [benchmark({ storage: 'redis', load: SYNC, rounds: own })] }),
    );
  };
  const [noisy] = compared(few(1000), few(1030)).others[0].benchmarks;
  assert.equal(noisy.verdict, 'undecided');
  assert.ok((noisy.roundsNeeded ?? 0) > 5);
});

test('an open loop is compared by its 99th percentile: less is faster', () => {
  const load = /** @type {const} */ ({ ...SYNC, kind: 'rate', rate: 1000 });
  const of = (/** @type {number} */ speed) => {
    const own = benchmark({ storage: 'redis', load: SYNC, rounds: rounds(SYNC, speed) });
    return buildResult({ benchmarks: [{ ...own, load }] });
  };
  const [found] = compared(of(1000), of(2000)).others[0].benchmarks;
  assert.equal(found.metric, 'p99');
  assert.ok(found.other < found.base);
  assert.deepEqual([found.verdict, found.reference], ['undecided', null]);
});

test('two runs get no verdict without a sound reference in common, and never exit 6', () => {
  const without = (/** @type {ReturnType<typeof run>} */ result) => {
    const { comparison: _, ...rest } = result;
    return rest;
  };
  const { others, regressions } = compared(without(BASE), without(SLOWER));
  assert.ok(others[0].benchmarks.every(({ verdict }) => verdict === 'undecided'));
  assert.equal(regressions, 0);
  const biased = structuredClone(SLOWER);
  for (const contender of biased.comparison?.loads[0].contenders ?? []) {
    if (contender.group !== 'again') continue;
    for (const round of contender.rounds)
      round.timePs = round.timePs.map((one) => (one ?? 0) * 1.2);
  }
  assert.equal(compared(BASE, biased).regressions, 0, 'a copy that is slower than itself');
});

test('a difference of the machine is divided out, and counts as noise', () => {
  const slow = withSlices(run({ redis: 0.8, ioredis: 0.8, 'manual-hs': 0.8, lmdb: 0.8 }), {
    machine: 0.8,
  });
  const [{ benchmarks }] = compared(BASE, slow).others;
  for (const { ratio, verdict, noise } of benchmarks) {
    assert.ok(Math.abs((ratio ?? 0) - 1) < 0.005);
    assert.notEqual(verdict, 'slower');
    assert.ok((noise ?? 0) > 0.2);
  }
});

test('benchmarks with wrong replies, failed ones and unpaired ones are not compared', () => {
  const other = structuredClone(BASE);
  other.benchmarks[0].rounds[3].outcomes.mismatch = 1;
  other.benchmarks[1].state = 'failed';
  other.benchmarks.splice(2, 1);
  other.benchmarks.push(benchmark({ storage: 'mysql2', load: SYNC, rounds: rounds(SYNC, 4000) }));
  const [{ benchmarks, left }] = compared(BASE, other).others;
  assert.equal(benchmarks.length, 1);
  assert.deepEqual(left.map(({ reason }) => reason).sort(), [
    'it has wrong replies',
    'it is failed',
    'only in the first result',
    'only in the other result',
  ]);
});

test('all conditions that make two runs incomparable are detected', () => {
  assert.deepEqual(differencesOf(BASE, run({})), []);
  /** @param {(result: any) => void} change */
  const differencesAfter = (change) => {
    const other = structuredClone(BASE);
    change(other);
    return differencesOf(BASE, other).map(({ what }) => what);
  };
  assert.deepEqual(
    differencesAfter((r) => Object.assign(r.dataset, { rows: 5, seed: 2 })),
    ['rows', 'seed'],
  );
  assert.deepEqual(
    differencesAfter((r) => Object.assign(r.environment, { node: '22.1.0' })),
    ['node'],
  );
  assert.deepEqual(
    differencesAfter((r) => Object.assign(r.environment, { cpu: 'other', cores: 9 })),
    ['cpu', 'cores'],
  );
  assert.deepEqual(
    differencesAfter((r) => {
      r.storages[3].version = '5.4.0';
    }),
    ['driver of ioredis'],
  );
  assert.deepEqual(
    differencesAfter((r) => {
      r.servers[0].version = '8.0.0';
      r.servers[0].settings.appendonly = 'yes';
      r.servers[0].address.main = 'unix:/tmp/s';
    }),
    ['server redis', 'settings of redis', 'transport to redis'],
  );
  assert.deepEqual(
    differencesAfter((r) => {
      r.benchmarks[0].load.operations = 7;
    }),
    ['load of redis:default/get/sync'],
  );
  assert.deepEqual(
    differencesAfter((r) => {
      r.options.warmupOperations = 7;
    }),
    ['warmupOperations'],
  );
  const reordered = structuredClone(BASE);
  reordered.servers[0].settings = { appendonly: 'no', save: '' };
  assert.deepEqual(differencesOf(BASE, reordered), [], 'the order of fields is no difference');
});

test('slower counts only if significant, and beyond the limit', () => {
  const [redis] = compared(BASE, SLOWER).others[0].benchmarks;
  assert.equal(isSlower(redis, 0.05), true);
  assert.equal(isSlower(redis, 0.11), false);
  assert.equal(isSlower(redis, null), false);
  assert.equal(isSlower({ ...redis, verdict: 'undecided' }, 0.05), false);
});

test('the comparison is shown on the console within its width, and as markdown', async () => {
  const comparison = compared(BASE, SLOWER);
  const render = await loadDocumentReport('console');
  for (const width of [30, 60, 80, 120, 200]) {
    for (const line of render(comparisonDocument(comparison), { width }).split('\n')) {
      assert.ok(displayWidth(line) <= width, `${width}: ${line}`);
    }
  }
  const text = render(comparisonDocument(comparison), { width: 140 });
  assert.match(text, /^redis:default\/get\/sync .* 0\.90× .* slower\s*$/m);
  assert.match(text, /^4 comparisons: 1 faster, 2 slower, 1 tied, 0 not resolved; .*: 1$/m);
  assert.match(
    (await loadDocumentReport('markdown'))(comparisonDocument(comparison)),
    /\| 0\.90× \| .* \| slower \|/,
  );
});

/**
 * @param {string} name
 * @param {object} result
 */
function stored(name, result) {
  writeFileSync(file(name), JSON.stringify(sealResult(/** @type {any} */ (result))));
  return name;
}

test('the command exits with 6 if a benchmark is slower by more than --fail-if-slower', async () => {
  const files = [stored('a.json', BASE), stored('b.json', SLOWER)];
  const plain = await compare(...files);
  assert.equal(plain.status, 0, plain.stderr);
  assert.match(plain.stdout, /slower/);
  const failed = await call('compare', ...files, '--fail-if-slower', '5%');
  assert.equal(failed.status, 6, failed.stderr);
  assert.equal(failed.stderr, '');
  const loose = await compare(...files, '--fail-if-slower', '15%');
  assert.equal(loose.status, 0);
  const turned = await compare(...[...files].reverse(), '--fail-if-slower', '5%');
  assert.equal(turned.status, 6, 'then ioredis is the slower one');
});

test('the command never exits with 6 without a reference, and has a hint', async () => {
  const files = [BASE, SLOWER].map(({ comparison: _, ...result }, i) =>
    stored(`without-${i}.json`, result),
  );
  const { status, stdout } = await compare(...files, '--fail-if-slower', '1%');
  assert.equal(status, 0);
  assert.match(stdout, /no verdict: .*\sMeasure both in one run: npx dragstrip race --against/s);
});

test('CPU per operation is compared as well, and reported if time decides nothing', async () => {
  const costly = run({});
  for (const { name, rounds: own } of costly.comparison?.loads[0].contenders ?? []) {
    if (name !== 'ioredis') continue;
    for (const round of own) round.clientCpuPs = round.clientCpuPs.map((one) => (one ?? 0) * 1.2);
  }
  const comparison = compared(BASE, costly);
  const byId = Object.fromEntries(
    comparison.others[0].benchmarks.map(({ benchmark: id, witnesses = [] }) => [
      id.split(':')[0],
      witnesses.find(({ name }) => name === 'clientCpu'),
    ]),
  );
  assert.equal(byId['redis']?.verdict, 'undecided');
  assert.equal(byId['ioredis']?.verdict, 'more');
  assert.ok(Math.abs((byId['ioredis']?.ratio ?? 0) - 1.2) < 0.001);
  const render = await loadDocumentReport('console');
  const text = render(comparisonDocument(comparison), { width: 150 });
  assert.match(text, /ioredis.*: no difference in time, but more client CPU [\s\S]*1\.20×/);
  assert.doesNotMatch(text, / redis:default\/get\/sync: time/);
});

test('the command stores the comparison by --json, once', async () => {
  const files = [stored('a.json', BASE), stored('b.json', SLOWER), '--json', 'out.json'];
  const { status, stdout } = await compare(...files);
  assert.equal(status, 0);
  assert.match(stdout, /comparison: .*out\.json\n$/);
  const document = comparisonSchema.parse(JSON.parse(textOf('out.json')));
  assert.equal(document.others[0].benchmarks.length, 4);
  assertFailure(await compare(...files), 2, /the file exists/);
});

/** Conditions of another machine: fewer rows, a later Node, a busy processor. */
function elsewhere() {
  const other = structuredClone(SLOWER);
  other.dataset.rows = 1000;
  other.environment.node = '22.1.0';
  other.environment.loadAverage = [other.environment.cores * 2, 0, 0];
  return other;
}

test('different conditions are shown; a gate is refused without --ignore-conditions', async () => {
  const files = [stored('a.json', BASE), stored('c.json', elsewhere())];
  const output = await compare(...files);
  assert.equal(output.status, 0);
  assert.match(output.stdout, /Different conditions[\s\S]*rows: 1000, and in the first 100000/);
  assert.match(output.stdout, /load average: \d+\.0, and in the first 0\.\d/);
  const lines = output.stdout.trim().split('\n');
  assert.match(
    lines[lines.length - 1],
    /^The second was measured under different conditions: rows, node, load average\.$/,
  );
  const gate = [...files, '--fail-if-slower', '50%'];
  assertFailure(
    await compare(...gate),
    2,
    /not comparable.*rows \(100000; 1000\), node \(20\.20\.2; 22\.1\.0\);[^;]*--ignore-conditions/,
  );
  assert.equal((await compare(...gate, '--ignore-conditions')).status, 0);
  const csv = await compare(...files, '--format', 'csv');
  assert.match(csv.stdout, /,differs_in\r\n.*,rows; node; load average\r\n/);
});

test('a report of two results lists the differences, in every text format', async () => {
  const words = ['report', stored('a.json', BASE)];
  for (const format of ['console', 'markdown', 'json', 'html']) {
    const files = [stored('c.json', elsewhere()), '--format', format];
    const { status, stdout } = await callHere(...words, ...files);
    assert.equal(status, 0);
    assert.match(stdout, /Different conditions/, format);
    assert.match(stdout, /second, node/, format);
    const same = await callHere(...words, stored('b.json', BASE), '--format', format);
    assert.doesNotMatch(same.stdout, /Different conditions/, format);
  }
});

test('the command names its missing arguments', async () => {
  const [a] = [stored('a.json', BASE)];
  assertFailure(await compare(a), 2, /at least two results/);
  assertFailure(await compare(a, 'no.json'), 2, /cannot be read/);
  assertFailure(await compare(a, a, '--fail-if-slower', '5'), 2, /not a percentage.*5%/);
  assertFailure(await compare(a, a, '--format', 'pdf'), 2, /unknown report/);
  const nothing = stored('n.json', buildResult({ benchmarks: [] }));
  assertFailure(await compare(a, nothing), 2, /no benchmark in common/);
});

test('a comparison has every format', async () => {
  const [a, b] = [stored('fa.json', BASE), stored('fb.json', { ...SLOWER, id: 'slower' })];
  for (const [format, expected] of [
    [
      'csv',
      /^base_file,other_file,benchmark,metric,base,.*\r\n.*redis:default\/get\/sync,throughput,/,
    ],
    ['json', /"key": "ratio"/],
    ['html', /^<!doctype html>[\s\S]*Side by side/],
    ['markdown', /\| slower \|/],
  ]) {
    const { status, stdout } = await compare(a, b, '--format', String(format));
    assert.equal(status, 0);
    assert.match(stdout, /** @type {RegExp} */ (expected));
  }
});

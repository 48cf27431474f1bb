/** Rounds of persistent processes that are handed slices, with storages that need no server. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { planRun } from '../../../engine/plan.js';
import { runComparison } from '../../../engine/slices/comparison.js';
import { entrantsOf } from '../../../engine/slices/entrants.js';
import { Remote } from '../../../engine/slices/remote.js';
import { runRound } from '../../../engine/slices/round.js';
import { isWarm } from '../../../engine/slices/warm.js';
import { OK } from '../../../lib/outcome.js';
import { systemClock } from '../../../measure/clock.js';
import { loadStorage } from '../../../storages/index.js';

const folder = mkdtempSync(path.join(tmpdir(), 'dragstrip-slices-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const LOADS = /** @type {const} */ ([
  { kind: 'sync', inFlight: 1 },
  { kind: 'window', inFlight: 10 },
  { kind: 'burst', inFlight: 300 },
]);
const plan = planRun({ rows: 500, timeoutMs: 2000 });

/** @param {string} source @param {string} [profile] */
async function target(source, profile = 'default') {
  const definition = await loadStorage(source);
  const rest = { named: true, version: null, server: null, unavailable: null };
  return { definition, source, profile, ...rest };
}

/** @param {string} name @param {string} body of get */
function storageFile(name, body) {
  const file = path.join(folder, `${name}.js`);
  const define = new URL('../../../index.js', import.meta.url).href;
  writeFileSync(
    file,
    `import { defineStorage } from '${define}';
    export const storage = defineStorage({
      name: '${name}', summary: 'for a test', package: null, server: null, rows: ['get'],
      profiles: { default: { summary: 'plain', options: {} } },
      open: {
        async rows({ dataset }) {
          let reads = 0;
          return { get: async (id) => { reads += 1; ${body} }, close: async () => {} };
        },
      },
    });`,
  );
  return file;
}

describe('a round of slices', () => {
  test('every contender once per load and block, one at a time, in an order drawn anew', async () => {
    const targets = [await target('memory'), await target('memory', 'sync')];
    const entrants = entrantsOf(targets, LOADS, plan, { folder, round: 0 }).map((entrant) => ({
      ...entrant,
      every: 1,
    }));
    assert.deepEqual(
      entrants.map(({ name }) => name),
      ['memory', 'memory:sync', 'memory (A/A)'],
    );
    const options = { round: 0, blocks: 6, orderSeed: 1, sliceNs: 2e6 };
    const results = await runRound(entrants, LOADS, options);
    /** @type {{ contender: number, load: number, startNs: number, endNs: number }[]} */
    const all = [];
    for (const [contender, { slices, series, failure }] of results.entries()) {
      assert.equal(failure, null);
      for (const [load, own] of slices.entries()) {
        assert.equal(own.length, 6);
        for (const slice of own) {
          assert.ok(slice?.valid && slice.spanNs > 0);
          all.push({ contender, load, startNs: slice.startNs, endNs: slice.endNs });
        }
        const { outcomes, scheduled, latency } = series[load];
        assert.equal(outcomes[OK], scheduled);
        assert.equal(latency?.count, scheduled);
      }
    }
    all.sort((a, b) => a.startNs - b.startNs);
    for (const [i, { startNs }] of all.entries()) {
      assert.ok(i === 0 || startNs >= all[i - 1].endNs, 'two ran at the same time');
    }
    const turns = all.map(({ contender, load }) => `${load}${contender}`);
    const blocks = Array.from({ length: 6 }, (_, i) => turns.slice(9 * i, 9 * i + 9));
    for (const block of blocks) assert.equal(new Set(block).size, 9);
    assert.ok(new Set(blocks.map(String)).size > 3, 'the order stayed the same');
  });

  test('a failing contender is reported, the others go on', async () => {
    const wrong = storageFile('wrong', "return 'not the row';");
    const targets = [await target('memory'), await target(wrong)];
    const entrants = entrantsOf(targets, LOADS, plan, { folder, round: 0 });
    const options = { round: 0, blocks: 4, orderSeed: 1, sliceNs: 1e6 };
    const [memory, other] = await runRound(entrants, LOADS, options);
    assert.equal(memory.failure, null);
    assert.equal(memory.slices[0].filter(Boolean).length, 1);
    assert.equal(other.failure?.code, 'E_DATA');
  });

  test('a process that ends fails its contender alone', async () => {
    const dying = storageFile(
      'dying',
      'if (reads > 3000) process.exit(3); return dataset.value(id);',
    );
    const targets = [await target('memory'), await target(dying)];
    const entrants = entrantsOf(targets, LOADS, plan, { folder, round: 0 });
    const options = { round: 0, blocks: 4, orderSeed: 1, sliceNs: 1e6 };
    const [memory, other] = await runRound(entrants, LOADS, options);
    assert.equal(memory.failure, null);
    assert.match(String(other.failure?.message), /ended with status 3/);
  });
});

describe('a contender’s process', () => {
  test('pins its main thread only, the helper threads stay free', async () => {
    const remote = new Remote();
    const { pid } = remote.process;
    const listOf = (/** @type {string} */ where) =>
      /^Cpus_allowed_list:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/${where}`, 'latin1'))?.[1];
    const before = listOf('status');
    const [cpu] = String(before).split(/[-,]/);
    await remote.pin([Number(cpu)]);
    assert.equal(listOf(`task/${pid}/status`), cpu);
    remote.kill();
    await assert.rejects(remote.ask({ type: 'warm' }), /was killed by SIGKILL/);
    await assert.rejects(remote.ask({ type: 'warm' }), /has ended/);
  });
});

describe('the silence of a contender’s process', () => {
  /** @param {string} name @param {string} body of open */
  async function opening(name, body) {
    const file = path.join(folder, `${name}.js`);
    const text = readFileSync(storageFile(name, ''), 'utf8');
    writeFileSync(file, text.replace('let reads = 0;', `let reads = 0; ${body}`));
    const [{ spec }] = entrantsOf([await target(file)], LOADS, plan, { folder, round: 0 });
    const remote = new Remote({ silenceMs: 2500 });
    return remote.ask({ type: 'open', spec }).finally(() => remote.kill());
  }

  test('one whose event loop is blocked is ended, one that takes its time is not', async () => {
    await assert.rejects(opening('blocking', 'for (;;);'), {
      code: 'E_BENCHMARK_BLOCKED',
      message: /blocked the event loop for 2.5 s; its process was killed/,
    });
    const slow = 'await new Promise((done) => setTimeout(done, 4000));';
    // It gives no rows, which is found after all that time.
    await assert.rejects(opening('slow', slow), { code: 'E_DATA' });
  });
});

describe('a load that cannot be sliced', () => {
  test('runs once per round for every contender, in the same block', async () => {
    const loads = [LOADS[0], { kind: /** @type {const} */ ('burst'), inFlight: 3000, whole: true }];
    const targets = [await target('memory'), await target('memory', 'sync')];
    const entrants = entrantsOf(targets, loads, plan, { folder, round: 0 });
    const options = { round: 0, blocks: 5, orderSeed: 3, sliceNs: 1e6 };
    const results = await runRound(entrants, loads, options);
    const blocks = results.map(({ slices: [, whole] }) => {
      assert.equal(whole.filter(Boolean).length, 1);
      const at = whole.findIndex(Boolean);
      assert.equal(whole[at]?.operations, 3000);
      return at;
    });
    assert.equal(new Set(blocks).size, 1);
  });
});

describe('a comparison', () => {
  test('goes by rounds, and gives rows with intervals', async () => {
    const targets = [await target('memory'), await target('memory', 'sync')];
    /** @type {number[]} */
    const rounds = [];
    const { standings, stopped, entrants, failed } = await runComparison({
      ...{ plan, targets, folder, orderSeed: 5, clock: systemClock },
      ...{ loads: LOADS.slice(0, 1), rounds: 2, blocks: 8, sliceNs: 1e6 },
      ...{ precision: 0.03, budgetNs: 1e12 },
      onRound: ({ round }) => rounds.push(round),
    });
    assert.equal(stopped, 'rounds');
    assert.deepEqual(rounds, [0, 1]);
    assert.deepEqual(failed, []);
    assert.equal(entrants.length, 3);
    assert.ok(standings[0] !== null);
    const [{ rows, again }] = standings;
    assert.deepEqual(
      rows.map(({ group }) => group),
      ['overhead', 'overhead', 'again'],
    );
    assert.ok(rows.every(({ nsPerOperation }) => nsPerOperation > 0));
    assert.ok(again !== null && again.low < again.high);
  });

  test('ends with its budget, not before six rounds; whole bursts do not size the rounds', async () => {
    const targets = [await target('memory'), await target('memory', 'sync')];
    /** @type {number[]} */
    const blocks = [];
    const { stopped, rounds } = await runComparison({
      ...{ plan, targets, folder, orderSeed: 6, clock: systemClock },
      loads: [LOADS[0], { kind: 'burst', inFlight: 1000, whole: true }],
      ...{ sliceNs: 1e6, precision: 1e-9, budgetNs: 1e9 },
      onRound: (progress) => blocks.push(progress.blocks),
    });
    assert.ok(stopped === 'budget' || stopped === 'precise', stopped);
    assert.equal(rounds.length, 6);
    assert.deepEqual(blocks, Array(6).fill(10));
  });

  test('holds its budget by three rounds, where it must', async () => {
    const { stopped, rounds } = await runComparison({
      ...{ plan, targets: [await target('memory')], folder, orderSeed: 6, clock: systemClock },
      ...{ loads: LOADS.slice(0, 1), sliceNs: 1e6, precision: 1e-9, budgetNs: 1e6 },
      holdsBudget: true,
    });
    assert.equal(stopped, 'budget');
    assert.equal(rounds.length, 3);
  });

  test('is stopped by a signal', async () => {
    const targets = [await target('memory')];
    const { stopped } = await runComparison({
      ...{ plan, targets, folder, orderSeed: 5, clock: systemClock, loads: LOADS.slice(0, 1) },
      ...{ precision: 0.03, budgetNs: 1e12, signal: AbortSignal.timeout(300) },
    });
    assert.equal(stopped, 'aborted');
  });
});

describe('a warm-up', () => {
  const level = Array.from({ length: 40 }, (_, i) => 100 + (i % 3));

  test('takes its operations and its time at least', () => {
    assert.equal(isWarm(level, 5000, 300e6), true);
    assert.equal(isWarm(level, 4999, 300e6), false);
    assert.equal(isWarm(level, 5000, 299e6), false);
  });

  test('goes on while it gets faster, but not for ever', () => {
    const falling = Array.from({ length: 40 }, (_, i) => 1000 - 20 * i);
    assert.equal(isWarm(falling, 1e6, 1e9), false);
    assert.equal(isWarm(falling, 1e6, 2e9), true);
  });
});

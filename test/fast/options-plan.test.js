/** Each option alone against the default plan: it changes what its name says, and nothing else. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { optionsOf } from '../../engine/options.js';
import { requestRun } from '../../engine/request.js';
import { loadWorkload } from '../../workloads/index.js';

/**
 * @typedef {object} Entry
 * @property {any} value
 * @property {string[]} may fields of the plan that it may change, and no others
 * @property {Record<string, any>} [beside] options without which it is refused
 * @property {Record<string, any>} [needs] those that are refused without it, too
 * @property {boolean} [isElsewhere] the command obeys it beside the plan
 */

/** An amount by hand: nothing is left for the precision to decide. */
const AMOUNT = ['amount', 'schedule', 'rounds', 'precision', 'wait'];
/** An open loop is another kind of load, with an amount, a warm-up and no processors of its own. */
const OPEN = ['loads', 'placement', 'warm', ...AMOUNT];

/** @type {Record<string, Entry>} options of a race, and those that other commands share with it */
const TABLE = {
  ops: { value: [5000], may: AMOUNT },
  duration: { value: 10_000, may: AMOUNT },
  inFlight: { value: [7], may: ['loads'] },
  connections: { value: [1, 4], may: ['loads', 'skipped'] },
  load: { value: 'window', may: ['loads', 'placement'] },
  rate: { value: 2000, may: OPEN },
  arrivals: { value: 'poisson', may: ['loads'], beside: { rate: 2000 } },
  maxInFlight: { value: 9, may: ['loads'], beside: { rate: 2000 } },
  onOutage: { value: 'continue', may: ['loads'], beside: { rate: 2000 } },
  ramp: { value: [1000, 2000], may: OPEN },
  search: { value: true, may: [...OPEN, 'findMax'], needs: { p99: 5 } },
  p99: { value: 9, may: ['findMax'], beside: { search: true, p99: 5 } },
  processes: { value: [2], may: ['loads', 'placement', 'warm', ...AMOUNT] },
  precision: { value: 0.1, may: ['precision'] },
  budget: { value: 50_000, may: ['budget'] },
  anyway: { value: true, may: ['wait'] },
  placement: { value: 'free', may: ['placement'] },
  rounds: { value: 4, may: ['rounds', 'wait'] },
  warmupOperations: { value: 77, may: ['warm'] },
  timeoutMs: { value: 77, may: ['timeoutMs'] },
  rows: { value: 77, may: ['dataset'] },
  valueSize: { value: [77], may: ['dataset'] },
  seed: { value: 77, may: ['seed', 'dataset'] },
  pin: { value: true, may: ['pin', 'placement'] },
  storages: { value: ['redis'], may: ['storages'] },
  servers: { value: ['redis', 'valkey'], may: ['servers'] },
  tls: { value: 'on', may: ['tls'] },
  against: { value: ['ioredis@4'], may: ['against'] },
  runtimes: { value: ['bun'], may: ['runtimes'] },
  failIf: { value: ['throughput<0.9'], may: ['failIf'] },
  reference: { value: 'ioredis@4', may: ['reference'] },
  allowTargets: { value: ['host:1'], may: ['allowTargets'] },
  keys: { value: 'zipf:1', may: ['workloadOptions'] },
  // A mix is another workload, which runs by slices on request alone.
  mix: { value: 'get:9,set:1', may: ['workload', 'workloadOptions', ...AMOUNT] },
  ttl: { value: 2000, may: ['workloadOptions'], beside: { mix: 'get:9,insert:1' } },
  readOnly: { value: true, may: ['workloadOptions'] },
  keysFrom: { value: 'keys.txt', may: ['workloadOptions'], beside: { readOnly: true } },
  table: { value: 'a.b(c,d)', may: ['workloadOptions'], beside: { readOnly: true } },
  sample: { value: 9, may: ['workloadOptions'], beside: { readOnly: true } },
};

/** Options of loads that run whole by default. @type {Record<string, Entry>} */
const ON_REQUEST = {
  precision: { value: 0.1, may: AMOUNT },
  budget: { value: 50_000, may: [...AMOUNT, 'budget'] },
  anyway: { value: true, may: ['wait'], beside: { precision: 0.1 } },
  rounds: { value: 4, may: AMOUNT },
};
/** Options that print, start or log in. */
const ELSEWHERE = { may: [], isElsewhere: true };
const SCATTER = { beside: { test: 'scatter' } };
const STRESS = { beside: { test: 'stress' } };
/** A combination more or fewer is a variant more or fewer, with its loads. */
const VARIANTS = ['variants', 'loads'];
/** Attempts that wait for a lock have a time limit of their own. */
const ATTEMPTS = ['variants', 'timeoutMs'];
const WINDOW = { beside: { inFlight: [100] } };
const LIKE_ORIGINAL = { value: true, may: ['storages', 'dataset', 'amount'] };

/**
 * Options that only one command has, or that it applies differently.
 * @type {Record<string, Record<string, Entry>>}
 */
const COMMANDS = {
  race: {},
  // A burst becomes windows, which have an amount, a warm-up and processors.
  async: {
    likeOriginal: LIKE_ORIGINAL,
    inFlight: { value: [7], may: ['loads', 'placement', 'warm'] },
    load: { value: 'window', may: ['loads', 'placement', 'warm'] },
    duration: { value: 10_000, may: ['amount'], ...WINDOW },
    placement: { value: 'free', may: ['placement'], ...WINDOW },
    precision: { ...ON_REQUEST['precision'], ...WINDOW },
    budget: { ...ON_REQUEST['budget'], ...WINDOW },
    anyway: { value: true, may: ['wait'], beside: { load: 'window', precision: 0.1 } },
  },
  sync: {
    ...ON_REQUEST,
    likeOriginal: LIKE_ORIGINAL,
  },
  ycsb: {
    core: { value: ['a'], may: VARIANTS },
    inFlight: { value: [7], may: ['loads', 'placement'] },
  },
  mget: {
    ...ON_REQUEST,
    host: { value: '127.0.0.2', may: ['addresses'] },
    port: { value: 7777, may: ['addresses'] },
    passwordFromEnv: { value: 'NAME', ...ELSEWHERE },
    db: { value: 3, may: ['redisDb'] },
    counts: { value: [1, 2], may: ['workloadOptions', 'amount'] },
    cycles: { value: 7, may: ['workloadOptions', 'amount', 'whole'] },
    inFlight: { value: [7], may: ['workloadOptions', 'loads', 'amount'] },
    minConc: { value: 2, may: ['loads'] },
    maxConc: { value: 4, may: ['workloadOptions', 'loads', 'amount'] },
    minKeys: { value: 2, may: ['workloadOptions', 'amount'], ...SCATTER },
    maxKeys: { value: 50, may: ['workloadOptions', 'amount'], ...SCATTER },
    gnuplot: { value: true, ...ELSEWHERE, ...SCATTER },
    gnuplotExtra: { value: ['set grid'], ...ELSEWHERE, ...SCATTER, needs: { gnuplot: true } },
    pool: { value: true, may: ['workloadOptions'] },
    pipelined: { value: true, may: ['workloads'] },
    rows: { value: 777, may: ['dataset'] },
    valueSize: { value: 77, may: ['dataset'] },
  },
  commands: {
    ...ON_REQUEST,
    tests: { value: ['GET'], may: [...VARIANTS, 'amount'] },
    requests: { value: 77, may: ['amount', 'whole'] },
    inFlight: { value: 7, may: ['loads', 'workloadOptions'] },
    pipeline: { value: 7, may: VARIANTS, beside: { keepAlive: 'on' } },
    keyspace: { value: 7, may: ['workloadOptions'] },
    dataSize: { value: 7, may: ['workloadOptions'] },
    keepAlive: { value: 'on', may: [...VARIANTS, 'amount'] },
    route: { value: 'direct', may: VARIANTS },
    transport: { value: 'tcp', may: VARIANTS },
    host: { value: '127.0.0.2', may: ['addresses'] },
    port: { value: 7777, may: ['addresses'] },
    socket: { value: '/run/redis.sock', may: ['addresses'] },
    proxy: { value: '127.0.0.1:1', may: ['addresses'] },
    proxyBinary: { value: 'haproxy', ...ELSEWHERE },
    tool: { value: 'valkey', ...ELSEWHERE },
    redisBenchmark: { value: '8.0', may: ['workloadOptions'] },
    lines: { value: true, ...ELSEWHERE },
    redisCsv: { value: true, ...ELSEWHERE },
    setup: { value: true, ...ELSEWHERE },
  },
  codec: {
    protocols: { value: ['resp'], may: VARIANTS },
    fixtures: { value: ['find-16'], may: VARIANTS },
    ops: { value: 5000, may: AMOUNT },
    storages: { value: ['ioredis'], may: ['storages'] },
  },
  // Each strategy names the storages that have it, and its loads follow from the rows.
  insert: {
    strategies: { value: ['one'], may: [...VARIANTS, 'amount', 'placement'] },
    batch: { value: [7], may: ['variants', 'amount'] },
    window: { value: 7, may: ['loads'] },
    storages: { value: ['redis'], may: [...VARIANTS, 'storages', 'amount'] },
    rows: { value: 77, may: ['dataset', 'amount'] },
  },
  mutex: {
    handlers: { value: ['script'], may: VARIANTS },
    tests: { value: ['lock'], may: [...VARIANTS, 'amount', 'placement'] },
    keys: { value: [1], may: VARIANTS },
    ops: { value: 500, may: ['amount'] },
    inFlight: { value: 7, may: VARIANTS },
    duration: { value: 10_000, may: ['amount'] },
    kills: { value: 7, may: ['amount'] },
    expiry: { value: 7000, may: ['variants'] },
    retry: { value: 7, may: ['variants'] },
    processes: { value: 3, may: ['loads', 'amount'], ...STRESS },
    tries: { value: 3, may: ATTEMPTS, ...STRESS },
    sleep: { value: 3000, may: ATTEMPTS, ...STRESS },
    repeat: { value: 3, may: ATTEMPTS, ...STRESS },
    kill: { value: 3, may: ['variants'], ...STRESS },
    block: { value: 9000, may: ATTEMPTS, ...STRESS },
  },
};

/** @param {readonly unknown[]} values values of all loads, whose number is in `loads` */
function distinct(values) {
  return [...new Set(values.map((value) => JSON.stringify(value)))];
}

/** @param {import('../../engine/plan.js').RunPlan} plan @returns {Record<string, any>} */
function fieldsOf({ how, slices, loads: _loads, rounds, warmupOperations: _warm, ...plan }) {
  const { variants } = plan;
  return {
    ...plan,
    ...(variants && { variants: variants.map(({ loads: _own, ...variant }) => variant) }),
    loads: how.map(({ load: { operations: _n, durationNs: _ns, ...load } }) => load),
    amount: distinct(how.map(({ load: { operations, durationNs } }) => [operations, durationNs])),
    schedule: distinct(how.map(({ schedule }) => schedule)),
    placement: distinct(how.map(({ load: { kind }, placement }) => `${kind}: ${placement}`)),
    warm: distinct(how.map(({ warm }) => warm)),
    rounds: slices === undefined ? rounds : slices.rounds,
    precision: slices?.precision,
    budget: slices?.hasBudget && slices.budgetNs,
    wait: slices?.waitNs,
  };
}

/** @param {string} command @param {Record<string, any>} given */
async function planOf(command, given) {
  const { plan } = await requestRun({ command, workload: command, ...given });
  return fieldsOf(plan);
}

for (const [command, entries] of Object.entries(COMMANDS)) {
  const workload = await loadWorkload(command);
  describe(`an option of ${command} changes what its name says`, () => {
    // Without those that the command has no use for.
    for (const name of Object.keys(optionsOf(workload, { all: false }))) {
      // Refused, see test/contract/mget-command.test.js.
      if (name === 'password') continue;
      test(name, async () => {
        const entry = entries[name] ?? TABLE[name];
        assert.ok(entry, 'a new option: say in the table which fields of the plan it may change');
        const before = await planOf(command, { ...entry.beside });
        const options = { ...entry.beside, ...entry.needs, [name]: entry.value };
        const after = await planOf(command, options);
        const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
        const changed = names.filter((field) => !isDeepStrictEqual(before[field], after[field]));
        assert.deepEqual(
          changed.filter((field) => !entry.may.includes(field)),
          [],
        );
        assert.equal(changed.length > 0, !entry.isElsewhere, 'it is obeyed');
      });
    }
  });
}

test('processors and warm-up belong to the load, whatever its amount', async () => {
  const plan = (/** @type {Record<string, any>} */ given) => planOf('race', given);
  const { placement, warm } = await plan({});
  assert.deepEqual(placement, ['"sync: one-cpu"', '"window: two-cpus"']);
  for (const given of [{ ops: [5000] }, { duration: 10_000 }, { rounds: 1 }, { rounds: 3 }]) {
    const other = await plan(given);
    assert.deepEqual([other['placement'], other['warm']], [placement, warm]);
  }
  const onOne = await plan({ placement: 'one-cpu', ops: [5] });
  assert.deepEqual(onOne['placement'], [...['"sync: one-cpu"', '"window: one-cpu"']]);
  assert.deepEqual((await plan({ warmupOperations: 0 }))['warm'], ['{"kind":"none"}']);
  await assert.rejects(plan({ pin: true, placement: 'free' }), /--pin and --placement/);
  await assert.rejects(plan({ rate: 5, placement: 'free' }), /--placement needs a window/);
});

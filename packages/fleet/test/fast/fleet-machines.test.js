/** Load machines: differences between them, allowed servers and storages. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { requireShareable, requireShared, targetsOf } from '../../../../cli/fleet-options.js';
import { planRun } from '../../../../engine/plan.js';
import { generatorsOf, roundTripTo } from '../../../../stats/fleet.js';
import { contenderOf } from '../../../../test/helpers/fleet.js';
import { loadWorkload } from '../../../../workloads/index.js';
import { requireNames, requireOther, requireTarget } from '../../allowed-targets.js';
import { differencesOf, identityOf } from '../../configuration.js';
import { fleetWarnings } from '../../fleet-warnings.js';

/** @typedef {import('../../../../engine/segment.js').Segment} Segment */

describe('equal configuration on all machines', () => {
  test('each difference is named', async () => {
    const own = await identityOf(['ioredis', 'redis:resp3']);
    assert.deepEqual(Object.keys(own.drivers), ['ioredis', 'redis']);
    assert.deepEqual(differencesOf(own, await identityOf(['ioredis', 'redis'])), []);
    const other = { ...own, node: 'v1.0.0', drivers: { ...own.drivers, redis: '1.2.3' } };
    assert.deepEqual(differencesOf(own, other), [
      `Node v1.0.0 instead of ${process.version}`,
      `redis 1.2.3 instead of ${own.drivers['redis']}`,
    ]);
    const [text] = differencesOf(own, { ...own, configuration: 'f'.repeat(64) });
    assert.match(text, /^configuration ffffffffffff instead of [0-9a-f]{12}: source files/);
  });

  test('the environment of the process is part of it', async () => {
    const own = await identityOf(['ioredis']);
    const before = process.env['UV_THREADPOOL_SIZE'];
    process.env['UV_THREADPOOL_SIZE'] = '7';
    try {
      assert.notEqual((await identityOf(['ioredis'])).configuration, own.configuration);
    } finally {
      if (before === undefined) delete process.env['UV_THREADPOOL_SIZE'];
      else process.env['UV_THREADPOOL_SIZE'] = before;
    }
  });

  test('the round trip of a storage is the longest of its agents, to its own server', () => {
    const trips = [
      { main: 5e4, other: 9e6 },
      { main: 3e5, other: 9e6 },
      { main: null, other: 9e6 },
    ];
    const fleet = {
      agents: trips.map(({ main, other }, i) => ({
        name: 'abc'[i],
        targets: { '10.0.0.1:6379': main, '10.0.0.2:3306': other },
      })),
    };
    const storages = [
      { name: 'ioredis', profile: 'tuned', server: 'redis' },
      { name: 'mysql2', profile: 'default', server: 'mariadb' },
    ];
    const servers = [{ name: 'redis', address: { main: '10.0.0.1:6379' } }];
    const result = /** @type {any} */ ({ fleet, storages, servers });
    const ioredis = { storage: 'ioredis', profile: 'tuned' };
    assert.equal(roundTripTo(ioredis, result), 3e5);
    assert.equal(roundTripTo(ioredis, result, 'a'), 5e4);
    assert.equal(roundTripTo(ioredis, result, 'c'), null, 'not measured');
    assert.equal(roundTripTo({ ...ioredis, profile: 'default' }, result), null);
    assert.equal(roundTripTo({ storage: 'mysql2', profile: 'default' }, result), null);
  });

  test('generators of a load are its processes, or those of all agents', () => {
    const of = (/** @type {number | undefined} */ processes, /** @type {number[][]} */ ...rounds) =>
      generatorsOf(
        /** @type {any} */ ({
          load: { processes },
          rounds: rounds.map((own) => ({ agents: own.map((one) => ({ processes: one })) })),
        }),
      );
    assert.deepEqual([of(undefined), of(4, []), of(2, [2, 2], [2, 1])], [1, 4, 4]);
  });

  test('a lost agent is named with the reason and the round, if there was one', () => {
    const of = (/** @type {any} */ lost, onLoss = 'invalid') => {
      const result = { fleet: { agents: [{}, {}, {}], onLoss, lost }, benchmarks: [] };
      return fleetWarnings(/** @type {any} */ (result)).map(({ message }) => message);
    };
    const lost = { agent: 'b', reason: 'no sign of life' };
    assert.deepEqual(of(lost), [
      'agent b was lost (no sign of life) outside a round; the run was ended',
    ]);
    assert.deepEqual(of({ ...lost, round: 1, position: 0 }), [
      'agent b was lost (no sign of life) in round 2, which is invalid; the run was ended',
    ]);
    assert.match(
      of({ ...lost, round: 1, position: 0 }, 'truncate')[0],
      /from the 2 others; the run/,
    );
  });
});

describe('allowed servers', () => {
  const main = { host: '10.1.2.3', port: 6379 };

  test('an agent loads servers on its own list, loopback only on the controller’s machine', async () => {
    const agent = { allowTargets: ['10.1.2.3:6379'], sameMachine: false };
    const far = { address: { main }, credentialVariables: null };
    const near = { ...far, address: { main: { host: '127.0.0.1', port: 6379 } } };
    const beside = { ...near, others: [{ name: 'proxy', address: { main }, pids: [] }] };
    await requireTarget(far, agent);
    for (const [target, sameMachine] of /** @type {const} */ ([
      [far, false],
      [beside, true],
    ])) {
      await assert.rejects(requireTarget(target, { allowTargets: [], sameMachine }), {
        code: 'E_REFUSED',
        message: /10\.1\.2\.3:6379 is not among the targets of this agent/,
      });
    }
    await requireTarget(near, { allowTargets: [], sameMachine: true });
    await assert.rejects(requireTarget(near, agent), {
      code: 'E_REFUSED',
      message: /loopback address/,
    });
  });

  test('an order has names: a file, a program or a processor is refused', () => {
    const { spec } = contenderOf(0, {});
    const [task] = spec.tasks;
    const storageOf = (/** @type {string} */ storage) => ({
      storage: { ...spec.storage, storage },
    });
    const workloadOf = (/** @type {string} */ workload) => ({
      tasks: [null, { ...task, workload }],
    });
    const wireOf = (/** @type {string} */ protocol) => ({
      ...storageOf('a ceiling'),
      opener: 'wire',
      wire: { protocol, endpoint: main },
    });
    for (const order of [storageOf('valkey-glide'), workloadOf('mget'), wireOf('redis')]) {
      requireNames(/** @type {any} */ ({ ...spec, ...order }));
    }
    for (const order of [
      storageOf('./mine.js'),
      storageOf('/tmp/mine.js'),
      storageOf('mine.js'),
      storageOf(''),
      workloadOf('../mine.mjs'),
      workloadOf('mine.js'),
      wireOf('./mine.js'),
      { opener: 'program' },
      { runtime: { program: '/bin/sh' } },
      { driver: {} },
      { storage: { ...spec.storage, driver: {} } },
      { cpus: [0] },
    ]) {
      const refused = {
        code: 'E_REFUSED',
        message: /^an order contains (an invalid name of a|a) /,
      };
      const all = /** @type {any} */ ({ ...spec, ...order });
      assert.throws(() => requireNames(all), refused, JSON.stringify(order));
    }
  });

  test('the coordinator is not allowed', () => {
    assert.throws(() => requireOther([main], { ...main }), {
      code: 'E_REFUSED',
      message: '10.1.2.3:6379 is the coordinator, which cannot be measured',
    });
    requireOther([main], { ...main, port: 6390 });
  });

  test('a race of several machines takes names of installed storages with a server', async () => {
    const storages = ['ioredis', 'redis:resp3'];
    assert.deepEqual(await requireShared({ storages }), storages);
    for (const [options, message] of /** @type {[Record<string, any>, RegExp][]} */ ([
      [{}, /--agents needs --storages/],
      [{ storages: ['ioredis:all'] }, /needs --storages/],
      [{ storages: ['./mine.js'] }, /agents accept names, not code/],
      [{ storages: ['memory'] }, /memory is embedded/],
      [{ storages, pin: true }, /--agents and --pin/],
      [{ storages, limits: true }, /--agents and --limits/],
      [{ storages, runtime: ['node@22'] }, /--agents and --runtime/],
      [{ storages, placement: 'free' }, /--agents and --placement/],
    ])) {
      await assert.rejects(requireShared(options), { code: 'E_USAGE', message });
    }
    const race = await loadWorkload('race');
    assert.equal(planRun({ agents: 3, precision: 0.05 }, race).slices?.precision, 0.05);
    const loads = planRun({ agents: 3, load: 'window', inFlight: 5 }, race);
    requireShareable(loads, { agents: 5 });
    const few = { code: 'E_USAGE', message: /--agents 6: 5 in flight are fewer than the agents/ };
    assert.throws(() => requireShareable(loads, { agents: 6 }), few);
    const truncated = { agents: 2, onAgentLoss: 'truncate' };
    assert.throws(
      () => requireShareable(loads, truncated),
      /contenders are compared within a round/,
    );
    assert.throws(
      () => targetsOf({ targetsFile: '/nowhere/targets' }),
      /cannot be read \(no such file or folder\)/,
    );
    assert.deepEqual(targetsOf({ allowTarget: ['a:1'] }), ['a:1']);
  });
});

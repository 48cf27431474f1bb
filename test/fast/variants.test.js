/**
 * Variants of a workload: its benchmarks, the input of their processes, and its
 * namespace.
 */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { openNamespace } from '../../data/namespaces/index.js';
import { makeBenchmarks, makeJobs } from '../../engine/benchmarks.js';
import { loadLabel } from '../../engine/loads.js';
import { withNamespaces } from '../../engine/namespaces.js';
import { planRun } from '../../engine/plan.js';
import { storageContender } from '../../engine/roles.js';
import { run } from '../../index.js';
import { defineWorkload } from '../../lib/define.js';
import { loadStorage } from '../../storages/index.js';
import { withFolder } from '../helpers/folder.js';

const home = withFolder();

/** @param {Partial<import('../../lib/types.js').WorkloadDefinition>} more */
const workloadOf = (more) =>
  defineWorkload({
    name: 'made-up',
    summary: 'for these tests',
    needs: ['get'],
    namespace: { name: 'made-up' },
    prepare: () => () => ({ op: () => undefined, verify: () => 0 }),
    ...more,
  });

/** @param {string} name */
async function target(name) {
  const definition = await loadStorage(name);
  const none = { server: null, unavailable: null, version: null, named: true };
  return { definition, source: name, profile: 'default', ...none };
}

const variants = [
  { parameters: { way: 'direct' } },
  { parameters: { way: 'proxy' }, loads: [{ kind: /** @type {const} */ ('sync') }] },
  { parameters: { way: 'none' }, storages: ['lmdb'] },
];
const loads = [{ kind: /** @type {const} */ ('window'), inFlight: 7, operations: 10 }];

/** @param {string} name */
const proxy = (name) => ({
  name,
  address: { main: { host: '127.0.0.1', port: 1 } },
  source: /** @type {const} */ ('flag'),
  version: null,
  settings: {},
  credentialVariables: null,
  pids: [123],
  unavailable: null,
});

describe('benchmarks of variants', () => {
  test('one per variant, load and supported storage', async () => {
    const storages = [await target('memory'), await target('lmdb')];
    const plan = planRun({ workload: 'get', variants, loads });
    const benchmarks = makeBenchmarks(plan, storages, [], workloadOf({}));
    assert.deepEqual(
      benchmarks.map(({ id, load }) => [id.replace(`/${loadLabel(load)}`, ''), load.inFlight]),
      [
        ['memory:default/get[way=direct]', 7],
        ['lmdb:default/get[way=direct]', 7],
        ['memory:default/get[way=proxy]', 1],
        ['lmdb:default/get[way=proxy]', 1],
        ['lmdb:default/get[way=none]', 7],
      ],
    );
    assert.deepEqual(benchmarks[2].parameters, { way: 'proxy' });
    assert.equal(benchmarks[2].load.kind, 'sync');
    assert.equal(plan.loads.length, 2, 'each load of the run once');
  });

  test('an unsupported variant has no benchmark, or a skipped one', async () => {
    const storages = [await target('memory'), await target('lmdb')];
    const plan = planRun({ workload: 'get', variants: variants.slice(0, 1), loads });
    const missing = { reason: 'it cannot', hint: 'take another' };
    const workload = workloadOf({ offers: ({ name }) => (name === 'memory' ? false : missing) });
    const [benchmark, ...more] = makeBenchmarks(plan, storages, [], workload);
    assert.deepEqual(more, []);
    assert.equal(benchmark.storage, 'lmdb');
    assert.equal(benchmark.state, 'skipped');
    assert.equal(benchmark.reason, 'it cannot');
  });

  test('further servers: passed to the processes of the benchmarks that need them', async () => {
    const storages = [await target('memory')];
    const plan = planRun({ workload: 'get', variants: variants.slice(0, 2), loads });
    const servers = (/** @type {any} */ { way }) => (way === 'proxy' ? ['nutcracker'] : []);
    const workload = workloadOf({ servers });
    const others = [proxy('nutcracker'), proxy('another')];
    const result = /** @type {any} */ ({
      benchmarks: makeBenchmarks(plan, storages, others, workload),
    });
    const jobs = makeJobs(plan, storages, result, workload);
    assert.deepEqual(jobs[0].load.others, []);
    assert.deepEqual(jobs[1].load.others, ['nutcracker']);
    const context = { plan, others, folder: home, round: 0 };
    const { spec } = storageContender(storages[0], [jobs[1].load], context);
    const [of] = (spec.storage.others ?? []).filter(({ name }) => name === 'nutcracker');
    assert.deepEqual([of.pids, spec.tasks[0]?.others], [[123], ['nutcracker']]);
    assert.deepEqual(spec.tasks[0]?.workloadOptions, { parameters: { way: 'proxy' } });
    const gone = [{ ...others[0], unavailable: { reason: 'it is down', hint: 'start it' } }];
    const [direct, skipped] = makeBenchmarks(plan, storages, gone, workload);
    assert.equal(direct.state, 'planned');
    assert.equal(skipped.reason, 'it is down');
  });

  test('a run of them: a result with the parameters of each', async () => {
    const result = await run({
      home,
      workload: 'get',
      storages: ['memory'],
      variants: [{ parameters: { n: 1 } }, { parameters: { n: 2 } }],
      loads: [{ kind: 'window', inFlight: 10, operations: 500 }],
      rows: 100,
      valueSize: 16,
      warmupOperations: 10,
    });
    assert.deepEqual(
      result.benchmarks.map(({ parameters, state }) => [parameters?.['n'], state]),
      [
        [1, 'measured'],
        [2, 'measured'],
      ],
    );
    assert.ok(result.benchmarks.every(({ rounds }) => rounds[0].outcomes.ok === 500));
  });
});

describe('the namespace of a run', () => {
  test('its folder is removed, even if the work fails; so is that of a killed run', async () => {
    const storages = [await target('memory')];
    const plan = planRun({ workload: 'get', variants, loads });
    const killed = path.join(home, 'embedded', 'made-up.999999999.1');
    mkdirSync(killed, { recursive: true });
    let folderOfRun = '';
    const namespace = { name: 'made-up' };
    const namespaces = [{ namespace, dataset: plan.dataset }];
    const work = withNamespaces({ plan, namespaces, storages, home }, async (folder) => {
      assert.ok(!existsSync(killed));
      mkdirSync(folder, { recursive: true });
      folderOfRun = folder;
      throw new Error('it failed');
    });
    await assert.rejects(work, /it failed/);
    assert.ok(folderOfRun.startsWith(home) && !existsSync(folderOfRun));
  });

  test('a server without a declared namespace is refused', async () => {
    const context = { address: {}, credentials: {} };
    for (const server of ['redis', 'nutcracker', 'constructor']) {
      await assert.rejects(openNamespace(server, { name: 'made-up' }, context), {
        code: 'E_USAGE',
        message: `made-up: no namespace on ${server}`,
      });
    }
  });
});

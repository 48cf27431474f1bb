/**
 * A race measures the same, however much of it: the amount, the rounds and the processes change
 * what their names say, and no contender, load, processor or column.
 */
// Needs: redis, coordinator

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { report, run, seed } from '../../index.js';
import { formatEndpoint } from '../../lib/address.js';
import { withCommands } from '../helpers/command-folder.js';
import { inTime } from '../helpers/fleet.js';
import { frozenForm, normalForm } from '../helpers/frozen.js';
import { withFleet } from '../helpers/load-machines.js';
import { withServers } from '../helpers/servers.js';

const servers = withServers(['redis', 'coordinator']);
const { callHere, resultIn } = withCommands(servers);

/** @type {Record<string, Record<string, unknown>>} */
const AMOUNTS = {
  duration: { duration: 50, rounds: 1 },
  budget: { budget: 1000, rounds: 1 },
  processes: { processes: 2, ops: 300, rounds: 1 },
};
const addresses = () => ({ redis: formatEndpoint(servers.address('redis')['main']) });

/** @param {Record<string, unknown>} amount */
async function race(amount) {
  const storages = ['ioredis', 'redis'];
  const options = { workload: 'race', storages, rows: 200, inFlight: 20, warmup: 100 };
  const result = await run(/** @type {any} */ ({ ...options, ...amount, addresses: addresses() }));
  assert.equal(result.state, 'complete', JSON.stringify(result.warnings));
  return result;
}

/** @param {Pick<import('../../lib/result.js').Result, 'comparison' | 'benchmarks'>} result */
function shapeOf({ comparison, benchmarks }) {
  return {
    benchmarks: benchmarks.map(({ storage, workload, load: { kind, inFlight } }) => [
      ...[storage, workload, kind, inFlight],
    ]),
    loads: comparison?.loads.map(({ kind, inFlight, placement, contenders }) => ({
      kind,
      inFlight,
      placement: placement.kind ?? placement,
      contenders: contenders.map(({ name, group, of, ceiling }) => [name, group, of, ceiling]),
    })),
  };
}

/** @param {any} form normal form of a result */
const shapeOfForm = (form) => ({
  ...shapeOf(form),
  columns: form.tables.map((/** @type {{ columns: string }} */ { columns }) =>
    columns.split(' ').filter((key) => !OF_ONE_SIDE.has(key)),
  ),
});

/** @param {import('../../lib/result.js').Result} result */
async function columnsOf(result) {
  const [{ tables }] = JSON.parse(await report(result, 'json'));
  return tables.map((/** @type {any} */ { columns }) =>
    columns
      .map((/** @type {any} */ { key }) => key)
      .filter((/** @type {string} */ key) => !OF_AMOUNT.has(key)),
  );
}

/** Growth of memory needs two rounds, the bytes allocated many brief segments. */
const OF_AMOUNT = new Set(['memory_growth', 'allocated_bytes']);

/** Agents have a way to the server, and their server is not probed. */
const OF_ONE_SIDE = new Set(['network', 'server_operations', 'server_errors']);

describe('a race', { timeout: 300_000 }, () => {
  /** @type {import('../../lib/result.js').Result} */
  let usual;
  before(async () => {
    await seed({ servers: ['redis'], rows: 200, addresses: addresses() });
    usual = await race({ ops: 300, rounds: 2 });
  });

  for (const [name, amount] of Object.entries(AMOUNTS)) {
    test(`by ${name} has the contenders, loads, processors and columns of one by operations`, async () => {
      const other = await race(amount);
      assert.deepEqual(shapeOf(other), shapeOf(usual));
      assert.deepEqual(await columnsOf(other), await columnsOf(usual));
    });
  }

  describe('by two load machines', () => {
    withFleet(servers, ['left', 'right']);

    // frozen.test.js runs such a race and compares it with this form.
    test('has them too by --budget, and the route to the server', async () => {
      const [other, own] = [frozenForm('agents-slices'), await normalForm(usual)].map(shapeOfForm);
      assert.deepEqual(other, own);
    });

    test('has them too by --ops, and the route to the server', async () => {
      const words = ['race', '--storages', 'ioredis,redis', '--rows', '200', '--agents', '2'];
      const amount = ['--ops', '300', '--in-flight', '20', '--rounds', '1', '--warmup', '100'];
      const { status, stdout, stderr } = await inTime(() =>
        callHere(...words, ...amount, '--no-html', '--force', '--json', 'a.json'),
      );
      assert.equal(status, 0, stdout + stderr);
      const other = resultIn('a.json');
      assert.deepEqual(shapeOf(other), shapeOf(usual));
      const columns = (/** @type {any[]} */ all) =>
        all.map((/** @type {string[]} */ keys) => keys.filter((key) => !OF_ONE_SIDE.has(key)));
      assert.deepEqual(columns(await columnsOf(other)), columns(await columnsOf(usual)));
    });
  });
});

/**
 * Two commands on one server: rows that a living run reads are not replaced, and two runs that
 * measure each other say so. Other commands are processes of their own, with state folders of their
 * own.
 */
// Needs: redis, mariadb, tarantool, redis-cluster

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { run } from '../../index.js';
import { formatEndpoint } from '../../lib/address.js';
import { parseResult } from '../../lib/parse-result.js';
import { callIn, startCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { withoutAccountHome } from '../helpers/not-checked.js';
import { addressFlags, withServers } from '../helpers/servers.js';

const ROWS = 500;

/** By server: its storage, the option of its address, its loader. @type {Record<string, string[]>} */
const BY_SERVER = {
  redis: ['ioredis', 'redis', 'redis'],
  mariadb: ['mariadb', 'mysql', 'mysql'],
  tarantool: ['tarantool', 'tarantool', 'tarantool'],
  'redis-cluster': ['ioredis-cluster', 'redis-cluster', 'redis-cluster'],
};

describe('two at once', { skip: withoutAccountHome() }, () => {
  const servers = withServers(['redis', 'mariadb', 'tarantool', 'redis-cluster']);
  const folder = withFolder();

  /**
   * @param {string} server
   * @param {string} storage
   * @param {string[]} names names of flag and loader
   */
  const on = (server, storage, [flag, loader]) => {
    const address = () =>
      formatEndpoint(/** @type {any} */ (Object.values(servers.address(server))[0]));
    /** @param {string[]} words */
    const command = (...words) =>
      startCommand(folder, ['bin/dragstrip.js', ...words, `--${flag}`, address()]);
    const seeding = ['seed', loader, '--rows', String(ROWS)];
    const seed = (/** @type {string[]} */ ...words) => command(...seeding, ...words).ended;
    /** Before and after the run, in this process. @param {string[]} words */
    const seedHere = (...words) =>
      callIn(folder, ['bin/dragstrip.js', ...seeding, ...words, `--${flag}`, address()]);

    /**
     * @param {() => Promise<void>} meanwhile called once while a run of this process reads
     * @param {Record<string, unknown>} [more] options
     */
    const whileReading = async (meanwhile, more = {}) => {
      const stop = new AbortController();
      /** @type {(value?: unknown) => void} */
      let begun = () => {};
      const reads = new Promise((resolve) => {
        begun = resolve;
      });
      const running = run(
        {
          storages: [storage],
          loads: [{ kind: 'rate', rate: 100, durationMs: 120_000 }],
          rounds: 1,
          warmup: 100,
          rows: ROWS,
          addresses: addressFlags(servers),
          home: path.join(folder, 'reader'),
          ...more,
        },
        {
          signal: stop.signal,
          onEvent(event) {
            if (event.type === 'progress' && event.phase === 'measure' && event.settled > 0)
              begun();
          },
        },
      );
      await Promise.race([reads, running]);
      await meanwhile().finally(() => stop.abort());
      return running;
    };
    return { command, seed, seedHere, whileReading };
  };

  for (const [server, [storage, flag, loader]] of Object.entries(BY_SERVER)) {
    const { seed, seedHere, whileReading } = on(server, storage, [flag, loader]);

    test(`${server}: seed is refused while a run reads, and no row is wrong`, async () => {
      const first = await seedHere();
      assert.equal(first.status, 0, first.stderr);
      const result = await whileReading(async () => {
        const { status, stderr } = await seed('--seed', '7');
        assert.match(
          stderr,
          new RegExp(
            `^dragstrip: ${server} \\S+: another run is using it: process ${process.pid} of this ` +
              'machine \\(dragstrip run\\)',
          ),
        );
        assert.equal(status, 3);
        const same = await seed();
        assert.match(same.stdout, /already present/, 'rows that stay are counted beside it');
      });
      const [{ outcomes }] = result.benchmarks[0].rounds;
      assert.ok(outcomes.ok > 0);
      assert.equal(outcomes.mismatch + outcomes.miss, 0);
      const after = await seedHere('--seed', '7');
      assert.equal(after.status, 0, after.stderr);
      assert.equal((await seedHere()).status, 0);
    });
  }

  test('two runs that read one server warn each other, also where one ends first', async () => {
    const { seedHere, command, whileReading } = on('redis', ...toPair(BY_SERVER['redis']));
    assert.equal((await seedHere()).status, 0);
    const file = path.join(folder, 'second.json');
    let pid = 0;
    const first = await whileReading(async () => {
      const second = command(
        ...['run', '--storages', 'iovalkey', '--rows', String(ROWS), '--load', 'window'],
        ...['--ops', '200', '--warmup', '50', '--rounds', '1', '--json', file],
      );
      pid = Number(second.child.pid);
      const { status, stderr } = await second.ended;
      assert.equal(status, 0, stderr);
    });
    const second = parseResult(readFileSync(file, 'utf8'), file);
    assert.match(warningOf(second), new RegExp(`used by process ${process.pid} of this machine`));
    assert.match(warningOf(first), new RegExp(`used by process ${pid} of this machine`));
  });

  test('a run with separate data is refused while another reads', async () => {
    const { seedHere, command, whileReading } = on('redis', ...toPair(BY_SERVER['redis']));
    assert.equal((await seedHere()).status, 0);
    await whileReading(async () => {
      const words = ['mget', 'scatter', '--storages', 'ioredis', '--rows', '300', '--cycles', '1'];
      const { status, stderr } = await command(...words).ended;
      assert.match(stderr, new RegExp(`another run is using it: process ${process.pid} of`));
      assert.equal(status, 3);
    });
  });

  test('a run on own data, which Dragstrip never replaces, does not block', async () => {
    const { seed, seedHere, whileReading } = on('redis', ...toPair(BY_SERVER['redis']));
    assert.equal((await seedHere()).status, 0);
    const own = { workload: 'get', readOnly: true, rows: undefined };
    await whileReading(async () => {
      const { status, stderr } = await seed('--seed', '7');
      assert.equal(status, 0, stderr);
    }, own);
  });
});

/** @param {string[]} about @returns {[string, string[]]} */
function toPair([storage, ...rest]) {
  return [storage, rest];
}

/** @param {import('../../lib/result.js').Result} result */
function warningOf({ warnings }) {
  return warnings.find(({ code }) => code === 'W_OTHER_RUN')?.message ?? 'no warning';
}

/** A real Cassandra that stands still, then one that is killed, while rows are inserted. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { statusOf } from '../../cli/status.js';
import { LOST } from '../../engine/lost-servers.js';
import { run } from '../../index.js';
import { OUTCOMES } from '../../lib/outcome.js';
import { whyNoCassandra } from '../helpers/cassandra.js';
import { withServers } from '../helpers/servers.js';

describe('Cassandra', { skip: await whyNoCassandra() }, () => {
  const servers = withServers(['cassandra']);

  for (const [signal, why] of /** @type {const} */ ([
    ['SIGSTOP', /the server was lost: .*(does not answer|no answer)/],
    ['SIGKILL', /the server was lost: .*connection refused/],
  ])) {
    test(`${signal} while rows are inserted: failed with the reason, status 4`, async () => {
      const { pid } = servers.running('cassandra');
      let isDone = false;
      const result = await run(
        /** @type {any} */ ({
          workload: 'insert',
          storages: ['cassandra'],
          strategies: ['async', 'unlogged_batch'],
          rows: 200_000,
          rounds: 1,
          warmup: 2,
          timeoutMs: 3000,
          home: servers.home(),
        }),
        {
          onEvent(event) {
            if (isDone || event.type !== 'progress' || event.phase !== 'measure') return;
            if (event.settled === 0) return;
            isDone = true;
            process.kill(pid, signal);
          },
        },
      ).finally(() => signal === 'SIGSTOP' && process.kill(pid, 'SIGCONT'));
      assert.ok(isDone, 'the fault was injected');
      const said = JSON.stringify(result.benchmarks);
      assert.equal(statusOf(result), 4, said);
      assert.equal(result.warnings.filter(({ code }) => code === LOST).length, 1, said);
      for (const { state, reason, rounds } of result.benchmarks) {
        assert.equal(state, 'failed', said);
        assert.match(String(reason), why);
        const [{ outcomes, scheduled }] = rounds;
        assert.equal(
          OUTCOMES.reduce((sum, name) => sum + outcomes[name], 0),
          scheduled,
        );
      }
      assert.equal(result.benchmarks[1].rounds[0].scheduled, 0, 'not asked again');
    });
  }
});

/**
 * CQL's fixtures against a real Cassandra: what is stored is what it answers today, and what the
 * encoders must write is what it understands.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fixtureBytes } from '../../codecs/archive.js';
import { createPlainDecoder } from '../../codecs/cql/plain.js';
import { KEYSPACE } from '../../codecs/cql/reference.js';
import { firstDifference } from '../../codecs/difference.js';
import { FIXTURES } from '../../codecs/fixtures.js';
import { referenceBytes } from '../../codecs/reference.js';
import { batchRows, requestKeys } from '../../codecs/rows.js';
import { whyNoCassandra } from '../helpers/cassandra.js';
import { askOnce, openCql, recordCassandra, withClient } from '../helpers/codec-recorder-cql.js';
import { withServers } from '../helpers/servers.js';

const OWN = FIXTURES.filter(({ protocol, single }) => protocol === 'cql' && !single);
const SHAPE = /** @type {const} */ ({ types: ['utf8'], buffers: false });

/** @param {string} name */
function encoded(name) {
  const found = OWN.find((one) => one.direction === 'encode' && one.name === name);
  assert.ok(found);
  return referenceBytes(found);
}

/** @param {Buffer} bytes @returns {any[]} replies */
function decode(bytes) {
  /** @type {any[]} */
  const replies = [];
  createPlainDecoder(SHAPE, (reply) => replies.push(reply)).write(bytes);
  return replies;
}

describe('fixtures of CQL', { skip: await whyNoCassandra() }, () => {
  const servers = withServers(['cassandra']);

  test('Cassandra answers what is stored, and reads what is encoded', async () => {
    const { main } = servers.address('cassandra');
    const credentials = servers.credentials('cassandra');
    const recorded = await recordCassandra(main, credentials);
    const decodes = OWN.filter(({ direction }) => direction === 'decode');
    assert.ok(recorded.size >= 5);
    for (const fixture of decodes) {
      const same = recorded.get(fixture.name)?.equals(fixtureBytes(fixture));
      assert.ok(same, `${fixture.name}: run test/helpers/record-codec-fixtures.js cassandra`);
    }
    const wire = await openCql(main, credentials);
    try {
      assert.deepEqual(decode(await askOnce(wire, encoded('batch-4096'))), [null]);
      await withClient(main, credentials, async (client) => {
        const { rows } = await client.execute(`SELECT a, b, c, d FROM ${KEYSPACE}.batched`, [], {
          fetchSize: 10_000,
        });
        const stored = rows.map((row) => row.values()).sort((x, y) => x[1] - y[1]);
        assert.equal(firstDifference(stored, batchRows()), null);
        const insert = `INSERT INTO ${KEYSPACE}.small (id, str) VALUES (?, ?)`;
        await client.execute(insert, [requestKeys()[1], 'found'], { prepare: true });
      });
      const requests = encoded('requests-1000');
      /** @type {any[]} */
      const found = [];
      for (let at = 0; at < requests.length; ) {
        const end = at + 9 + requests.readUInt32BE(at + 5);
        found.push(...decode(await askOnce(wire, requests.subarray(at, end))));
        at = end;
      }
      assert.equal(found.length, 1000);
      assert.deepEqual(found[1], [['found']]);
      const stored = requestKeys().filter((key, i) => i !== 1 && key <= 1000).length;
      assert.equal(found.filter((rows) => rows.length === 1).length, 1 + stored);
    } finally {
      wire.close();
    }
  });
});

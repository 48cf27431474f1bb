/** The closing sentences of a load, from its standings. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../lib/random.js';
import { verdictOf } from '../../report/verdict.js';
import { standingsOf } from '../../stats/standings.js';

/** @typedef {import('../../stats/standings.js').Entry} Entry */

const random = createRandom(7, 1);
/** @param {number} value @returns {number[][]} logs by round and segment */
const logsOf = (value) =>
  Array.from({ length: 6 }, () =>
    Array.from({ length: 20 }, () => Math.log(value) + 0.02 * (random() / 2 ** 32 - 0.5)),
  );

/**
 * @param {string} name
 * @param {string} ceiling
 * @param {{ client: number, server: number }} cpu ns per operation
 * @returns {Entry}
 */
const entryOf = (name, ceiling, { client, server }) => ({
  name,
  group: 'networked',
  ceiling,
  time: logsOf(10_000),
  witnesses: { clientCpu: logsOf(client), serverCpu: logsOf(server) },
});

/** @param {Entry[]} entries */
function cpuSentence(entries) {
  const load = { kind: 'sync', inFlight: 1 };
  const comparison = { load, stored: null, entries, machine: { load: 0, cores: 2 } };
  const standings = standingsOf(entries);
  const [text] = verdictOf(/** @type {any} */ ({ ...comparison, standings }));
  return /CPU per operation separates them: (.*?)\. /.exec(text)?.[1] ?? null;
}

test('CPU time of servers separates drivers of one server only', () => {
  const first = entryOf('a', 'redis ceiling', { client: 5000, server: 2000 });
  const more = { client: 5000, server: 4000 };
  const same = String(cpuSentence([first, entryOf('b', 'redis ceiling', more)]));
  assert.match(same, /^server (a|b) (0\.[45]|[12]\.)\d*× .* of (a|b)$/);
  assert.equal(cpuSentence([first, entryOf('b', 'handlersocket ceiling', more)]), null);
});

test('CPU time of clients separates drivers of all servers', () => {
  const first = entryOf('a', 'redis ceiling', { client: 5000, server: 2000 });
  const other = entryOf('b', 'mysql ceiling', { client: 7000, server: 4000 });
  assert.match(String(cpuSentence([first, other])), /^client (a|b) (0\.7|1\.4)\d*× .* of (a|b)$/);
});

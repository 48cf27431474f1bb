/** The outage of an open loop, and messages about it and about redirections. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterWarnings } from '../../engine/cluster-warnings.js';
import { addRedirects, watchRedirects } from '../../engine/redirects.js';
import { longestOutage } from '../../stats/outage.js';

const WINDOW_NS = 1e8;
const RATE = 1000;

/** @param {(i: number) => number} at operations of window i of a load of 10 s */
function outageOf(at) {
  const operations = Array.from({ length: 100 }, (_, i) => at(i));
  return longestOutage({ windowNs: WINDOW_NS, operations }, RATE, 10e9);
}

test('a loss of one third for three seconds is an outage with exact edges', () => {
  const outage = outageOf((i) => (i >= 30 && i < 60 ? 66 : 100));
  assert.deepEqual(outage, { startNs: 3e9, durationNs: 3e9, share: 0.66 });
});

test('catching up in single windows does not end it', () => {
  const outage = outageOf((i) => (i >= 30 && i < 60 ? (i % 9 === 0 ? 200 : 40) : 100));
  assert.equal(outage?.startNs, 3e9);
  assert.equal(outage?.durationNs, 3e9);
});

test('an outage until the end, missing in the timeline, is reported', () => {
  const operations = Array.from({ length: 60 }, () => 100);
  const outage = longestOutage({ windowNs: WINDOW_NS, operations }, RATE, 10e9);
  assert.deepEqual(outage, { startNs: 6e9, durationNs: 4e9, share: 0 });
});

test('no outage: noise, a pause of 300 ms, overload, too short a load, no timeline', () => {
  assert.equal(
    outageOf((i) => (i % 2 === 0 ? 70 : 130)),
    null,
  );
  assert.equal(
    outageOf((i) => (i >= 30 && i < 33 ? 0 : i === 33 ? 400 : 100)),
    null,
  );
  assert.equal(
    outageOf(() => 60),
    null,
  );
  assert.equal(
    longestOutage({ windowNs: WINDOW_NS, operations: [100, 0, 0, 0, 0, 0, 0] }, RATE, 7e8),
    null,
  );
  assert.equal(longestOutage({ windowNs: 0, operations: [] }, RATE, 10e9), null);
});

test('redirections are counted from the start of a measurement, over all handles', () => {
  const counts = [{ moved: 5 }, { moved: 1 }];
  const handles = counts.map((own) => ({ redirects: () => ({ ...own }), close: async () => {} }));
  const read = watchRedirects(handles);
  counts[0].moved += 2;
  counts[1].moved += 3;
  assert.deepEqual(read(), { redirects: { moved: 5 } });
  assert.deepEqual(watchRedirects([{ close: async () => {} }])(), {});
  assert.equal(addRedirects([{ moved: 1 }, undefined]), undefined);
  assert.equal(addRedirects([]), undefined);
});

test('warnings name both, with the round and the benchmark', () => {
  const operations = Array.from({ length: 100 }, (_, i) => (i >= 30 && i < 60 ? 66 : 100));
  const rounds = [
    {
      round: 1,
      state: 'measured',
      durationNs: 10e9,
      timeline: { windowNs: WINDOW_NS, operations },
      redirects: { moved: 12, ask: 0, clusterDown: 3 },
    },
  ];
  const load = { kind: 'rate', rate: RATE, durationNs: 10e9 };
  const benchmark = /** @type {any} */ ({ id: 'a', load, rounds });
  const warnings = clusterWarnings([benchmark]);
  assert.deepEqual(
    warnings.map(({ code, benchmark: id }) => [code, id]),
    [
      ['W_REDIRECTED', 'a'],
      ['W_OUTAGE', 'a'],
    ],
  );
  assert.match(warnings[0].message, /12 MOVED, 3 CLUSTERDOWN/);
  assert.match(warnings[1].message, /round 2: outage of 3\.0 s, 3\.0 s after the start: 66 %/);
  const trace = { ...benchmark, load: { ...load, arrivals: 'trace' } };
  const codes = clusterWarnings([trace]).map(({ code }) => code);
  assert.deepEqual(codes, ['W_REDIRECTED'], 'pauses of a trace are its own');
  const quiet = {
    ...rounds[0],
    redirects: { moved: 0 },
    timeline: { windowNs: 0, operations: [] },
  };
  assert.deepEqual(clusterWarnings([{ ...benchmark, rounds: [quiet] }]), []);
});

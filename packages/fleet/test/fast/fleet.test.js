/** Pure parts of several load machines: clocks, lateness, losses, differences, refusals. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { timetableOf } from '../../../../engine/schedule/index.js';
import { emptySegment } from '../../../../engine/segment.js';
import { UNSENT } from '../../../../lib/outcome.js';
import { SecondsRecorder } from '../../../../load/seconds-recorder.js';
import { decode } from '../../../../measure/hdr.js';
import { Histogram } from '../../../../measure/histogram.js';
import { createTokens } from '../../../../servers/coordinator.js';
import { contenderOf } from '../../../../test/helpers/fleet.js';
import { commonStart, compareClocks } from '../../coordinator-clock.js';
import { fleetWarnings } from '../../fleet-warnings.js';
import { mergeBlocks, mergeWhole, truncate } from '../../merge-agents.js';
import { portable } from '../../portable.js';
import { createSeatKey, isSignedBy, signerOf, verifierOf } from '../../seat-key.js';
import { packUpload, unpackUpload } from '../../upload.js';

/** @typedef {import('../../../../engine/segment.js').Segment} Segment */
/** @typedef {import('../../merge-agents.js').Contribution} Contribution */

const CONTENDER = contenderOf(0, {});
const AMOUNT = Object.freeze({ operations: 1000, durationNs: null });
const NOTHING_KEPT = Object.freeze({ leads: [[]], kept: [[]], processRecords: [], failure: null });

/** @param {number} k @returns {number} ns of operation k */
const latencyOf = (k) => 100_000 + ((k * 7919) % 5000) * 37;

/**
 * @param {number} agent
 * @param {number} count
 * @param {{ operations?: number, startNs?: number, open?: Segment['open'] }} [how]
 * @returns {Segment} segment of operations agent, agent + count …: a thousand per second in total
 */
function wholeOf(agent, count, { operations = 5000, startNs = 0, open = null } = {}) {
  const recorder = new SecondsRecorder(0, { service: true, kinds: null });
  for (let k = agent; k < operations; k += count) recorder.ok(k * 1e6 - latencyOf(k), k * 1e6, k);
  const ok = recorder.histogram.count;
  const seconds = recorder.toSeconds().map((one, i) => [`second ${i}`, one]);
  return {
    ...emptySegment(),
    scheduled: ok,
    outcomes: [ok, ...emptySegment().outcomes.slice(1)],
    wall: [[startNs, startNs + operations * 1e6]],
    histograms: { latency: recorder.histogram.toMessage(), ...Object.fromEntries(seconds) },
    open: open && { dropped: 0, late: 0, lateNsMax: 0, ...open },
    figures: {
      spanNs: operations * 1e6,
      spanOperations: ok,
      medianNs: null,
      valid: true,
      lateNs: 0,
      latency: null,
    },
  };
}

/**
 * @param {number} count count of agents
 * @param {(agent: number) => Parameters<typeof wholeOf>[2]} [how]
 * @returns {Contribution[]}
 */
function contributions(count, how = () => ({})) {
  return Array.from({ length: count }, (_, agent) => ({
    agent: 'abcdefg'[agent],
    seats: [{ ...NOTHING_KEPT, segments: [[wholeOf(agent, count, how(agent))]] }],
    offsetNs: 0,
  }));
}

/** @param {Contribution[]} all @param {number} [atNs] */
async function merged(all, atNs = 0) {
  const seat = await mergeWhole(all, { contender: CONTENDER, failure: null, atNs });
  const segment = seat.merged([0]);
  assert.ok(segment);
  return { segment, failure: seat.failure, agents: segment.agents };
}

describe('clocks', () => {
  test('the exchange with the smallest round trip gives the offset', async () => {
    const trips = [400e3, 100e3, 900e3];
    let nowNs = 5e9;
    let i = 0;
    const client = {
      // The server is 2000 s ahead of 2026-01-01, and reads its clock in the middle of the round
      // trip.
      async time() {
        const tripNs = trips[i++];
        const atNs = 2000e9 + nowNs + tripNs / 2;
        nowNs += tripNs;
        const micros = Math.round(atNs / 1e3);
        return [1_767_225_600 + Math.floor(micros / 1e6), micros % 1e6].map(String);
      },
    };
    const { offsetNs, roundTripNs } = await compareClocks(client, {
      exchanges: 3,
      now: () => nowNs,
    });
    assert.equal(roundTripNs, 100e3);
    assert.ok(Math.abs(offsetNs - 2000e9) <= 1e3, `${offsetNs}`);
  });

  test('all begin half a second later, or twenty round trips', () => {
    assert.equal(commonStart(1e9, [1e6, 2e6]), 1.5e9);
    assert.equal(commonStart(1e9, [1e6, 80e6]), 1e9 + 1.6e9);
  });
});

describe('one load on several machines', () => {
  test('three agents equal one to the byte, and the sums of the agents are checked', async () => {
    const [single, three] = await Promise.all([1, 3].map((count) => merged(contributions(count))));
    assert.equal(three.failure, null);
    assert.deepEqual(three.segment.histograms, single.segment.histograms);
    assert.deepEqual(three.segment.outcomes, single.segment.outcomes);
    assert.deepEqual(
      three.agents.map(({ agent, ok }) => [agent, ok]),
      [
        ['a', 1667],
        ['b', 1667],
        ['c', 1666],
      ],
    );
    const sum = new Histogram();
    for (const { latency } of three.agents) sum.merge(await decode(String(latency?.histogram)));
    assert.deepEqual(sum.toSparse(), three.segment.histograms['latency']?.sparse);
    const lacking = contributions(2);
    lacking[1].seats[0]?.segments[0][0]?.outcomes.fill(0);
    assert.equal((await merged(lacking)).failure?.code, 'E_MERGE');
  });

  test('a start more than 50 ms late makes the round invalid, and names the agent', async () => {
    const late = (/** @type {number} */ ns) =>
      merged(contributions(3, (agent) => ({ startNs: agent === 1 ? ns : 1e6 })));
    assert.equal((await late(49e6)).failure, null);
    const { failure } = await late(51e6);
    assert.equal(failure?.code, 'E_AGENT_LATE');
    assert.match(String(failure?.message), /^agent b began 51 ms after the common start/);
  });

  test('an agent that sends late, or drops, makes the round invalid', async () => {
    const of = async (/** @type {Record<string, number>} */ open) =>
      (await merged(contributions(3, (agent) => ({ open: agent === 2 ? open : {} })))).failure;
    assert.equal(await of({ late: 16 }), null);
    assert.equal((await of({ late: 18 }))?.code, 'E_AGENT_LATE');
    const failure = await of({ dropped: 2 });
    assert.equal(failure?.code, 'E_AGENT_FULL');
    assert.match(String(failure?.message), /^agent c dropped 2 of 1666/);
  });

  test('clocks of the agents are brought together', async () => {
    const all = contributions(2, (agent) => ({ startNs: agent === 0 ? 100e6 : 7e9 }));
    all[1].offsetNs = 103e6 - 7e9;
    const { segment, agents } = await merged(all, 99e6);
    assert.deepEqual(
      agents.map(({ lateNs }) => lateNs),
      [1e6, 4e6],
    );
    assert.deepEqual(segment.wall, [[1e6, 4e6 + 5e9]]);
  });

  test('of a round that lost an agent, the others’ seconds with all agents are kept', async () => {
    const left = contributions(3, () => ({ open: { sent: 1600, late: 8 } })).slice(0, 2);
    assert.deepEqual(truncate(left, { atNs: 0, aliveNs: 0.9e9 }), []);
    const { segment, failure } = await merged(truncate(left, { atNs: 0, aliveNs: 3.4e9 }));
    const expected = new Histogram();
    for (let k = 0; k < 3000; k += 1) if (k % 3 !== 2) expected.record(latencyOf(k));
    assert.equal(failure, null);
    assert.deepEqual(segment.histograms['latency'], expected.toMessage());
    const seconds = Object.keys(segment.histograms).filter((name) => name.startsWith('second '));
    assert.deepEqual(seconds, ['second 0', 'second 1', 'second 2']);
    assert.deepEqual(segment.wall, [[0, 3e9]]);
    assert.equal(segment.scheduled, expected.count);
    const { offered, sent, late } = segment.open ?? {};
    assert.deepEqual([offered, sent, late], [2000, 2000, 10], 'late: as large a share as before');
    for (const { seats } of left) {
      const segment = seats[0]?.segments[0][0];
      if (segment) segment.outcomes[UNSENT] = 50;
    }
    const stopped = await merged(truncate(left, { atNs: 0, aliveNs: 3.4e9 }));
    assert.equal(stopped.segment.scheduled, expected.count, 'what was not sent was never due');
  });

  test('an upload survives encoding and decoding', () => {
    const upload = {
      seats: [{ ...NOTHING_KEPT, segments: [[wholeOf(0, 1), null]] }, null],
      failure: null,
      targets: { 'db:6379': 1e5 },
      clock: { offsetNs: 1.5e17, roundTripNs: 1, exchanges: 24 },
    };
    const order = { contenders: [CONTENDER, CONTENDER].map(portable) };
    assert.deepEqual(unpackUpload(packUpload(upload, order), order), upload);
  });

  test('the size of an upload is limited by its order, on both sides', () => {
    const order = { contenders: [portable(CONTENDER)], amount: AMOUNT };
    const clock = { offsetNs: 0, roundTripNs: 1, exchanges: 24 };
    const upload = { seats: [null], failure: null, targets: {}, clock };
    const long = { ...upload, failure: { code: 'x', message: 'y'.repeat(9 * 2 ** 20) } };
    const sent = inflateRawSync(Buffer.from(packUpload(long, order), 'base64')).toString();
    assert.match(JSON.parse(sent).failure.message, /the upload is too large/);
    const pack = (/** @type {number} */ bytes) =>
      deflateRawSync(Buffer.alloc(bytes, ' ')).toString('base64');
    const readAs = (/** @type {string} */ text, /** @type {RegExp} */ message) =>
      assert.throws(() => unpackUpload(text, order), { code: 'E_UPLOAD', message });
    readAs(pack(8 * 2 ** 20), /JSON/);
    readAs(pack(9 * 2 ** 20), /Cannot create a Buffer larger/);
    readAs('x'.repeat(9 * 2 ** 20), /\d+ characters/);
    readAs(packUpload({ ...upload, seats: [] }, null), /other contenders/);
  });

  test('more time, operations and blocks allow for more bytes, within a limit', () => {
    const { spec } = portable(CONTENDER);
    const contender = {
      ...portable(CONTENDER),
      spec: { ...spec, tasks: [...spec.tasks, ...spec.tasks] },
    };
    const none = { operations: null, durationNs: null };
    const blanks = (/** @type {number} */ bytes) =>
      deflateRawSync(Buffer.alloc(bytes, ' ')).toString('base64');
    const mebibyte = 2 ** 20;
    for (const [more, mebibytes] of /** @type {[any, number][]} */ ([
      [{}, 0],
      [{ amount: { ...none, durationNs: 32e9 } }, 2],
      [{ amount: { ...none, operations: 2 ** 17 } }, 2],
      // Two loads, each with a histogram in each of ten blocks and six before them.
      [{ timetable: { blocks: 10, leadBlocks: 6 } }, 2],
    ])) {
      const order = { contenders: [contender], amount: none, ...more };
      const most = (8 + mebibytes) * mebibyte;
      assert.throws(() => unpackUpload(blanks(most), order), /JSON/);
      assert.throws(() => unpackUpload(blanks(most + 1), order), /larger than/);
    }
    const endless = { contenders: [], amount: { ...none, durationNs: 1e15 } };
    const text = 'x'.repeat(128 * mebibyte + 1);
    assert.throws(() => unpackUpload(text, endless), /134217729 characters/);
  });

  test('an upload has the seats and loads that were ordered, or a failure in their place', () => {
    const order = { contenders: [portable(CONTENDER)], amount: AMOUNT };
    const clock = { offsetNs: 0, roundTripNs: 1, exchanges: 24 };
    const seat = { ...NOTHING_KEPT, segments: [[]] };
    const good = { seats: [seat], failure: null, targets: {}, clock };
    const read = (/** @type {any} */ upload) =>
      unpackUpload(deflateRawSync(JSON.stringify(upload)).toString('base64'), order);
    assert.deepEqual(read(good), good);
    const failed = { ...good, seats: [], failure: { code: 'E_TARGET', message: 'gone' } };
    assert.deepEqual(read(failed), failed);
    for (const field of ['segments', 'leads', 'kept']) {
      const wrong = { ...good, seats: [{ ...seat, [field]: [] }] };
      assert.throws(() => read(wrong), { code: 'E_UPLOAD', message: /other contenders or loads/ });
    }
    assert.throws(() => read({ ...good, failure: failed.failure }), /other contenders/);
    assert.throws(() => read({ ...good, secret: 1 }), /"secret"/);
  });

  test('a message is accepted with the signature of its seat, run, step and payload alone', () => {
    const { key, signed } = createSeatKey();
    const what = { run: 'r', seat: 1, step: 2, payload: 'p' };
    const made = signed(what);
    assert.ok(isSignedBy(key, what, made));
    const { payload: _, ...ready } = what;
    for (const other of [{ run: 's' }, { seat: 0 }, { step: 3 }, { payload: 'q' }]) {
      assert.ok(!isSignedBy(key, { ...what, ...other }, made), JSON.stringify(other));
    }
    assert.ok(!isSignedBy(key, ready, made), 'an upload is no readiness');
    assert.ok(!isSignedBy(createSeatKey().key, what, made));
    assert.ok(!isSignedBy('no key', what, made));
    const { controller, password } = createTokens();
    const byController = signerOf(controller)('lease');
    assert.ok(verifierOf(password)('lease', byController));
    assert.ok(!verifierOf(password)('lease ', byController));
    assert.ok(!verifierOf(createTokens().password)('lease', byController));
    assert.throws(() => signerOf(password), { code: 'E_USAGE' });
    assert.throws(() => verifierOf('secret'), { code: 'E_USAGE' });
  });
});

const BLOCKS = 3;
const SEGMENT_NS = 200e6;
const TIMETABLE = {
  round: 0,
  blocks: BLOCKS,
  leadBlocks: 1,
  orderSeed: 5,
  segmentNs: SEGMENT_NS,
  rampNs: 50e6,
  gapNs: 50e6,
};
const SLOTS = timetableOf([CONTENDER], 1, TIMETABLE);

/**
 * @param {number} slot
 * @param {{ operations?: number, lateNs?: number, endNs?: number }} [how]
 * @returns {Segment}
 */
function blockOf(slot, { operations = 300, lateNs = 0, endNs } = {}) {
  const atNs = slot * (SEGMENT_NS + TIMETABLE.gapNs);
  return {
    ...emptySegment(),
    scheduled: operations,
    outcomes: [operations, ...emptySegment().outcomes.slice(1)],
    wall: [[atNs + lateNs, endNs ?? atNs + SEGMENT_NS]],
    figures: {
      spanNs: 150e6,
      spanOperations: operations / 2,
      medianNs: 115_000,
      valid: true,
      lateNs,
      latency: null,
    },
  };
}

/**
 * @param {string} agent
 * @param {readonly (Segment | null)[]} all segments; the first one is of the lead block
 * @returns {Contribution}
 */
function playedBy(agent, [lead, ...segments]) {
  const leads = [lead === null ? [] : [lead]];
  return {
    agent,
    offsetNs: 0,
    seats: [{ ...NOTHING_KEPT, kept: [[]], leads, segments: [segments] }],
  };
}

/** @param {(slot: number) => Segment | null} of @returns {(Segment | null)[]} */
const eachSlot = (of) => [0, 1, 2, 3].map(of);

/** @param {Contribution[]} all */
async function mergedBlocks(all) {
  const round = { slots: SLOTS, failure: null, startNs: 0, segmentNs: SEGMENT_NS };
  const { seats, overrunNs } = await mergeBlocks(all, { contenders: [CONTENDER], ...round });
  const [seat] = seats;
  const valid = seat.segments[0].map((one) => one?.figures?.valid ?? null);
  return { seat, overrunNs, valid, agents: seat.merged([0])?.agents ?? [] };
}

describe('segments in blocks on several machines', () => {
  const good = () =>
    playedBy(
      'a',
      eachSlot((slot) => blockOf(slot)),
    );

  test('throughputs in the window are added, the first block is not counted', async () => {
    const more = playedBy(
      'b',
      eachSlot((slot) => blockOf(slot, { operations: 600 })),
    );
    const { seat, overrunNs, valid, agents } = await mergedBlocks([good(), more]);
    assert.deepEqual([overrunNs, seat.failure], [0, null]);
    assert.deepEqual(valid, [true, true, true]);
    for (const segment of seat.segments[0]) {
      const { spanNs, spanOperations } = segment?.figures ?? {};
      assert.deepEqual([spanNs, spanOperations, segment?.scheduled], [150e6, 450, 900]);
    }
    assert.equal(seat.merged([0])?.scheduled, 3600);
    assert.deepEqual(
      agents.map(({ agent, ok, throughput }) => [agent, ok, throughput]),
      [
        ['a', 1200, 1000],
        ['b', 2400, 2000],
      ],
    );
  });

  test('a segment that an agent began more than 50 ms late is invalid, and the agent is named', async () => {
    const late = eachSlot((slot) => blockOf(slot, { lateNs: [0, 51e6, 20e6, 0][slot] }));
    const { seat, valid, agents } = await mergedBlocks([good(), playedBy('b', late)]);
    assert.equal(seat.failure, null);
    assert.deepEqual(valid, [false, true, true]);
    assert.deepEqual(
      agents.map(({ agent, lateNs, slices: own }) => [agent, lateNs, own?.late, own?.invalid]),
      [
        ['a', 0, 0, 0],
        ['b', 51e6, 2, 1],
      ],
    );
  });

  test('without a segment in time the round is invalid, and the failure names the agent', async () => {
    const late = eachSlot((slot) => blockOf(slot, { lateNs: 60e6 }));
    const { seat } = await mergedBlocks([good(), playedBy('b', late)]);
    assert.deepEqual(seat.failure, {
      code: 'E_AGENT_LATE',
      message: 'agent b started segments up to 60 ms late: the round is invalid',
    });
    const none = await mergedBlocks([
      good(),
      playedBy(
        'b',
        eachSlot(() => null),
      ),
    ]);
    assert.equal(none.seat.failure?.code, 'E_AGENT_LATE');
  });

  test('a segment that begins while earlier replies are outstanding is invalid', async () => {
    const slow = eachSlot((slot) => blockOf(slot, slot === 1 ? { endNs: 510e6 } : {}));
    const { valid, overrunNs } = await mergedBlocks([playedBy('b', slow), good()]);
    assert.deepEqual(valid, [true, false, true]);
    assert.equal(overrunNs, 60e6);
  });

  test('a segment that an agent did not run is invalid; a failure names its agent', async () => {
    const some = playedBy('b', [blockOf(0), blockOf(1), null]);
    const { seat, valid, agents } = await mergedBlocks([good(), some]);
    assert.deepEqual(valid, [true, null, null]);
    assert.equal(seat.merged([0])?.scheduled, 1800, 'its operations are counted');
    assert.equal(agents[1].slices?.invalid, 2);
    Object.assign(some.seats[0] ?? {}, { failure: { code: 'E_TARGET', message: 'no answer' } });
    const { failure } = (await mergedBlocks([good(), some])).seat;
    assert.deepEqual(failure, { code: 'E_TARGET', message: 'agent b: no answer' });
  });

  test('failed operations are the reason, not lateness', async () => {
    const wrong = eachSlot((slot) => ({ ...blockOf(slot), outcomes: [299, 1, 0, 0, 0, 0, 0] }));
    for (const { figures } of wrong.flatMap((one) => one ?? []))
      Object.assign(figures ?? {}, { valid: false });
    const { seat } = await mergedBlocks([good(), playedBy('b', wrong)]);
    assert.equal(seat.failure, null);
    assert.equal(seat.failureOf(0)?.code, 'E_INVALID');
  });
});

describe('differences between machines', () => {
  test('starts more than 10 ms late are a warning, of whole loads and of slices', async () => {
    const { agents: all } = await merged(contributions(3), -11e6);
    const round = { state: 'measured', agents: all };
    const of = (/** @type {any} */ own) =>
      fleetWarnings(
        /** @type {any} */ ({
          fleet: { agents: [{}, {}, {}], onLoss: 'invalid' },
          benchmarks: [{ id: 'x', load: { kind: 'window' }, rounds: [own] }],
        }),
      ).map(({ code, message }) => [code, message]);
    assert.deepEqual(of(round), [
      [
        'W_AGENT_LATE',
        'abc'
          .split('')
          .map(
            (name) =>
              `agent ${name} began 1 of 1 segments more than 10 ms late (up to 11.0 ms; 0 not counted)`,
          )
          .join('; '),
      ],
    ]);
    const agents = all.map((one, i) => ({
      ...one,
      lateNs: i * 55e6,
      slices: { ns: 2e8, count: 20, late: 3 * i, invalid: i },
    }));
    assert.match(
      of({ ...round, agents: agents.slice(0, 2) })[0][1],
      /^agent b began 3 of 20 segments more than 10 ms late \(up to 55\.0 ms; 1 not counted\)$/,
    );
    assert.deepEqual(of({ ...round, agents: agents.slice(0, 1) }), []);
  });

  test('an agent that differs from the others is named', async () => {
    const rounds = await Promise.all(
      [0, 1].map(async () => {
        const { agents } = await merged(contributions(3));
        return { state: 'measured', agents };
      }),
    );
    const result = /** @type {any} */ ({
      fleet: { agents: [{}, {}, {}], onLoss: 'invalid' },
      benchmarks: [{ id: 'x', load: { kind: 'rate' }, rounds }],
    });
    assert.deepEqual(fleetWarnings(result), []);
    for (const { agents } of rounds) {
      const { latency } = agents[1];
      if (latency) latency.p50Ns = Number(latency.p50Ns) * 2;
    }
    const [{ code, message }] = fleetWarnings(result);
    assert.equal(code, 'W_AGENT_DIFFERS');
    assert.match(message, /^agent b: its median latency is 2\.0.× of the median of the others/);
  });
});

/**
 * Programs with the agents' token that are not Dragstrip agents, and orders that no race sends: a
 * real coordinator, agents as processes, a fake server that records its requests.
 */
// Needs: redis, coordinator

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { emptySegment } from '../../../../engine/segment.js';
import { seed } from '../../../../index.js';
import { createTokens } from '../../../../servers/coordinator.js';
import { withCommands } from '../../../../test/helpers/command-folder.js';
import { eventually, startCommand } from '../../../../test/helpers/command-line.js';
import { bombOf } from '../../../../test/helpers/deflate-bomb.js';
import { CHECKS, contenderOf, until } from '../../../../test/helpers/fleet.js';
import { withFolder } from '../../../../test/helpers/folder.js';
import { withFleet } from '../../../../test/helpers/load-machines.js';
import { addressFlags, withServers } from '../../../../test/helpers/servers.js';
import { admit } from '../../admission.js';
import { identityOf } from '../../configuration.js';
import { LEASES, PREFIX, runKey, uploadsOf } from '../../coordination-keys.js';
import { runnerOf } from '../../fleet-rounds.js';
import { leaseText, orderText } from '../../order-schema.js';
import { portable } from '../../portable.js';
import { describeMachine } from '../../presence.js';
import { hasProof, leaveProof } from '../../same-machine.js';
import { createSeatKey, signerOf, verifierOf } from '../../seat-key.js';
import { unpackUpload } from '../../upload.js';

const SHORT = Object.freeze({ rate: 100, durationNs: 2e8 });
const AMOUNT = Object.freeze({ operations: null, durationNs: 2e8 });
/** Time after an order to stop, with a margin for a busy machine. */
const STOPPED_MS = 9000;
const LATER_MS = Date.now() + 3_600_000;

describe('rogue programs', () => {
  const servers = withServers(['coordinator']);
  const fleetOfTest = withFleet(servers, ['honest']);
  const { agents, server, coordinator } = fleetOfTest;
  const folder = withFolder();

  const open = () => fleetOfTest.open(1);
  /** As a program with the agents' token connects. */
  const connection = () => ({
    .../** @type {{ host: string, port: number }} */ (coordinator().endpoint),
    password: coordinator().credentials.password,
    protocol: /** @type {const} */ (2),
    maxRetriesPerRequest: null,
  });
  /** @param {Record<string, any>} [fields] fields of the storage */
  const orderOf = (fields = {}) => ({
    contenders: [portable(contenderOf(server.port, SHORT, fields))],
    amount: { ...AMOUNT },
    processes: 1,
  });

  test('a lease that names a file has no code loaded', async () => {
    const marker = path.join(folder, 'was-here');
    const file = path.join(folder, 'evil.mjs');
    writeFileSync(
      file,
      `import fs from 'node:fs'; fs.writeFileSync(${JSON.stringify(marker)}, '');`,
    );
    const queue = new Queue(LEASES, { connection: connection(), prefix: PREFIX });
    const lease = { run: randomUUID(), seat: 0, count: 1, storages: [file], untilMs: LATER_MS };
    const signature = signerOf(servers.credentials('coordinator').controller)(leaseText(lease));
    const job = await queue.add('lease', { ...lease, signature });
    assert.ok(await until(async () => ['failed', 'completed'].includes(await job.getState())));
    await queue.remove(String(job.id));
    await queue.close();
    assert.ok(!existsSync(marker));
    assert.match(agents[0].stdout(), /waiting at/);
  });

  test('leases without a valid signature of the controller, or expired, are refused', async () => {
    const queue = new Queue(LEASES, { connection: connection(), prefix: PREFIX });
    const { controller, password } = servers.credentials('coordinator');
    const signed = signerOf(controller);
    const run = randomUUID();
    const lease = { run, seat: 0, count: 1, storages: ['ioredis'], untilMs: LATER_MS };
    const past = { ...lease, untilMs: 1 };
    assert.throws(() => signerOf(password), { code: 'E_USAGE', message: /an agent token/ });
    assert.throws(() => verifierOf('plain'), { code: 'E_USAGE', message: /has no public key/ });
    for (const [reason, data] of /** @type {[RegExp, Record<string, unknown>][]} */ ([
      [
        /not signed/,
        { ...lease, signature: createSeatKey().signed({ run: '', seat: 0, step: 1 }) },
      ],
      [/not signed/, { ...lease, storages: ['redis'], signature: signed(leaseText(lease)) }],
      [/has ended/, { ...past, signature: signed(leaseText(past)) }],
    ])) {
      const job = await queue.add('lease', data);
      assert.ok(await until(() => job.isFailed()));
      assert.match(String((await queue.getJob(String(job.id)))?.failedReason), reason);
      await queue.remove(String(job.id));
    }
    await queue.close();
  });

  test('a lease is accepted once, by any agent, even without its mark', async () => {
    const fleet = await open();
    const second = await fleetOfTest.start('second');
    const queue = new Queue(LEASES, { connection: connection(), prefix: PREFIX });
    const rogue = new Redis(connection());
    try {
      const { data } = /** @type {import('bullmq').Job} */ (await queue.getJob(`${fleet.run}-0`));
      const again = await queue.add('lease', data);
      assert.ok(await until(() => again.isFailed()));
      const failed = await queue.getJob(String(again.id));
      assert.match(String(failed?.failedReason), /has already been used/);
      await queue.remove(String(again.id));

      await rogue.del(runKey(fleet.run, 'taken-0'));
      const third = await queue.add('lease', data);
      await second.says(/leased|share/);
      server.forget();
      const contender = contenderOf(server.port, { rate: 100, durationNs: 1e9 });
      const amount = { operations: null, durationNs: 1e9 };
      const seat = await runnerOf(fleet).playWhole(contender, amount, { onProgress() {} });
      assert.equal(seat.merged([0])?.scheduled, 100);
      assert.equal(server.keys.filter((own) => own.length > CHECKS).length, 1, 'one load');
      assert.ok(await until(() => third.isFailed()));
      const reason = (await queue.getJob(String(third.id)))?.failedReason;
      assert.match(String(reason), /its seat was given to another agent/);
      await queue.remove(String(third.id));
    } finally {
      rogue.disconnect();
      await queue.close();
      await second.stop();
      await fleet.close();
    }
  });

  test('orders of other controllers and repeated orders are ignored', async () => {
    const fleet = await open();
    const rogue = new Redis(connection());
    const key = runKey(fleet.run, 'orders');
    try {
      const contender = contenderOf(server.port, { rate: 100, durationNs: 1e9 });
      const play = (/** @type {() => Promise<unknown>} */ disturb) => {
        const amount = { operations: null, durationNs: 1e9 };
        /** @type {Promise<unknown>[]} */
        const done = [];
        const onProgress = (/** @type {{ phase: string }} */ { phase }) => {
          if (phase === 'measure') done.push(disturb());
        };
        return runnerOf(fleet)
          .playWhole(contender, amount, { onProgress })
          .then(async (seat) => (await Promise.all(done)) && seat.merged([0])?.scheduled);
      };
      const stop = (/** @type {string} */ run) => orderText(run, 99, { type: 'stop' });
      const forge = signerOf(createTokens().controller);
      const ofOther = stop(randomUUID());
      server.forget();
      const forged = await play(async () => {
        for (const [text, signature] of [
          [stop(fleet.run), forge(stop(fleet.run))],
          [stop(fleet.run), ''],
          [ofOther, fleet.signed(ofOther)],
          ['x', 'x'],
        ]) {
          await rogue.xadd(key, '*', 'order', text, 'signature', signature);
        }
      });
      assert.equal(forged, 100);
      const before = await rogue.xrange(key, '-', '+');
      const again = await play(async () => {
        for (const [, fields] of before) await rogue.xadd(key, '*', ...fields);
      });
      assert.equal(again, 100);
      assert.equal(server.keys.filter((own) => own.length > CHECKS).length, 2, 'two loads');
    } finally {
      rogue.disconnect();
      await fleet.close();
    }
  });

  test('orders that no race produces are refused, each with its reason', async () => {
    const trace = path.join(folder, 'trace.json');
    /** @type {[RegExp, (order: any) => unknown][]} */
    const changes = [
      [/[Uu]nrecognized key.*"exec"/, (order) => Object.assign(order, { exec: 'rm' })],
      [
        /credentialVariables/,
        ({ contenders: [{ spec }] }) =>
          Object.assign(spec.storage, { credentialVariables: { password: '/etc/hostname' } }),
      ],
      [
        /others/,
        ({ contenders: [{ spec }] }) => {
          const address = { main: { host: '0.0.0.0', port: server.port } };
          Object.assign(spec.storage, { others: [{ name: 'proxy', address, pids: [] }] });
        },
      ],
      [
        /tls/,
        ({ contenders: [{ spec }] }) => {
          spec.storage.address.main.tls = { key: '/etc/ssl/key' };
        },
      ],
      [
        /an order contains a storage/,
        ({ contenders: [{ spec }] }) => {
          const endpoint = spec.storage.address.main;
          const address = { main: { host: '0.0.0.0', port: server.port } };
          Object.assign(spec, { wire: { protocol: 'redis', endpoint } });
          Object.assign(spec.storage, { address });
        },
      ],
      [
        /0\.0\.0\.0:\d+ is not among the targets/,
        ({ contenders: [{ spec }] }) => {
          spec.storage.address.unix = { host: '0.0.0.0', port: server.port };
        },
      ],
      [
        /lmdb of an order has no server/,
        ({ contenders: [{ spec }] }) => {
          Object.assign(spec.storage, { storage: 'lmdb', address: {} });
        },
      ],
      [/"driver"/, ({ contenders: [{ spec }] }) => Object.assign(spec, { driver: {} })],
      [/folder/, ({ contenders: [{ spec }] }) => Object.assign(spec.storage, { folder })],
      [
        /workload/,
        ({ contenders: [{ spec }] }) =>
          Object.assign(spec.tasks[0], { workload: 'replay', workloadOptions: { trace } }),
      ],
      [
        /too many segments/,
        (order) => {
          delete order.amount;
          const times = { segmentNs: 1e6, rampNs: 1e6, gapNs: 1e6 };
          order.timetable = { round: 0, blocks: 1e9, leadBlocks: 1, orderSeed: 1, ...times };
        },
      ],
      [
        /host/,
        ({ contenders: [{ spec }] }) => {
          spec.storage.address = { main: { host: 'x'.repeat(1e5), port: 1 } };
        },
      ],
    ];
    const fleet = await open();
    server.forget();
    try {
      for (const [reason, change] of changes) {
        const order = orderOf();
        change(order);
        const step = await fleet.runStep(fleet.leases.all, order, {});
        assert.throws(() => step.failure(), { code: 'E_REFUSED', message: reason });
      }
      assert.equal(server.count(), 0);
      const step = await fleet.runStep(fleet.leases.all, orderOf(), {});
      assert.equal(step.failure(), null, 'what a race orders is not');
    } finally {
      await fleet.close();
    }
  });

  test('an agent sends its own secrets, and a server of another kind none of them', async () => {
    process.env['DRAGSTRIP_TARANTOOL_PASSWORD'] = 'of-another-server';
    const agent = { allowTargets: [], sameMachine: true, home: folder };
    const { contenders } = orderOf({ credentialVariables: { password: 'HOME' } });
    const [{ spec }] = contenders;
    assert.equal(spec.storage.credentialVariables, null);
    const { storage } = await admit(spec, agent);
    assert.deepEqual(storage.credentialVariables, {
      user: 'DRAGSTRIP_REDIS_USER',
      password: 'DRAGSTRIP_REDIS_PASSWORD',
    });
    delete process.env['DRAGSTRIP_TARANTOOL_PASSWORD'];
  });

  test('an upload that inflates without end, or has unknown fields, is invalid', () => {
    const order = orderOf();
    const bomb = bombOf(300).toString('base64');
    const stopped = { code: 'E_UPLOAD', message: /larger than \d+ bytes/ };
    assert.throws(() => unpackUpload(bomb, order), stopped);
    const clock = { offsetNs: 0, roundTripNs: 1, exchanges: 24 };
    const seat = { segments: [[]], leads: [[]], kept: [[]], processRecords: [], failure: null };
    const good = { seats: [seat], failure: null, clock, targets: {} };
    const pack = (/** @type {unknown} */ one) =>
      deflateRawSync(JSON.stringify(one)).toString('base64');
    assert.deepEqual(unpackUpload(pack(good), order), good);
    const segment = emptySegment();
    const latency = { sparse: [5, 2], count: 3, min: 5, max: 5, sum: 10 };
    const damaged = { ...segment, histograms: { latency } };
    for (const [reason, wrong] of /** @type {[RegExp, any][]} */ ([
      [/not a histogram/, { ...good, seats: [{ ...seat, segments: [[damaged]] }] }],
      [/"more"/, { ...good, more: 1 }],
      [/seats\.0\.segments/, { ...good, seats: [{ ...seat, segments: [[{}]] }] }],
      [/other contenders/, { ...good, seats: [seat, seat] }],
      [/other contenders/, { ...good, seats: [{ ...seat, leads: [] }] }],
      [/clock/, { ...good, clock: { ...clock, offsetNs: 'now' } }],
      [/seats/, { ...good, seats: Array.from({ length: 1e6 }, () => null) }],
    ])) {
      assert.throws(() => unpackUpload(pack(wrong), order), { code: 'E_UPLOAD', message: reason });
    }
  });

  test('a program with the token can write only its own seat', async () => {
    const fleet = await open();
    const queue = new Queue(uploadsOf(fleet.run), { connection: connection(), prefix: PREFIX });
    const leases = new Queue(LEASES, { connection: connection(), prefix: PREFIX });
    try {
      const [lease] = fleet.leases.all;
      const { key, signed } = createSeatKey();
      const job = await leases.getJob(`${fleet.run}-0`);
      const { identity, clock } = lease;
      const ready = { type: 'ready', seat: 0, name: 'rogue', identity, machine: describeMachine() };
      await job?.updateProgress({ ...ready, clock, key });
      const contender = contenderOf(server.port, { rate: 100, durationNs: 1e9 });
      const amount = { operations: null, durationNs: 1e9 };
      const running = runnerOf(fleet).playWhole(contender, amount, { onProgress() {} });
      const seats = [
        { segments: [[]], leads: [[]], kept: [[]], processRecords: [], failure: null },
      ];
      const forged = { seats, failure: null, clock, targets: {} };
      const payload = deflateRawSync(JSON.stringify(forged)).toString('base64');
      const about = { run: fleet.run, seat: 0, step: 1, payload };
      for (const signature of [signed(about), '', 'x']) {
        await queue.add('upload', { seat: 0, step: 1, payload, signature });
      }
      await queue.add('upload', { seat: 0, step: 1, payload });
      const seat = await running;
      assert.equal(fleet.refused, 4);
      assert.equal(lease.agent, 'honest');
      assert.equal(seat.merged([0])?.scheduled, 100);
    } finally {
      await queue.close();
      await leases.close();
      await fleet.close();
    }
  });

  test('the same machine is proved by a file of its user, not claimed', async () => {
    const run = randomUUID();
    assert.ok(!hasProof(run));
    const remove = leaveProof(run);
    assert.ok(hasProof(run));
    const file = path.join(tmpdir(), `dragstrip-run-${run}`);
    chmodSync(file, 0o644);
    assert.ok(!hasProof(run), 'others may have written it');
    chmodSync(file, 0o600);
    const other = path.join(tmpdir(), `dragstrip-run-${randomUUID()}`);
    symlinkSync(file, other);
    assert.ok(!hasProof(other.slice(-36)), 'a link proves nothing');
    rmSync(other);
    remove();
    assert.ok(!hasProof(run));
  });

  test('an agent that never uploads does not keep a controller that is stopped', async () => {
    // Until it is over, the real agent has the lease of a different run.
    const other = await open();
    const { data, release, worker } = takeLease(connection());
    const fleet = await open();
    try {
      assert.equal((await data).run, fleet.run);
      const stop = new AbortController();
      const contender = contenderOf(server.port, { rate: 100, durationNs: 60e9 });
      const amount = { operations: null, durationNs: 60e9 };
      const how = { signal: stop.signal, onProgress() {} };
      const running = runnerOf(fleet).playWhole(contender, amount, how);
      const isOrdered = async () => (await fleet.client.xlen(runKey(fleet.run, 'orders'))) > 0;
      assert.ok(await until(isOrdered));
      stop.abort();
      const seat = await Promise.race([running, sleep(STOPPED_MS, null, { ref: false })]);
      assert.equal(seat?.failure?.code, 'E_ABORTED');
    } finally {
      release();
      await fleet.close();
      await worker.close(true);
      await other.close();
    }
  });
});

describe('a controller in a process of its own', () => {
  const servers = withServers(['coordinator', 'redis']);
  const { reach } = withFleet(servers, []);
  const { folder, start } = withCommands(servers);

  before(async () => {
    const { redis } = addressFlags(servers);
    await seed({ servers: ['redis'], rows: 1000, valueSize: 64, seed: 5, addresses: { redis } });
  });

  for (const [what, bomb] of /** @type {const} */ ([
    ['never uploads', false],
    ['uploads 2 GB in 2 MB', true],
  ])) {
    test(`ends by one SIGTERM while an agent ${what}`, async () => {
      const [host, port] = reach().address.split(':');
      const about = { endpoint: { host, port: Number(port) }, token: reach().token, bomb };
      const program = 'test/helpers/rogue-agent.js';
      const rogue = startCommand(folder, [program, JSON.stringify(about)]);
      try {
        await eventually(() => /waiting/.test(rogue.stdout()), 'the rogue program', 60_000);
        const amount = ['--load', 'window', '--duration', '20s', '--warmup', '0', '--rounds', '3'];
        const words = ['race', '--agents', '1', '--storages', 'ioredis', '--no-html', ...amount];
        const controller = start(...words, '--rows', '1000', '--value-size', '64', '--seed', '5');
        const isDone = bomb ? /uploaded/ : /ordered/;
        await eventually(() => isDone.test(rogue.stdout()), 'an order', 60_000);
        controller.child.kill('SIGTERM');
        const { status, signal } = await controller.ended;
        assert.deepEqual([status, signal], [143, null]);
      } finally {
        rogue.child.kill('SIGKILL');
        await rogue.ended;
      }
    });
  }
});

/**
 * A program that takes a lease, reports that it is ready and does nothing else.
 * @param {import('bullmq').ConnectionOptions} connection
 */
function takeLease(connection) {
  const { promise: data, resolve: resolveData } = deferred();
  const { promise: released, resolve: release } = deferred();
  const worker = new Worker(
    LEASES,
    async (job) => {
      resolveData(job.data);
      await job.updateProgress({
        type: 'ready',
        seat: job.data.seat,
        name: 'mute',
        identity: await identityOf(['ioredis']),
        machine: describeMachine(),
        clock: { offsetNs: 0, roundTripNs: 1e5, exchanges: 24 },
        key: createSeatKey().key,
      });
      await released;
    },
    { connection, prefix: PREFIX, lockDuration: 2200 },
  );
  worker.on('error', () => {});
  return { data, release: () => release(null), worker };
}

function deferred() {
  /** @type {(value: any) => void} */
  let resolve = () => {};
  /** @type {Promise<any>} */
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

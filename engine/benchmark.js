/**
 * One benchmark in one round, from opening the storage to closing it: open, check, warm up,
 * measure, close. Runs inside the benchmark's own process (or in this one, for tests with a fake
 * clock), prints nothing, and gives back a record of what happened, whatever happened.
 */

import { readCredentials } from '../lib/credentials.js';
import { createDataset } from '../lib/dataset.js';
import { codeOfError } from '../lib/error-code.js';
import { namesOf } from '../lib/namespace.js';
import { OK, OUTCOMES } from '../lib/outcome.js';
import { runLoad } from '../load/load.js';
import { sleepUntilStart } from '../load/start.js';
import { conditionsBetween } from '../measure/conditions.js';
import { requireProfile } from '../storages/index.js';
import { loadWorkload } from '../workloads/index.js';
import { contendersOf, openContender } from './contenders.js';
import { closeBounded, withTimeout } from './guard.js';
import { ownDataOf } from './own-data.js';
import { operationsOf, ownLoad, rateOf, recorderOf } from './own-load.js';
import { openPool, poolSize, poolWorkload } from './pool.js';
import { watchPoolWait } from './pool-wait.js';
import { keepOpen } from './reconnecting.js';
import { emptyRecord, recordLoad, recordSeries, recordWarmup, serverBetween } from './record.js';
import { watchRedirects } from './redirects.js';
import { shareWorkload } from './share.js';
import { rowsOf } from './value-sizes.js';

/** Rows read and compared in full before the clock starts. */
const CHECK_ROWS = 64;
/** Loading a driver is no reply: a short --timeout does not bound it. */
const OPEN_TIMEOUT_MS = 10_000;
/** Emptying and counting tables. */
const HOOK_TIMEOUT_MS = 120_000;
const WARMUP_IN_FLIGHT = 100;
/** Fine enough for a warm-up of some milliseconds; they are joined afterwards. */
const WARMUP_WINDOW_NS = 1e6;

/** @typedef {import('./record.js').BenchmarkRecord} BenchmarkRecord */

/**
 * The input of a benchmark's process: names and options, never functions.
 * @typedef {object} BenchmarkSpec
 * @property {string} storage name of a contender, or path of a file
 * @property {string} profile
 * @property {string} workload
 * @property {Record<string, unknown>} workloadOptions
 * @property {import('../lib/result.js').Load} load
 * @property {import('./drivers/install.js').Driver} [driver] instead of the installed version
 * @property {import('../lib/node-child.js').Runtime} [runtime] in the place of this Node
 * @property {number[]} [cpus] processors that its process is kept on; absent: all
 * @property {import('./share.js').Share} [share] which part of it is this process's
 * @property {boolean} [perSecond] with a histogram for each second
 * @property {boolean} [live] its progress has figures
 * @property {import('../lib/types.js').Slot} [slot] of a variant that is measured by slices
 * @property {import('../lib/types.js').Address} address
 * @property {{ name: string, address: import('../lib/types.js').Address, pids: number[] }[]}
 *   [others]
 *   further servers that the workload needs
 * @property {Record<string, string> | null} credentialVariables environment variables to read them
 *   from
 * @property {number[]} serverPids
 * @property {import('../lib/types.js').DatasetOptions} dataset
 * @property {import('./own-data.js').OwnKeys} [own] keys of the user in place of the dataset
 * @property {string} folder
 * @property {number} seed
 * @property {number} [round] by slices, counted from 0
 * @property {number} warmupOperations
 * @property {number} stallNs
 */

/**
 * @typedef {object} BenchmarkContext
 * @property {import('../measure/usage.js').Instruments} instruments
 * @property {AbortSignal} [signal]
 * @property {AbortSignal} [crash] reason: an uncaught error of the driver
 * @property {() => Promise<number | void>} [atStart] awaited before the clock starts: others begin
 *   with it, at the time of the clock that it resolves with; void: at once
 * @property {(progress: { phase: 'warmup' | 'measure', settled: number,
 *   recorder?: import('../load/recorder.js').Recorder }) => void} [onProgress]
 */

/**
 * @param {BenchmarkSpec} spec
 * @param {BenchmarkContext} context
 * @returns {Promise<BenchmarkRecord>} never rejects for what a storage does
 */
export async function runBenchmark(spec, context) {
  const { clock } = context.instruments;
  const startNs = clock.now();
  const record = emptyRecord();
  /** @type {import('../lib/types.js').Handle | null} */
  let handle = null;
  try {
    const canaryNs = context.instruments.canaryNs();
    const openNs = clock.now();
    const stallMs = spec.stallNs / 1e6;
    const openMs = Math.max(OPEN_TIMEOUT_MS, stallMs);
    const opened = await withTimeout(openStorage(spec), context, openMs, 'open');
    if (spec.load.onOutage === 'continue') keepOpen(opened, clock);
    handle = opened.handle;
    const bound = bindWorkload(spec, opened, clock);
    await withTimeout(checkRows(bound, opened, 1), context, stallMs, 'the first read');
    record.createdNs = clock.now() - openNs;
    await withTimeout(checkRows(bound, opened, CHECK_ROWS), context, stallMs, 'the check');
    await warmUp(spec, bound, opened.calls, context, record);
    const before = context.instruments.conditions();
    const handles = opened.handles ?? [opened.handle];
    const [redirects, poolWait] = [watchRedirects(handles), watchPoolWait(handles)];
    await measure(spec, bound, opened.calls, context, record);
    Object.assign(record, redirects(), poolWait());
    record.conditions = {
      canaryNs,
      ...conditionsBetween(before, context.instruments.conditions()),
    };
  } catch (error) {
    record.state = context.signal?.aborted ? 'aborted' : 'failed';
    record.failure = {
      code: codeOfError(error) ?? 'ERROR',
      message: String(error.message ?? error),
    };
  }
  if (handle !== null) await closeBounded(handle);
  record.workNs = clock.now() - startNs;
  return record;
}

/**
 * @typedef {object} OpenedStorage
 * @property {import('../lib/types.js').Handle} handle
 * @property {readonly import('../lib/types.js').Handle[]} [handles] of a pool, with the first one
 * @property {import('../lib/types.js').CallStyle} calls
 * @property {import('../lib/types.js').Dataset} dataset
 * @property {import('../lib/types.js').Contender} contender
 * @property {import('../lib/types.js').Origin} origin
 * @property {() => Promise<import('../lib/types.js').Handle>} open another one
 * @property {import('./reconnecting.js').OutageWatch} [outage] with --on-outage continue
 */

/**
 * @param {BenchmarkSpec} spec
 * @returns {Promise<OpenedStorage>}
 */
export async function openStorage(spec) {
  const workload = await loadWorkload(spec.workload);
  const rows = rowsOf(spec);
  const { needs, namespace = rows.namespace, route, openWith } = workload;
  const definition = await contendersOf(workload).load(spec.storage);
  const profile = requireProfile(definition, spec.profile);
  const dataset = createDataset(rows.dataset);
  const parameters = parametersOf(spec);
  const others = Object.fromEntries((spec.others ?? []).map((one) => [one.name, one.address]));
  const context = {
    address: route?.(parameters, spec.address, others) ?? spec.address,
    credentials: await readCredentials(spec.credentialVariables),
    profile,
    dataset,
    folder: spec.folder,
    writes: needs.includes('set'),
    names: { ...namesOf(namespace), ...spec.own?.names },
    parameters,
    ...openWith?.(parameters, dataset),
  };
  const calls = profile.calls ?? 'promise';
  const open = async () => {
    const credentials = await readCredentials(spec.credentialVariables); // others, after a restart
    return openContender(workload, definition, { ...context, credentials });
  };
  const handles = await openPool(poolSize(spec, calls), open);
  const { address, credentials, names } = context;
  const who = { storage: spec.storage, profile: spec.profile };
  const origin = { ...who, address, credentials, parameters, names };
  return { handle: handles[0], handles, calls, dataset, contender: definition, origin, open };
}

/** @param {BenchmarkSpec} spec */
function parametersOf({ workloadOptions }) {
  return /** @type {import('../lib/types.js').Parameters} */ (workloadOptions['parameters'] ?? {});
}

/**
 * @typedef {object} Bound
 * @property {import('../lib/types.js').BoundWorkload} measured
 * @property {import('../lib/types.js').BoundWorkload} warmup
 * @property {import('../lib/types.js').BoundWorkload | null} check null: nothing is read before
 * @property {import('./reconnecting.js').OutageWatch} [outage]
 */

/**
 * Draws all keys, before any clock starts. Warm-up and check have separate streams of keys.
 * @param {BenchmarkSpec} spec
 * @param {OpenedStorage} opened
 * @param {import('../measure/clock.js').Clock} clock
 * @returns {Promise<Bound>}
 */
export async function bindWorkload(spec, opened, clock) {
  const { handle, handles = [handle], dataset, calls, contender, origin, outage } = opened;
  const { prepare, check = prepare } = await loadWorkload(spec.workload);
  const { seed, round, slot, workloadOptions: options } = spec;
  const ops = operationsOf(spec.load);
  const warmupOps = Math.max(1, spec.warmupOperations);
  const own = ownDataOf(spec, origin);
  const share = spec.share?.index;
  const all = { dataset, options, clock, contender, origin, round, slot, share, ...own };
  const onEach = (/** @type {ReturnType<typeof prepare>} */ bind) =>
    poolWorkload(
      handles.map((one) => bind(one, calls)),
      calls,
    );
  const measured = onEach(prepare({ ...all, seed, ops, phase: 'measure' }));
  const warmup = prepare({ ...all, seed: seed + 1, ops: warmupOps, phase: 'warmup' });
  return {
    outage,
    measured: spec.share === undefined ? measured : shareWorkload(measured, spec.share),
    warmup: onEach(warmup),
    check:
      check === false
        ? null
        : check({ ...all, seed: seed + 2, ops: CHECK_ROWS, phase: 'check' })(handle, calls),
  };
}

/**
 * Reads rows one after another and compares them whole: a storage without our rows, or with other
 * ones, is found before anything is measured.
 * @param {Promise<Bound>} bound
 * @param {OpenedStorage} opened
 * @param {number} rows
 */
export async function checkRows(bound, { calls }, rows) {
  const { check } = await bound;
  if (check === null) return;
  for (let index = 0; index < rows; index += 1) {
    const reply = await callOnce(check, check.calls ?? calls, index);
    const outcome = check.verify(index, reply, true);
    if (outcome === OK) continue;
    const error = new Error(
      `wrong data: read ${index + 1} of the check is a ${OUTCOMES[outcome]}; ` +
        'the rows differ from this dataset',
    );
    throw Object.assign(error, { code: 'E_DATA' });
  }
}

/**
 * @param {import('../lib/types.js').BoundWorkload} bound
 * @param {import('../lib/types.js').CallStyle} calls
 * @param {number} index
 * @returns {Promise<any>}
 */
function callOnce(bound, calls, index) {
  if (calls !== 'callback') return Promise.resolve(bound.op(index));
  return new Promise((resolve, reject) => {
    bound.op(index, (error, reply) => (error ? reject(error) : resolve(reply)));
  });
}

/**
 * The same work for all storages, not counted; its curve is kept. All garbage is collected before
 * it: between operations none of their objects is alive, and V8 throws compiled code away together
 * with the last object that the code was made for. What came after would begin at half its speed.
 * @param {BenchmarkSpec} spec
 * @param {Promise<Bound>} bound
 * @param {import('../lib/types.js').CallStyle} calls
 * @param {BenchmarkContext} context
 * @param {BenchmarkRecord} record
 */
async function warmUp(spec, bound, calls, context, record) {
  const { warmup } = await bound;
  context.instruments.collectGarbage('all');
  if (spec.warmupOperations === 0) return;
  await runHook(warmup, 'before', context);
  const inFlight = spec.load.kind === 'sync' ? 1 : WARMUP_IN_FLIGHT;
  const load = await runLoad(
    {
      ...warmup,
      calls: warmup.calls ?? calls,
      kind: 'window',
      inFlight,
      windowNs: WARMUP_WINDOW_NS,
      operations: spec.warmupOperations,
      durationNs: Number.POSITIVE_INFINITY,
      stallNs: spec.stallNs,
      clock: context.instruments.clock,
    },
    {
      signal: context.signal,
      crash: context.crash,
      onProgress: (settled) => context.onProgress?.({ phase: 'warmup', settled }),
    },
  );
  recordWarmup(record, load, inFlight);
  await runHook(warmup, 'after', context);
}

/**
 * What a workload does around its operations, bounded in time.
 * @param {import('../lib/types.js').BoundWorkload} bound
 * @param {'before' | 'after'} name
 * @param {BenchmarkContext} context
 * @returns {Promise<import('../lib/types.js').WorkloadMetrics | undefined>}
 */
export async function runHook(bound, name, context) {
  /** @type {Promise<import('../lib/types.js').WorkloadMetrics | void> | undefined} */
  const work = bound[name]?.();
  if (work === undefined) return undefined;
  return (await withTimeout(work, context, HOOK_TIMEOUT_MS, `${name} the operations`)) ?? undefined;
}

/**
 * @param {BenchmarkSpec} spec
 * @param {Promise<Bound>} bound
 * @param {import('../lib/types.js').CallStyle} calls
 * @param {BenchmarkContext} context
 * @param {BenchmarkRecord} record
 */
async function measure(spec, bound, calls, context, record) {
  const { instruments } = context;
  const { measured, outage } = await bound;
  const { kind, inFlight, operations, durationNs } = ownLoad(spec);
  await runHook(measured, 'before', context);
  const rate = rateOf(spec, measured);
  instruments.collectGarbage('young');
  const startNs = (await context.atStart?.()) ?? undefined;
  const serverBefore = instruments.servers(spec.serverPids);
  const othersBefore = spec.others?.map(({ pids }) => instruments.servers(pids));
  const garbage = instruments.observeGarbage();
  let before = instruments.client(); // its first call is slow
  if (startNs !== undefined) await sleepUntilStart(startNs, { ...context, ...instruments });
  /** @type {number | null} */
  let pendingBytes = null;
  const load = await runLoad(
    {
      ...measured,
      calls: measured.calls ?? calls,
      kind,
      inFlight: inFlight ?? 1,
      rate,
      operations: operations ?? Number.POSITIVE_INFINITY,
      durationNs: durationNs ?? Number.POSITIVE_INFINITY,
      stallNs: spec.stallNs,
      clock: instruments.clock,
      recorder: recorderOf(spec, measured),
      startNs,
      outage,
    },
    {
      onStart: () => {
        if (startNs !== undefined) before = instruments.client();
      },
      signal: context.signal,
      crash: context.crash,
      onProgress: (settled, recorder) =>
        context.onProgress?.({ phase: 'measure', settled, recorder }),
      onIssued: () => {
        pendingBytes = (instruments.client().heapBytes - before.heapBytes) / (operations ?? 1);
      },
    },
  );
  const after = instruments.client();
  const serverAfter = instruments.servers(spec.serverPids);
  const othersAfter = spec.others?.map(({ pids }) => instruments.servers(pids));
  const collected = await garbage.stop(load.recorder.endNs);
  record.pendingBytes = pendingBytes;
  record.client = {
    userNs: after.userNs - before.userNs,
    systemNs: after.systemNs - before.systemNs,
    rssBytesBefore: before.rssBytes,
    rssBytesAfter: after.rssBytes,
    rssBytesMax: after.rssBytesMax,
    gcCount: collected.count,
    gcNs: collected.ns,
    ...(collected.collections && {
      collections: collected.collections.map(({ startNs, ns }) => ({
        startNs: Math.max(0, startNs - load.recorder.startNs),
        ns,
      })),
    }),
  };
  if (serverBefore !== null && serverAfter !== null) {
    record.serverSpanNs = [serverBefore.cpuNs, serverAfter.cpuNs];
  }
  record.server = serverBetween(serverBefore, serverAfter);
  for (const [i, { name }] of (spec.others ?? []).entries()) {
    const used = serverBetween(othersBefore?.[i] ?? null, othersAfter?.[i] ?? null);
    if (used !== null) record.others = { ...record.others, [name]: used };
  }
  recordLoad(record, load, instruments.clock.originNs ?? 0);
  recordSeries(record, load, measured.series);
  if (outage) record.outages = outage.end(load);
  if (measured.compared !== undefined) record.compared = { ...measured.compared };
  if (record.state === 'aborted') return;
  const metrics = await runHook(measured, 'after', context);
  if (metrics !== undefined) record.metrics = metrics;
  if (measured.compared !== undefined) record.compared = { ...measured.compared };
}

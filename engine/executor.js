/**
 * How a benchmark is executed: in a fresh process (a second driver in a process changes the first
 * one's speed), or in this one, for tests with a fake clock. Both take a spec and give a record.
 */

import { fileURLToPath } from 'node:url';
import { DragstripError } from '../lib/errors.js';
import { systemClock } from '../measure/clock.js';
import { runBenchmark } from './benchmark.js';
import { MeasuringProcess, SILENCE_MS } from './measuring-process.js';
import { mergeRecords, shareSpec } from './share.js';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));

/** @typedef {import('./benchmark.js').BenchmarkSpec} BenchmarkSpec */
/** @typedef {import('./benchmark.js').BenchmarkRecord} BenchmarkRecord */

/**
 * @typedef {object} Execution
 * @property {BenchmarkRecord | null} record null: the process ended without one
 * @property {{ code: string, message: string } | null} failure why there is none
 * @property {number | null} processNs wall time of the process; null without a separate process
 */

/**
 * @typedef {{ phase: string, settled: number,
 *   live?: import('./record.js').LiveFigures[] }} Progress live: of each process, where asked for
 */

/**
 * @callback Executor
 * @param {BenchmarkSpec} spec
 * @param {{ signal?: AbortSignal,
 *   onProgress?: (progress: Progress) => void,
 *   onRecord?: (record: BenchmarkRecord) => void }} context onRecord: about each second, what was
 *   measured until then
 * @returns {Promise<Execution>}
 */

/**
 * @typedef {Parameters<Executor>[1] & { atStart?: () => Promise<number | void> }} BenchmarkContext
 *   atStart: of one process among several, resolves when all are ready, with the time at which they
 *   begin on the system's monotonic clock; void: at once
 */

/** @type {Executor} a fresh process for each benchmark */
export const executeInChild = createChildExecutor();

/**
 * @param {{ silenceMs?: number }} [options] silenceMs: how long a benchmark's process may be
 *   without a sign of life, at least six of its timeouts
 * @returns {Executor} runs each benchmark in its own process
 */
export function createChildExecutor({ silenceMs = SILENCE_MS } = {}) {
  const execute = (/** @type {BenchmarkSpec} */ spec, /** @type {BenchmarkContext} */ context) =>
    executeBounded(spec, context, silenceMs);
  return (spec, context) =>
    (spec.load.processes ?? 1) === 1
      ? execute(spec, context)
      : executeShared(spec, context, execute);
}

/**
 * Runs the parts of a benchmark side by side and merges their records into one.
 * @param {BenchmarkSpec} spec
 * @param {BenchmarkContext} context
 * @param {(part: BenchmarkSpec, context: BenchmarkContext) => Promise<Execution>} execute
 * @returns {Promise<Execution>}
 */
async function executeShared(spec, context, execute) {
  const { failed, executions } = await executeParts(shareSpec(spec), context, execute);
  const processNs = Math.max(0, ...executions.map((one) => one.processNs ?? 0)) || null;
  // What the others did until they were stopped is no measurement of this load.
  if (failed !== null) return { ...failed, processNs };
  const records = executions.flatMap(({ record }) => record ?? []);
  if (records.length < executions.length) {
    const failure = executions.find(({ record }) => record === null)?.failure ?? null;
    return { record: null, failure, processNs };
  }
  return { record: mergeRecords(records), failure: null, processNs };
}

/**
 * Runs parts of a benchmark side by side: they begin together when all are ready, and where one
 * fails, the others are stopped, because what they would measure is another load.
 * @param {readonly BenchmarkSpec[]} parts
 * @param {BenchmarkContext} context atStart: called once, when all of these are ready
 * @param {(part: BenchmarkSpec, context: BenchmarkContext) => Promise<Execution>} [execute]
 * @returns {Promise<{ executions: Execution[], failed: Execution | null }>} failed: the first of
 *   them that did
 */
export async function executeParts(parts, context, execute = executeInOwnChild) {
  const { signal, onProgress, onRecord, atStart: together = async () => {} } = context;
  const others = new AbortController();
  const stopped = signal === undefined ? others.signal : AbortSignal.any([signal, others.signal]);
  const atStart = createBarrier(parts.length, stopped, together);
  const settled = parts.map(() => 0);
  /** @type {(BenchmarkRecord | undefined)[]} */
  const records = parts.map(() => undefined);
  /** @type {(import('./record.js').LiveFigures | undefined)[]} */
  const live = parts.map(() => undefined);
  /** @type {Execution | null} */
  let failed = null;
  const executions = await Promise.all(
    parts.map(async (part, index) => {
      const execution = await execute(part, {
        signal: stopped,
        atStart,
        onProgress: ({ phase, settled: count, live: [own] = [] }) => {
          settled[index] = count;
          live[index] = own;
          const all = live.flatMap((one) => one ?? []);
          const sum = settled.reduce((total, one) => total + one, 0);
          onProgress?.({ phase, settled: sum, ...(all.length > 0 && { live: all }) });
        },
        onRecord:
          onRecord &&
          ((record) => {
            records[index] = record;
            const known = records.filter((one) => one !== undefined);
            if (index === 0 && known.length === parts.length) onRecord(mergeRecords(known));
          }),
      });
      const { record } = execution;
      if (!stopped.aborted && (record === null || record.state === 'failed')) {
        failed = execution;
        others.abort();
      }
      return execution;
    }),
  );
  return { executions, failed };
}

/**
 * @param {BenchmarkSpec} spec
 * @param {BenchmarkContext} context
 */
function executeInOwnChild(spec, context) {
  return executeBounded(spec, context, SILENCE_MS);
}

/**
 * @param {number} count
 * @param {AbortSignal} signal
 * @param {() => Promise<number | void>} then called when it has been called by so many
 * @returns {() => Promise<number | void>} resolves for all as that does, or when aborted
 */
function createBarrier(count, signal, then) {
  let missing = count;
  /** @type {(start?: Promise<number | void>) => void} */
  let open = () => {};
  /** @type {Promise<number | void>} */
  const all = new Promise((resolve) => {
    open = resolve;
  });
  signal.addEventListener('abort', () => open(), { once: true });
  return () => {
    missing -= 1;
    if (missing === 0) open(then());
    return all;
  };
}

/**
 * @param {BenchmarkSpec} spec
 * @param {BenchmarkContext} context
 * @param {number} silenceMs
 * @returns {Promise<Execution>}
 */
async function executeBounded(spec, { signal, onProgress, onRecord, atStart }, silenceMs) {
  const startNs = systemClock.now();
  /** @type {BenchmarkRecord | null} */
  let record = null;
  const own = new MeasuringProcess(CHILD, {
    ...{ name: 'the benchmark process', cpus: spec.cpus, runtime: spec.runtime },
    silenceMs: Math.max(silenceMs, (6 * spec.stallNs) / 1e6),
    onMessage(message) {
      if (message.type === 'done') record = message.record;
      if (message.type === 'progress') onProgress?.(message.progress);
      if (message.type === 'record') onRecord?.(message.record);
      if (message.type === 'ready') atStart?.().then((atNs) => own.send({ type: 'go', atNs }));
    },
  });
  const onAbort = () => own.abort();
  signal?.addEventListener('abort', onAbort, { once: true });
  own.send({ type: 'run', spec, records: onRecord !== undefined });
  if (signal?.aborted) onAbort();
  const failure = await own.ended;
  signal?.removeEventListener('abort', onAbort);
  const processNs = systemClock.now() - startNs;
  return { record, failure: record === null ? failure : null, processNs };
}

/**
 * @param {import('../measure/usage.js').Instruments} instruments
 * @returns {Executor} runs benchmarks in this process
 */
export function inThisProcess(instruments) {
  const execute = async (
    /** @type {BenchmarkSpec} */ spec,
    /** @type {BenchmarkContext} */ context,
  ) => {
    if (spec.driver !== undefined) {
      // A process has one version of a driver: what it has loaded cannot be exchanged.
      throw new DragstripError('E_INTERNAL', 'another version needs a separate process');
    }
    const record = await runBenchmark(spec, { instruments, ...context });
    return { record, failure: null, processNs: null };
  };
  return (spec, context) =>
    (spec.load.processes ?? 1) === 1
      ? execute(spec, context)
      : executeShared(spec, context, execute);
}

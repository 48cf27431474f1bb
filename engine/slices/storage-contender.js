/**
 * A contender that is a storage, in its own process: opened and checked once, warmed up, then asked
 * for one slice after the other.
 */

import { OUTCOMES } from '../../lib/outcome.js';
import { SliceSeries } from '../../load/slice.js';
import { TimedSliceSeries } from '../../load/timed-slice.js';
import { ThreadClocks } from '../../measure/schedstat.js';
import { loadWorkload } from '../../workloads/index.js';
import { bindWorkload, checkRows, openStorage, runHook } from '../benchmark.js';
import { closeBounded, withTimeout } from '../guard.js';
import { addPoolWait } from '../pool-wait.js';
import { isWarm } from './warm.js';

/** Keys of a round, shared by its variants; the slices go through them and begin again. */
const KEYS = 262_144;
const KEYS_MIN = 16_384;
const CHECK_ROWS = 64;
/** At most so many at once while warming up. */
const WARM_BURST = 1000;
const OPEN_TIMEOUT_MS = 10_000;

/**
 * @typedef {object} SliceSpec the input of a contender's process
 * @property {'storage' | 'wire' | 'program'} kind
 * @property {import('../benchmark.js').BenchmarkSpec} benchmark its load is not used
 * @property {(SliceLoad | null)[]} loads null: this contender does not have it
 * @property {number} [warmNsMax] of all loads together
 * @property {number} [slot] of its first variant, see Slot of lib/workload-types.d.ts
 * @property {boolean} [isCopy] it is a second copy of a contender
 * @property {boolean} [timed] its slices have a duration, not a number of operations
 * @property {import('../../limits/wire/process.js').WireSpec} [wire] of a server ceiling
 *
 * @typedef {object} SliceLoad
 * @property {'sync' | 'window' | 'burst'} kind
 * @property {number} inFlight 1 of sync; of a burst its size
 * @property {boolean} [whole] a burst too large to be sliced: it runs once per round
 * @property {number} [sliceOperations] fixed by hand; absent: as many as take the time of a slice
 * @property {number} [connections] that these are spread over; absent: one
 * @property {number} [valueSize] of the rows; absent: of the dataset
 * @property {import('../../lib/types.js').Parameters} [parameters] of the variant of the workload
 * @property {import('../../lib/types.js').Part} [part] of a benchmark that has several
 * @property {string} [workload] absent: that of the contender
 * @property {readonly string[]} [contenders] names of those that have it; absent: all
 * @property {readonly string[]} [others] names of further servers that it needs
 *
 * @typedef {object} SliceRecord of one slice
 * @property {number} startNs on the system's monotonic clock
 * @property {number} endNs
 * @property {number} spanNs
 * @property {number} spanOperations
 * @property {number} operations
 * @property {number} medianNs
 * @property {number} cappedNs mean of the latencies, none above ten medians
 * @property {boolean} valid
 * @property {boolean} [refused] there is none, and the load is asked for no more
 * @property {number | null} cpuNs of the whole process
 * @property {number | null} runNs of its main thread
 * @property {number | null} waitNs of its main thread, runnable and without a processor
 *
 * @typedef {object} SeriesRecord of all slices of one load in one process
 * @property {number} scheduled
 * @property {number[]} outcomes
 * @property {import('../../lib/result.js').Sample[]} samples
 * @property {number} durationNs
 * @property {number} inFlightMean
 * @property {number} [inFlightSteady] of a window, while every worker has one in flight
 * @property {import('../record.js').HistogramMessage | null} latency
 * @property {{ userNs: number, systemNs: number }} [cpu] of the process, in these slices
 * @property {import('../../lib/types.js').Compared} [compared] in these slices
 * @property {import('../../lib/types.js').WorkloadMetrics} [metrics] of the workload
 * @property {{ name: string, latency: import('../record.js').HistogramMessage | null }[]} [kinds]
 *   of operations, in a mix
 * @property {import('../record.js').HistogramMessage | null} [poolWait] of a pool whose driver
 *   shows it
 * @property {number} [rssBytes] of the process, peak
 * @property {boolean} [refused] every operation was, which is no fault of the run
 */

/**
 * @typedef {object} Contender
 * @property {() => Promise<WarmRecord[]>} warm by load
 * @property {(load: number, operations: number) => Promise<void>} [prepare] before a slice, where
 *   its workload needs that
 * @property {(load: number) => Promise<void>} [settle] after it
 * @property {(load: number, operations: number, repetitions: number) => Promise<SliceRecord>} slice
 * @property {(load: number, times: import('../../load/timed-slice.js').SliceTimes,
 *   onStart: () => void) => Promise<TimedSlice>} timed times: on the system's monotonic clock
 * @property {() => Promise<SeriesRecord[]>} end
 *
 * @typedef {SliceRecord & { lateNs: number,
 *   latency: import('../record.js').HistogramMessage | null }} TimedSlice
 */

/**
 * @typedef {object} WarmRecord
 * @property {number} costNs per operation
 * @property {boolean} [renews] each slice is prepared and settled
 * @property {boolean} [refused] it has no slices
 *
 * @typedef {object} Part a variant of the workload: opened and checked once, for all its loads
 * @property {import('../../lib/types.js').Handle} handle
 * @property {import('../../lib/types.js').BoundWorkload} measured
 * @property {import('../../lib/types.js').CallStyle} calls
 * @property {import('../../lib/types.js').WorkloadMetrics | undefined} metrics at the end
 *
 * @typedef {object} Cell a load of a variant
 * @property {SliceLoad} load
 * @property {Part} part
 * @property {SliceSeries} series
 * @property {{ userNs: number, systemNs: number, replies: number, bytes: number, stale: number }}
 *   sums
 * @property {SliceSeries['recorder']['histogram'] | null} poolWait null: its handle does not tell
 */

/**
 * @param {SliceSpec} spec
 * @param {import('../benchmark.js').BenchmarkContext} context
 * @returns {Promise<Contender>}
 */
export async function openStorageContender(spec, context) {
  const { warmNsMax } = spec;
  const { instruments } = context;
  const { clock } = instruments;
  const cells = await openCells(spec, context);
  const own = cells.filter((cell) => cell !== null);
  const parts = [...new Set(own.map(({ part }) => part))];
  const thread = new ThreadClocks([process.pid], { mainOnly: true });
  const origin = clock.originNs ?? 0;
  const watch = { signal: context.signal, crash: context.crash };
  /**
   * @template {import('../../load/slice.js').SliceFigures} T
   * @param {Cell} cell
   * @param {(series: SliceSeries, begin: () => void) => Promise<T>} run begin: when it starts
   */
  const account = async (cell, run) => {
    const { series, part, sums } = cell;
    const before = { ...part.measured.compared };
    let times = thread.read();
    let cpu = process.cpuUsage();
    const figures = await run(series, () => {
      times = thread.read();
      cpu = process.cpuUsage();
    });
    const spent = process.cpuUsage(cpu);
    const after = thread.read();
    sums.userNs += spent.user * 1000;
    sums.systemNs += spent.system * 1000;
    addCompared(sums, part.measured.compared, before);
    cell.poolWait = addPoolWait(cell.poolWait, part.handle);
    return {
      ...figures,
      startNs: origin + figures.startNs,
      endNs: origin + figures.endNs,
      cpuNs: (spent.user + spent.system) * 1000,
      runNs: times && after && after.runNs - times.runNs,
      waitNs: times && after && after.waitNs - times.waitNs,
    };
  };
  return {
    async warm() {
      instruments.collectGarbage('all');
      for (const { measured } of parts) await runHook(measured, 'before', context);
      /** @type {WarmRecord[]} */
      const records = [];
      for (const cell of cells) {
        const how = { parts: own.length, warmNsMax, clock };
        records.push(cell === null ? { costNs: 0 } : await warmCell(cell, how));
      }
      instruments.collectGarbage('young');
      return records;
    },
    async prepare(index, operations) {
      await prepareSlice(/** @type {Cell} */ (cells[index]), operations);
    },
    async settle(index) {
      await cells[index]?.part.measured.slice?.after();
    },
    slice(index, operations, repetitions) {
      return account(/** @type {Cell} */ (cells[index]), (series, begin) => {
        begin();
        return series.run(operations, repetitions, watch);
      });
    },
    timed(index, { startNs, fromNs, endNs }, onStart) {
      const times = { startNs: startNs - origin, fromNs: fromNs - origin, endNs: endNs - origin };
      return account(/** @type {Cell} */ (cells[index]), (series, begin) => {
        const onBegin = () => {
          begin();
          onStart();
        };
        const timed = /** @type {TimedSliceSeries} */ (series);
        return timed.runBetween(times, { ...watch, onStart: onBegin });
      });
    },
    async end() {
      thread.close();
      for (const part of parts) await finish(part, own, context);
      for (const handle of new Set(parts.map((part) => part.handle))) await closeBounded(handle);
      const rssBytes = process.resourceUsage().maxRSS * 1024;
      return cells.map((cell) => (cell === null ? emptySeries() : toRecord(cell, rssBytes)));
    },
  };
}

/**
 * @param {Part} part
 * @param {readonly Cell[]} cells
 * @param {import('../benchmark.js').BenchmarkContext} context
 */
async function finish(part, cells, context) {
  const { compared } = part.measured;
  const before = { ...compared };
  part.metrics = await runHook(part.measured, 'after', context);
  if (compared === undefined) return;
  // What is compared at the end is of all its loads; it is counted in the first.
  const { sums } = /** @type {Cell} */ (cells.find((cell) => cell.part === part));
  addCompared(sums, compared, before);
}

/**
 * @param {Cell['sums']} sums are added to
 * @param {import('../../lib/types.js').Compared | undefined} now
 * @param {Partial<import('../../lib/types.js').Compared>} before
 */
function addCompared(sums, now, before) {
  for (const name of /** @type {const} */ (['replies', 'bytes', 'stale'])) {
    sums[name] += (now?.[name] ?? 0) - (before[name] ?? 0);
  }
}

/**
 * Loads of one variant share its handle and its keys.
 * @param {SliceSpec} spec
 * @param {import('../benchmark.js').BenchmarkContext} context
 * @returns {Promise<(Cell | null)[]>}
 */
export async function openCells(spec, context) {
  const { kind, benchmark, loads, slot = 0, isCopy = false, timed } = spec;
  const { clock } = context.instruments;
  const isProgram = kind === 'program';
  const variantOf = (/** @type {SliceLoad} */ { parameters, part, workload, inFlight, ...more }) =>
    JSON.stringify([
      ...[parameters ?? null, part ?? null, workload ?? null],
      ...[more.connections ?? 1, more.valueSize ?? null],
      // A pool has as many connections as are in flight.
      benchmark.workloadOptions['pool'] ? inFlight : null,
    ]);
  const variants = new Set(loads.flatMap((load) => (load === null ? [] : [variantOf(load)])));
  const operations = Math.max(KEYS_MIN, Math.floor(KEYS / variants.size));
  /** @type {Map<string, Part>} */
  const parts = new Map();
  /** @type {Handles} */
  const handles = new Map();
  /** @type {(Cell | null)[]} */
  const cells = [];
  for (const load of loads) {
    if (load === null) {
      cells.push(null);
      continue;
    }
    const variant = variantOf(load);
    const part =
      parts.get(variant) ??
      (await openPart(
        { ...benchmark, slot: { at: slot + parts.size, isCopy, ...(isProgram && { isProgram }) } },
        { load, operations, handles },
        context,
      ));
    parts.set(variant, part);
    const { op, verify, replyBytes, kinds } = part.measured;
    const series = new (timed ? TimedSliceSeries : SliceSeries)({
      ...{ op, verify, replyBytes, kinds, clock, stallNs: benchmark.stallNs },
      ...{ kind: load.kind, inFlight: load.inFlight, calls: part.calls },
    });
    const sums = { userNs: 0, systemNs: 0, replies: 0, bytes: 0, stale: 0 };
    cells.push({ load, part, series, sums, poolWait: null });
  }
  return cells;
}

/** @typedef {Map<string, import('../benchmark.js').OpenedStorage>} Handles that variants share */

/**
 * @param {import('../benchmark.js').BenchmarkSpec} benchmark
 * @param {{ load: SliceLoad, operations: number, handles: Handles }} variant operations: keys that
 *   are drawn
 * @param {import('../benchmark.js').BenchmarkContext} context
 * @returns {Promise<Part>}
 */
async function openPart(benchmark, { load, operations, handles }, context) {
  const { parameters, part, workload = benchmark.workload, inFlight, ...more } = load;
  const { connections, valueSize } = more;
  const { pool = false } = benchmark.workloadOptions;
  const window = { kind: /** @type {const} */ ('window'), inFlight: pool ? inFlight : 100 };
  const workloadOptions = {
    ...benchmark.workloadOptions,
    ...(parameters && { parameters }),
    ...(part && { part }),
  };
  const shape = { ...(connections && { connections }), ...(valueSize && { valueSize }) };
  const whole = { ...window, operations, durationNs: null, ...shape };
  const spec = { ...benchmark, workload, workloadOptions, load: whole };
  const { shares } = await loadWorkload(workload);
  const name = shares?.(parameters ?? {});
  const key =
    name === undefined
      ? String(handles.size)
      : JSON.stringify([workload, pool && inFlight, name, shape]);
  const opened =
    handles.get(key) ?? (await withTimeout(openStorage(spec), context, OPEN_TIMEOUT_MS, 'open'));
  handles.set(key, opened);
  const stallMs = spec.stallNs / 1e6;
  const bound = bindWorkload(spec, opened, context.instruments.clock);
  await withTimeout(checkRows(bound, opened, CHECK_ROWS), context, stallMs, 'the check');
  const { measured } = await bound;
  const { handle, calls } = opened;
  return { handle, measured, calls: measured.calls ?? calls, metrics: undefined };
}

/**
 * @param {Cell} cell
 * @param {number} operations
 */
async function prepareSlice({ part: { measured }, series }, operations) {
  await measured.slice?.before(operations);
  if (measured.slice !== undefined) series.first = 0;
}

/**
 * @param {Cell} cell
 * @param {{ parts: number, warmNsMax?: number, clock: import('../../measure/clock.js').Clock }} how
 *   parts of the warm-up: one for each cell
 * @returns {Promise<WarmRecord>} its cost in the last quarter
 */
async function warmCell(cell, { parts, warmNsMax, clock }) {
  const { series, load, part } = cell;
  const { kind, inFlight } = load;
  const { slice, refused } = part.measured;
  const startNs = clock.now();
  /** @type {number[]} */
  const costs = [];
  let operations =
    kind === 'sync' ? 1 : Math.min(WARM_BURST, inFlight) * (kind === 'burst' ? 1 : 2);
  let done = 0;
  for (;;) {
    await prepareSlice(cell, operations);
    const { spanNs, spanOperations, valid } = await series.run(operations, 1);
    await slice?.after();
    if (refused?.()) return { costNs: spanNs / operations, refused: true };
    done += operations;
    const cost = spanNs / Math.max(1, spanOperations);
    costs.push(cost);
    const spentNs = (clock.now() - startNs) * parts;
    if (!valid || isWarm(costs, done * parts, spentNs, warmNsMax)) break;
    // No step is longer than a slice, and the first ones of a slow operation are shorter.
    if (kind !== 'burst') operations = Math.max(1, Math.ceil(5e6 / cost / inFlight)) * inFlight;
  }
  series.clear();
  addPoolWait(null, part.handle);
  slice?.restart();
  const last = costs.slice(-Math.max(1, costs.length >> 2)).sort((a, b) => a - b);
  return { costNs: last[last.length >> 1], renews: slice !== undefined };
}

/** @returns {SeriesRecord} of a load that the contender does not have */
function emptySeries() {
  const outcomes = OUTCOMES.map(() => 0);
  return { scheduled: 0, samples: [], durationNs: 0, outcomes, inFlightMean: 0, latency: null };
}

/**
 * @param {Cell} cell
 * @param {number} rssBytes
 * @returns {SeriesRecord}
 */
function toRecord({ series, part: { measured, metrics }, sums, poolWait }, rssBytes) {
  const { recorder, scheduled, outcomes, samples, durationNs, inFlightAreaNs } = series;
  const { histogram, kinds } = recorder;
  const { userNs, systemNs, replies, bytes, stale } = sums;
  const message = (/** @type {typeof histogram} */ one) =>
    one.count === 0 ? null : one.toMessage();
  return {
    ...{ scheduled, samples, durationNs, rssBytes, outcomes: Array.from(outcomes) },
    cpu: { userNs, systemNs },
    inFlightMean: durationNs > 0 ? inFlightAreaNs / durationNs : 0,
    ...(series.steady.ns > 0 && { inFlightSteady: series.steady.areaNs / series.steady.ns }),
    latency: message(histogram),
    ...(measured.compared && {
      compared: { replies, bytes, ...(measured.compared.stale !== undefined && { stale }) },
    }),
    ...(metrics && { metrics }),
    ...(poolWait && { poolWait: message(poolWait) }),
    ...(measured.refused?.() && { refused: true }),
    ...(kinds && {
      kinds: kinds.names.map((name, i) => ({ name, latency: message(recorder.byKind[i]) })),
    }),
  };
}

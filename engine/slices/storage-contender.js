/**
 * A contender that is a storage, in its own process: opened and checked once, warmed up, then asked
 * for one slice after the other.
 */

import { SliceSeries } from '../../load/slice.js';
import { ThreadClocks } from '../../measure/schedstat.js';
import { bindWorkload, checkRows, openStorage, runHook } from '../benchmark.js';
import { closeBounded, withTimeout } from '../guard.js';
import { isWarm } from './warm.js';

/** Keys of a round; the slices go through them and begin again. */
const KEYS = 262_144;
const CHECK_ROWS = 64;
/** At most so many at once while warming up. */
const WARM_BURST = 1000;
const OPEN_TIMEOUT_MS = 10_000;

/**
 * @typedef {object} SliceSpec the input of a contender's process
 * @property {'storage' | 'wire'} kind
 * @property {import('../benchmark.js').BenchmarkSpec} benchmark its load is not used
 * @property {SliceLoad[]} loads
 * @property {import('../../limits/wire/process.js').WireSpec} [wire] of a server ceiling
 *
 * @typedef {object} SliceLoad
 * @property {'sync' | 'window' | 'burst'} kind
 * @property {number} inFlight 1 of sync; of a burst its size
 * @property {boolean} [whole] a burst too large to be sliced: it runs once per round
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
 * @property {import('../record.js').HistogramMessage | null} latency
 * @property {{ userNs: number, systemNs: number }} [cpu] of the process, in these slices
 * @property {import('../../lib/types.js').Compared} [compared] with the dataset, in these slices
 * @property {number} [rssBytes] of the process, peak
 */

/**
 * @typedef {object} Contender
 * @property {() => Promise<number[]>} warm ns per operation of each load
 * @property {(load: number, operations: number, repetitions: number) => Promise<SliceRecord>} slice
 * @property {() => Promise<SeriesRecord[]>} end
 */

/**
 * @param {SliceSpec} spec
 * @param {import('../benchmark.js').BenchmarkContext} context
 * @returns {Promise<Contender>}
 */
export async function openStorageContender({ benchmark, loads }, context) {
  const { instruments } = context;
  const { clock } = instruments;
  const load = { kind: /** @type {const} */ ('window'), inFlight: 100, operations: KEYS };
  const spec = { ...benchmark, load: { ...load, durationNs: null } };
  const opened = await withTimeout(openStorage(spec), context, OPEN_TIMEOUT_MS, 'open');
  const stallMs = spec.stallNs / 1e6;
  const bound = bindWorkload(spec, opened, clock);
  await withTimeout(checkRows(bound, opened, CHECK_ROWS), context, stallMs, 'the check');
  const { measured } = await bound;
  const series = loads.map(
    ({ kind, inFlight }) =>
      new SliceSeries({
        ...{ op: measured.op, verify: measured.verify, replyBytes: measured.replyBytes },
        rotates: measured.rotates,
        ...{ kind, inFlight, clock, stallNs: spec.stallNs },
        calls: measured.calls ?? opened.calls,
      }),
  );
  const thread = new ThreadClocks([process.pid], { mainOnly: true });
  const sums = loads.map(() => ({ userNs: 0, systemNs: 0, replies: 0, bytes: 0 }));
  const origin = clock.originNs ?? 0;
  const watch = { signal: context.signal, crash: context.crash };

  /** @type {Contender['slice']} */
  const slice = async (index, operations, repetitions) => {
    const before = { ...measured.compared };
    const times = thread.read();
    const cpu = process.cpuUsage();
    const figures = await series[index].run(operations, repetitions, watch);
    const spent = process.cpuUsage(cpu);
    const after = thread.read();
    const sum = sums[index];
    sum.userNs += spent.user * 1000;
    sum.systemNs += spent.system * 1000;
    sum.replies += (measured.compared?.replies ?? 0) - (before.replies ?? 0);
    sum.bytes += (measured.compared?.bytes ?? 0) - (before.bytes ?? 0);
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
      await runHook(measured, 'before', context);
      const costs = [];
      for (const [index, one] of series.entries()) {
        costs.push(await warmLoad(one, loads[index], loads.length, clock));
        one.clear();
      }
      instruments.collectGarbage('young');
      return costs;
    },
    slice,
    async end() {
      thread.close();
      await runHook(measured, 'after', context);
      await closeBounded(opened.handle);
      const rssBytes = process.resourceUsage().maxRSS * 1024;
      return series.map((one, i) => {
        const { userNs, systemNs, replies, bytes } = sums[i];
        const cpu = { userNs, systemNs };
        const compared = measured.compared && { replies, bytes };
        return { ...toRecord(one), cpu, rssBytes, ...(compared && { compared }) };
      });
    },
  };
}

/**
 * @param {SliceSeries} series
 * @param {SliceLoad} load
 * @param {number} parts of the warm-up: one for each load
 * @param {import('../../measure/clock.js').Clock} clock
 * @returns {Promise<number>} ns per operation in its last quarter
 */
async function warmLoad(series, { kind, inFlight }, parts, clock) {
  const startNs = clock.now();
  /** @type {number[]} */
  const costs = [];
  let operations =
    kind === 'sync' ? 50 : Math.min(WARM_BURST, inFlight) * (kind === 'burst' ? 1 : 2);
  let done = 0;
  for (;;) {
    const { spanNs, spanOperations, valid } = await series.run(operations, 1);
    done += operations;
    const cost = spanNs / Math.max(1, spanOperations);
    costs.push(cost);
    if (!valid || isWarm(costs, done * parts, (clock.now() - startNs) * parts)) break;
    if (kind !== 'burst') {
      operations = Math.max(operations, Math.ceil(5e6 / cost / inFlight) * inFlight);
    }
  }
  const last = costs.slice(-Math.max(1, costs.length >> 2)).sort((a, b) => a - b);
  return last[last.length >> 1];
}

/** @param {SliceSeries} series @returns {SeriesRecord} */
function toRecord({ recorder, scheduled, outcomes, samples, durationNs, inFlightAreaNs }) {
  const { histogram } = recorder;
  return {
    ...{ scheduled, samples, durationNs, outcomes: Array.from(outcomes) },
    inFlightMean: durationNs > 0 ? inFlightAreaNs / durationNs : 0,
    latency: histogram.count === 0 ? null : histogram.toMessage(),
  };
}

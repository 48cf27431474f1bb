/**
 * CPU time, memory and garbage collections of processes, as differences over a whole phase. Nothing
 * here runs during the phase.
 *
 * A server's CPU time is the sum over its threads of /proc/PID/task/TID/schedstat (first field:
 * nanoseconds on a processor, kernel documentation, scheduler/sched-stats); without schedstat,
 * fields 14 and 15 of /proc/PID/stat in ticks of 10 ms (proc(5)).
 *
 * A thread that ends takes its schedstat with it, including all time since its start: a JVM ends
 * compiler threads (-XX:+UseDynamicNumberOfCompilerThreads) that had run for seconds.
 * /proc/PID/stat still includes their time, so the time of ended threads is derived from it.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { PerformanceObserver, performance } from 'node:perf_hooks';
import v8 from 'node:v8';
import { canaryNs, readConditions } from './conditions.js';
import { ThreadClocks } from './schedstat.js';
import { TransferClock } from './transfers.js';

/** USER_HZ is 100 on every Linux that Node runs on. */
const TICK_NS = 1e7;

/**
 * @typedef {object} Instruments
 * @property {import('./clock.js').Clock} clock
 * @property {() => CpuUsage} cpu CPU time of this process; takes microseconds
 * @property {() => ClientUsage} client CPU time with memory, which takes longer
 * @property {(pids: readonly number[], options: { mainOnly?: boolean }) =>
 *   Pick<ThreadClocks, 'read' | 'close'>} threadClocks
 * @property {() => Pick<TransferClock, 'read' | 'close'>} transferClock clock of this process's
 *   transfers
 * @property {(pids: readonly number[]) => ServerUsage | null} servers null: unreadable
 * @property {(what: 'all' | 'young') => number | null} collectGarbage all: also discards compiled
 *   code that depends on dead objects; young: only new objects, keeps code. Returns the bytes
 *   of the heap in use afterwards; null: nothing was collected
 * @property {() => number} canaryNs duration of a fixed loop
 * @property {() => import('./conditions.js').Conditions} conditions conditions of the machine
 * @property {(kept?: number) => { stop: (untilNs: number) => Garbage | Promise<Garbage> }}
 *   observeGarbage collections that started before that time; kept: number kept individually,
 *   default COLLECTIONS_MAX
 * @property {() => number} heapBytes bytes in use by this process' heap; takes microseconds
 */

/** @typedef {{ count: number | null, ns: number | null, collections?: Collection[] }} Garbage
 * collections: the longest, in chronological order; null and absent: not reported by the runtime */

/**
 * @typedef {object} CpuUsage totals since the process started
 * @property {number} userNs
 * @property {number} systemNs
 * @property {number} voluntarySwitches context switches while waiting (getrusage(2))
 * @property {number} involuntarySwitches preemptions by the scheduler
 * @property {number} [loopTurns] iterations of the event loop (uv_metrics_info(3))
 *
 * @typedef {CpuUsage & Memory} ClientUsage
 *
 * @typedef {object} Memory
 * @property {number} rssBytes
 * @property {number} rssBytesMax peak
 * @property {number} heapBytes heap and buffers
 */

/**
 * @typedef {object} ServerUsage
 * @property {number} cpuNs total of all threads
 * @property {number | null} rssBytes
 * @property {Record<string, number>} [threadNs] time of each living thread, by pid and thread id
 */

/** @returns {CpuUsage} usage of this process */
function cpuUsage() {
  const usage = process.resourceUsage();
  // From Node 20.18 on.
  const loopTurns = /** @type {any} */ (performance.nodeTiming)?.uvMetricsInfo?.loopCount;
  return {
    ...(loopTurns !== undefined && { loopTurns }),
    userNs: usage.userCPUTime * 1000,
    systemNs: usage.systemCPUTime * 1000,
    voluntarySwitches: usage.voluntaryContextSwitches,
    involuntarySwitches: usage.involuntaryContextSwitches,
  };
}

/** @returns {ClientUsage} memory of this process */
function clientUsage() {
  const memory = process.memoryUsage();
  return {
    ...cpuUsage(),
    rssBytes: memory.rss,
    // Kilobytes on Linux (getrusage(2)).
    rssBytesMax: process.resourceUsage().maxRSS * 1024,
    heapBytes: memory.heapUsed + memory.external,
  };
}

/**
 * @typedef {{ endedNs: number, threads: Record<string, number> }} Seen last reading of a process
 */

/**
 * @returns {(pids: readonly number[]) => ServerUsage | null} sum over the processes, which never
 *   decreases; null if one is unreadable
 */
export function createServerUsage() {
  /** @type {Map<number, Seen>} */
  const seen = new Map();
  return (pids) => {
    if (pids.length === 0) return null;
    let cpuNs = 0;
    /** @type {number | null} */
    let rssBytes = 0;
    /** @type {Record<string, number>} */
    const threadNs = {};
    try {
      for (const pid of pids) {
        // Read first, so that it is not ahead of the threads.
        const processNs = processCpuNs(pid);
        const { sum, threads } = threadTimes(pid);
        const now = { endedNs: endedThreadsNs(seen.get(pid), processNs, threads), threads };
        seen.set(pid, now);
        cpuNs += sum === 0 ? processNs : sum + now.endedNs;
        for (const [thread, ns] of Object.entries(threads)) threadNs[`${pid}/${thread}`] = ns;
        const rss = residentBytes(pid);
        rssBytes = rss === null || rssBytes === null ? null : rssBytes + rss;
      }
    } catch {
      return null;
    }
    return { cpuNs, rssBytes, threadNs };
  };
}

/**
 * Time of ended threads. It is known only in ticks, of user and system time, so it changes only
 * when a thread has ended: between two readings with the same threads the difference is exact.
 * @param {Seen | undefined} before
 * @param {number} processNs total of all threads that ever existed, rounded down to ticks
 * @param {Readonly<Record<string, number>>} threads time of the living threads
 * @returns {number} at least their time at the last reading
 */
export function endedThreadsNs(before, processNs, threads) {
  const livingNs = sumOf(Object.values(threads));
  const restNs = Math.max(0, processNs - livingNs);
  if (before === undefined) return restNs;
  const ended = Object.entries(before.threads).filter(([thread]) => !(thread in threads));
  // Others may have started and ended in between, unobserved; less than this is within the rounding
  // of ticks.
  if (ended.length === 0 && restNs - before.endedNs <= 2 * TICK_NS) return before.endedNs;
  return Math.max(restNs, before.endedNs + sumOf(ended.map(([, ns]) => ns)));
}

/** @param {readonly number[]} values */
function sumOf(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

/**
 * @param {number} pid
 * @returns {{ sum: number, threads: Record<string, number> }} nanoseconds by thread; sum: 0 if the
 *   kernel has no schedstat
 */
function threadTimes(pid) {
  /** @type {Record<string, number>} */
  const threads = {};
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const line = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1');
      threads[thread] = Number(line.split(' ')[0]);
    } catch (error) {
      // A thread may end between listing and reading.
      if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error;
    }
  }
  return { sum: sumOf(Object.values(threads)), threads };
}

/**
 * @param {number} pid
 * @returns {number} nanoseconds, in steps of a tick
 */
function processCpuNs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_NS;
}

/**
 * @param {number} pid
 * @returns {number | null}
 */
function residentBytes(pid) {
  const match = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return match === null ? null : Number(match[1]) * 1024;
}

/** Number of collections kept individually, the longest: as many as a small plot can show. */
export const COLLECTIONS_MAX = 12;

/** @typedef {{ startNs: number, ns: number }} Collection startNs on the clock of the process */

/** Counts collections from now on; V8 reports start and duration of each, Bun and Deno do not. */
function observeGarbage(kept = COLLECTIONS_MAX) {
  // Missing in its types. Deno lists them, too, and reports none.
  const { supportedEntryTypes } = /** @type {any} */ (PerformanceObserver);
  if (!supportedEntryTypes.includes('gc') || 'Deno' in globalThis) {
    return { stop: () => ({ count: null, ns: null }) };
  }
  let count = 0;
  let ns = 0;
  /** @type {Collection[]} */
  let longest = [];
  let endNs = Number.POSITIVE_INFINITY;
  const add = (/** @type {readonly { startTime: number, duration: number }[]} */ entries) => {
    for (const { startTime, duration } of entries) {
      if (startTime * 1e6 > endNs) continue;
      count += 1;
      ns += duration * 1e6;
      longest.push({ startNs: startTime * 1e6, ns: duration * 1e6 });
    }
    if (longest.length > 2 * kept) longest = keepLongest(longest, kept);
  };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  return {
    async stop(/** @type {number} */ untilNs) {
      endNs = untilNs;
      await new Promise((resolve) => setImmediate(resolve)); // Node reports them one turn later
      add(observer.takeRecords());
      observer.disconnect();
      const collections = keepLongest(longest, kept).sort((a, b) => a.startNs - b.startNs);
      return { count, ns, collections };
    },
  };
}

/**
 * @param {Collection[]} collections
 * @param {number} kept
 * @returns {Collection[]} the longest ones
 */
function keepLongest(collections, kept) {
  return collections.sort((a, b) => b.ns - a.ns).slice(0, kept);
}

/** Excludes buffers: those freed by a collection are subtracted some time after it. */
const heapBytes = () => v8.getHeapStatistics().used_heap_size;

/** @type {Instruments['collectGarbage']} */
function collectGarbage(what) {
  globalThis.gc?.({ type: what === 'young' ? 'minor' : 'major' });
  // Bun reports figures of another heap.
  if (globalThis.gc === undefined || process.versions['bun'] !== undefined) return null;
  return heapBytes();
}

/**
 * @param {import('./clock.js').Clock} clock
 * @returns {Instruments} the real instruments; garbage is collected only with --expose-gc
 */
export function systemInstruments(clock) {
  return {
    clock,
    cpu: cpuUsage,
    client: clientUsage,
    threadClocks: (pids, options) => new ThreadClocks(pids, options),
    transferClock: () => new TransferClock(),
    servers: createServerUsage(),
    collectGarbage,
    canaryNs: () => canaryNs(clock),
    conditions: () => readConditions(),
    observeGarbage,
    heapBytes,
  };
}

/**
 * CPU time, memory and garbage collections of processes, as differences over a whole phase. Nothing
 * here runs during the phase.
 *
 * A server's CPU time is the sum over its threads of /proc/PID/task/TID/schedstat (first field:
 * nanoseconds on a processor, kernel documentation, scheduler/sched-stats); without schedstat,
 * fields 14 and 15 of /proc/PID/stat in ticks of 10 ms (proc(5)).
 *
 * A thread that ends takes its schedstat with it, with all the time of its life: a JVM ends
 * compiler threads (-XX:+UseDynamicNumberOfCompilerThreads) that had run for seconds.
 * /proc/PID/stat still has their time; what threads that have ended had is taken from there.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { canaryNs, readConditions } from './conditions.js';
import { ThreadClocks } from './schedstat.js';

/** USER_HZ is 100 on every Linux that Node runs on. */
const TICK_NS = 1e7;

/**
 * @typedef {object} Instruments
 * @property {import('./clock.js').Clock} clock
 * @property {() => CpuUsage} cpu of this process; takes microseconds
 * @property {() => ClientUsage} client with its memory, which takes longer
 * @property {(pids: readonly number[], options: { mainOnly?: boolean }) =>
 *   Pick<ThreadClocks, 'read' | 'close'>} threadClocks
 * @property {(pids: readonly number[]) => ServerUsage | null} servers null: not readable
 * @property {(what: 'all' | 'young') => void} collectGarbage all: also discards compiled code
 *   that depends on dead objects; young: only new objects, keeps code
 * @property {() => number} canaryNs duration of a fixed loop
 * @property {() => import('./conditions.js').Conditions} conditions of the machine
 * @property {() => { stop: (untilNs: number) => Garbage | Promise<Garbage> }} observeGarbage
 *   of collections that started before that time
 */

/** @typedef {{ count: number, ns: number, collections?: Collection[] }} Garbage collections: the
 * longest, in chronological order */

/**
 * @typedef {object} CpuUsage since the process started
 * @property {number} userNs
 * @property {number} systemNs
 * @property {number} voluntarySwitches context switches: it waited for something (getrusage(2))
 * @property {number} involuntarySwitches the scheduler took the processor
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
 * @property {number} cpuNs of all threads
 * @property {number | null} rssBytes
 * @property {Record<string, number>} [threadNs] of each living thread, by pid and thread id
 */

/** @returns {CpuUsage} of this process */
function cpuUsage() {
  const usage = process.resourceUsage();
  return {
    userNs: usage.userCPUTime * 1000,
    systemNs: usage.systemCPUTime * 1000,
    voluntarySwitches: usage.voluntaryContextSwitches,
    involuntarySwitches: usage.involuntaryContextSwitches,
  };
}

/** @returns {ClientUsage} of this process */
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

/** @typedef {{ endedNs: number, threads: Record<string, number> }} Seen of a process, last time */

/**
 * @returns {(pids: readonly number[]) => ServerUsage | null} sum over the processes, which only
 *   rises; null if one of them is not readable
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
        // First, so that it is not ahead of the threads.
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
 * Time of threads that have ended. It is known in ticks only, of user and system time, so it
 * changes only when one of them has ended: between two readings with the same threads the
 * difference is exact.
 * @param {Seen | undefined} before
 * @param {number} processNs of all threads that ever were, rounded down to ticks
 * @param {Readonly<Record<string, number>>} threads of those that are there
 * @returns {number} at least what they had when they were last seen
 */
export function endedThreadsNs(before, processNs, threads) {
  const livingNs = sumOf(Object.values(threads));
  const restNs = Math.max(0, processNs - livingNs);
  if (before === undefined) return restNs;
  const ended = Object.entries(before.threads).filter(([thread]) => !(thread in threads));
  // Others may have come and gone in between, unseen; less than this is a matter of ticks.
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

/** Counts collections from now on; V8 reports start and duration of each. */
function observeGarbage() {
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
    if (longest.length > 2 * COLLECTIONS_MAX) longest = keepLongest(longest);
  };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  return {
    async stop(/** @type {number} */ untilNs) {
      endNs = untilNs;
      await new Promise((resolve) => setImmediate(resolve)); // Node reports them one turn later
      add(observer.takeRecords());
      observer.disconnect();
      const collections = keepLongest(longest).sort((a, b) => a.startNs - b.startNs);
      return { count, ns, collections };
    },
  };
}

/**
 * @param {Collection[]} collections
 * @returns {Collection[]} the longest, at most COLLECTIONS_MAX
 */
function keepLongest(collections) {
  return collections.sort((a, b) => b.ns - a.ns).slice(0, COLLECTIONS_MAX);
}

/**
 * @param {import('./clock.js').Clock} clock
 * @returns {Instruments} the real ones; garbage is collected only with --expose-gc
 */
export function systemInstruments(clock) {
  return {
    clock,
    cpu: cpuUsage,
    client: clientUsage,
    threadClocks: (pids, options) => new ThreadClocks(pids, options),
    servers: createServerUsage(),
    collectGarbage: (what) => globalThis.gc?.({ type: what === 'young' ? 'minor' : 'major' }),
    canaryNs: () => canaryNs(clock),
    conditions: () => readConditions(),
    observeGarbage,
  };
}

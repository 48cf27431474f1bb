/**
 * What processes use: CPU time, memory, garbage collections. Whole-phase differences only; nothing
 * here runs while the clock runs.
 *
 * A server's CPU time is the sum over its threads of /proc/PID/task/TID/schedstat (first field:
 * nanoseconds on a processor, kernel documentation, scheduler/sched-stats); where the kernel keeps
 * none, fields 14 and 15 of /proc/PID/stat in ticks of 10 ms (proc(5)).
 */

import { readdirSync, readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { canaryNs, readConditions } from './conditions.js';

/** USER_HZ is 100 on every Linux that Node runs on. */
const TICK_NS = 1e7;

/**
 * @typedef {object} Instruments
 * @property {import('./clock.js').Clock} clock
 * @property {() => ClientUsage} client
 * @property {(pids: readonly number[]) => ServerUsage | null} servers null: not readable
 * @property {(what: 'all' | 'young') => void} collectGarbage all: also throws away compiled code
 *   that depends on objects which are gone; young: what is new, and leaves code alone
 * @property {() => number} canaryNs time of a fixed loop
 * @property {() => import('./conditions.js').Conditions} conditions of the machine
 * @property {() => { stop: (untilNs: number) => Garbage | Promise<Garbage> }} observeGarbage
 *   of those that began until that time
 */

/** @typedef {{ count: number, ns: number, collections?: Collection[] }} Garbage collections: the
 * longest, in the order of time */

/**
 * @typedef {object} ClientUsage
 * @property {number} userNs
 * @property {number} systemNs
 * @property {number} rssBytes
 * @property {number} rssBytesMax the greatest so far
 * @property {number} heapBytes heap and buffers
 */

/**
 * @typedef {object} ServerUsage
 * @property {number} cpuNs of all threads
 * @property {number | null} rssBytes
 * @property {Record<string, number>} [threadNs] of each living thread, by pid and thread id
 */

/** @returns {ClientUsage} of this process */
function clientUsage() {
  const cpu = process.cpuUsage();
  const memory = process.memoryUsage();
  return {
    userNs: cpu.user * 1000,
    systemNs: cpu.system * 1000,
    rssBytes: memory.rss,
    // Kilobytes on Linux (getrusage(2)).
    rssBytesMax: process.resourceUsage().maxRSS * 1024,
    heapBytes: memory.heapUsed + memory.external,
  };
}

/**
 * @param {readonly number[]} pids
 * @returns {ServerUsage | null} summed over the processes; null if one of them is not readable
 */
export function serverUsage(pids) {
  if (pids.length === 0) return null;
  let cpuNs = 0;
  /** @type {number | null} */
  let rssBytes = 0;
  /** @type {Record<string, number>} */
  const threadNs = {};
  try {
    for (const pid of pids) {
      cpuNs += threadsCpuNs(pid, threadNs) || processCpuNs(pid);
      const rss = residentBytes(pid);
      rssBytes = rss === null || rssBytes === null ? null : rssBytes + rss;
    }
  } catch {
    return null;
  }
  return { cpuNs, rssBytes, threadNs };
}

/**
 * @param {ServerUsage} before
 * @param {ServerUsage} after
 * @returns {number | null} CPU time of the thread that was busiest between; null: not known
 */
export function busiestThreadNs(before, after) {
  const spent = Object.entries(after.threadNs ?? {}).map(
    ([thread, ns]) => ns - (before.threadNs?.[thread] ?? 0),
  );
  const most = Math.max(0, ...spent);
  return most > 0 ? most : null;
}

/**
 * @param {number} pid
 * @param {Record<string, number>} each is added to
 * @returns {number} nanoseconds; 0 where the kernel keeps no schedstat
 */
function threadsCpuNs(pid, each) {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const line = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1');
      const ns = Number(line.split(' ')[0]);
      each[`${pid}/${thread}`] = ns;
      sum += ns;
    } catch (error) {
      // A thread may end between the listing and the reading; its time is lost to us.
      if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error;
    }
  }
  return sum;
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

/** Collections that are kept one by one, the longest: what a small plot can show. */
const COLLECTIONS_MAX = 12;

/** @typedef {{ startNs: number, ns: number }} Collection startNs on the clock of the process */

/** Counts collections from now on; V8 reports each one with its start and duration. */
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
      await new Promise((resolve) => setImmediate(resolve)); // Node tells of them a turn later
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
 * @returns {Instruments} the real ones; garbage is collected only under --expose-gc
 */
export function systemInstruments(clock) {
  return {
    clock,
    client: clientUsage,
    servers: serverUsage,
    collectGarbage: (what) => globalThis.gc?.({ type: what === 'young' ? 'minor' : 'major' }),
    canaryNs: () => canaryNs(clock),
    conditions: () => readConditions(),
    observeGarbage,
  };
}

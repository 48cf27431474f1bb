/**
 * The conditions under which a benchmark was measured: the speed of the processor for a fixed loop,
 * steal, and throttling by the kernel. Read before and after a phase, never during it. A value that
 * cannot be read is null, "unknown".
 */

import { readFileSync } from 'node:fs';
import os from 'node:os';

/** Steps of the canary loop: about a millisecond of arithmetic, no memory and no allocation. */
const CANARY_STEPS = 500_000;
/** Passes for the compiler to finish, then passes of which the median counts. */
const CANARY_WARMUP = 3;
const CANARY_PASSES = 5;

/** @typedef {(file: string) => string | null} ReadText null: unreadable */

/**
 * @typedef {object} Conditions counters of the machine at one moment; only differences matter
 * @property {number | null} stealTicks time taken by the hypervisor (proc(5), /proc/stat)
 * @property {number | null} idleTicks idle time of all processors, including time waiting for disks
 * @property {number | null} totalTicks total time of all processors
 * @property {number | null} throttledCount periods in which the cgroup was throttled
 * @property {number | null} throttledNs duration of throttling
 * @property {number | null} loadAverage average over the last minute
 */

/**
 * @typedef {object} ConditionsBetween
 * @property {number | null} stealShare share of all processor time, 0 to 1
 * @property {number | null} busyShare share of all processors, by all programs, 0 to 1
 * @property {number | null} throttledCount
 * @property {number | null} throttledNs
 * @property {number | null} loadAverage average afterwards
 */

/**
 * A fixed loop of dependent integer operations, which no processor can shorten. Its duration shows
 * the clock frequency and competing load.
 * @param {import('./clock.js').Clock} clock
 * @returns {number} ns per pass, the median of five
 */
export function canaryNs({ now }) {
  let state = 1;
  const passes = [];
  for (let pass = -CANARY_WARMUP; pass < CANARY_PASSES; pass += 1) {
    const startNs = now();
    state = spin(state | 1);
    if (pass >= 0) passes.push(now() - startNs);
  }
  // Never true: prevents the compiler from eliminating the loop.
  if (state === -1) throw new Error('the canary loop returned a wrong result');
  return passes.sort((a, b) => a - b)[CANARY_PASSES >>> 1];
}

/**
 * Xorshift (G. Marsaglia 2003): each step depends on the previous one.
 * @param {number} seed any number except 0
 */
function spin(seed) {
  let x = seed | 0;
  for (let i = 0; i < CANARY_STEPS; i += 1) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
  }
  return x >>> 0;
}

/**
 * @param {ReadText} [read] reads a file; for tests
 * @returns {Conditions}
 */
export function readConditions(read = readText) {
  return {
    ...parseProcStat(read('/proc/stat')),
    ...readThrottling(read),
    loadAverage: process.platform === 'win32' ? null : os.loadavg()[0],
  };
}

/**
 * @param {Conditions} before
 * @param {Conditions} after
 * @returns {ConditionsBetween}
 */
export function conditionsBetween(before, after) {
  const total = difference(before.totalTicks, after.totalTicks);
  const share = (/** @type {number | null} */ ticks) =>
    ticks === null || total === null || total === 0 ? null : Math.min(1, ticks / total);
  const idle = share(difference(before.idleTicks, after.idleTicks));
  return {
    stealShare: share(difference(before.stealTicks, after.stealTicks)),
    busyShare: idle === null ? null : 1 - idle,
    throttledCount: difference(before.throttledCount, after.throttledCount),
    throttledNs: difference(before.throttledNs, after.throttledNs),
    loadAverage: after.loadAverage,
  };
}

/**
 * @param {number | null} before
 * @param {number | null} after
 */
function difference(before, after) {
  return before === null || after === null ? null : Math.max(0, after - before);
}

/**
 * First line of /proc/stat: user nice system idle iowait irq softirq steal, then guest times, which
 * are included in user and nice (proc(5)).
 * @param {string | null} text
 * @returns {Pick<Conditions, 'stealTicks' | 'idleTicks' | 'totalTicks'>}
 */
export function parseProcStat(text) {
  const line = /^cpu +(.*)$/m.exec(text ?? '')?.[1];
  const ticks = line === undefined ? [] : line.split(' ').slice(0, 8).map(Number);
  if (ticks.length < 8 || ticks.some((value) => !Number.isFinite(value))) {
    return { stealTicks: null, idleTicks: null, totalTicks: null };
  }
  return {
    stealTicks: ticks[7],
    idleTicks: ticks[3] + ticks[4],
    totalTicks: ticks.reduce((sum, value) => sum + value, 0),
  };
}

/**
 * Throttling of the control group and all its parents, each of which may have a limit.
 * Version 2: nr_throttled, throttled_usec; version 1: nr_throttled, throttled_time in ns (kernel
 * documentation, admin-guide/cgroup-v2 and scheduler/sched-bwc). In version 2 a
 * group without a limit has no such lines.
 * @param {ReadText} read
 * @returns {Pick<Conditions, 'throttledCount' | 'throttledNs'>}
 */
export function readThrottling(read) {
  let count = 0;
  let ns = 0;
  let known = false;
  for (const candidates of cgroupFiles(read('/proc/self/cgroup') ?? '')) {
    const text = candidates.map(read).find((found) => found !== null) ?? '';
    const field = (/** @type {string} */ name) => {
      const value = new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1];
      return value === undefined ? null : Number(value);
    };
    const times = field('nr_throttled');
    if (times === null) continue;
    known = true;
    count += times;
    ns += (field('throttled_usec') ?? 0) * 1000 + (field('throttled_time') ?? 0);
  }
  return known ? { throttledCount: count, throttledNs: ns } : NO_THROTTLING;
}

/**
 * Processes killed by the kernel for lack of memory, of the machine or of a control group:
 * `oom_kill` of /proc/vmstat (Linux 4.13, mm/vmstat.c).
 * @param {ReadText} [read]
 * @returns {number | null}
 */
export function readOomKills(read = readText) {
  const value = /^oom_kill (\d+)$/m.exec(read('/proc/vmstat') ?? '')?.[1];
  return value === undefined ? null : Number(value);
}

const NO_THROTTLING = Object.freeze({ throttledCount: null, throttledNs: null });

/**
 * @param {string} text content of /proc/self/cgroup: `0::/path` (version 2), `4:cpu,cpuacct:/path`
 *   (1)
 * @returns {string[][]} per group from the process's own to the root (in a container its own):
 *   possible paths of its cpu.stat; the first existing one counts
 */
function cgroupFiles(text) {
  return text.split('\n').flatMap((line) => {
    const [, controllers, own] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (own === undefined) return [];
    const isV2 = controllers === '';
    if (!isV2 && !controllers.split(',').includes('cpu')) return [];
    const mounts = isV2 ? ['', '/unified'] : [`/${controllers}`, '/cpu'];
    return upwards(own).map((folder) =>
      mounts.map((mount) => `/sys/fs/cgroup${mount}${folder}/cpu.stat`),
    );
  });
}

/**
 * @param {string} folder `/a/b`
 * @returns {string[]} `/a/b`, `/a` and the empty path
 */
function upwards(folder) {
  const parts = folder.split('/').filter((part) => part !== '' && part !== '..');
  return Array.from({ length: parts.length + 1 }, (_, i) =>
    parts
      .slice(0, parts.length - i)
      .map((part) => `/${part}`)
      .join(''),
  );
}

/** @type {ReadText} */
function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/**
 * How many bytes a piece of work allocates, garbage included.
 *
 * On the heap: what it has grown by, plus what each garbage collection in between took away, by the
 * sizes before and after it that V8 tells (node:v8, GCProfiler). Nothing is sampled: known objects
 * come out within 1 %.
 *
 * In Buffers, whose memory is outside the heap and is given back some time after a collection: what
 * each step has grown it by; a step in which it shrank counts as the mean of the others. Small
 * Buffers come in slabs of 8 KiB. The error is some percent, more where steps are large.
 */

import v8 from 'node:v8';

/** What looking costs by itself, a step: the mean over so many that do nothing. */
const CALIBRATION_STEPS = 2000;

/**
 * @param {readonly (() => unknown)[]} steps synchronous, one operation together; the smaller, the
 *   better what is in Buffers is known
 * @param {number} operations how often all of them run
 * @returns {{ heapBytes: number, bufferBytes: number, collections: number }} bytes of one
 *   operation; collections of all
 */
export function measureAllocation(steps, operations) {
  for (const step of steps) step(); // whatever is allocated but once
  const ownBytes = heapBytesOf([() => {}], CALIBRATION_STEPS).heapBytes;
  const measured = heapBytesOf(steps, operations);
  return {
    ...measured,
    heapBytes: Math.max(0, measured.heapBytes - ownBytes * steps.length),
  };
}

/**
 * @param {readonly (() => unknown)[]} steps
 * @param {number} operations
 */
function heapBytesOf(steps, operations) {
  globalThis.gc?.();
  const profiler = new v8.GCProfiler();
  const growths = new Float64Array(steps.length * operations);
  profiler.start();
  const before = v8.getHeapStatistics();
  let external = before.external_memory;
  for (let i = 0; i < growths.length; i += 1) {
    steps[i % steps.length]();
    const now = v8.getHeapStatistics().external_memory;
    growths[i] = now - external;
    external = now;
  }
  const after = v8.getHeapStatistics();
  const { statistics = [] } = profiler.stop() ?? {};
  let bytes = after.used_heap_size - before.used_heap_size;
  for (const { beforeGC, afterGC } of statistics) {
    bytes += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize;
  }
  return {
    heapBytes: bytes / operations,
    bufferBytes: meanGrowth(growths) * steps.length,
    collections: statistics.length,
  };
}

/** @param {Float64Array} growths */
function meanGrowth(growths) {
  let sum = 0;
  let count = 0;
  for (const growth of growths) {
    if (growth < 0) continue;
    sum += growth;
    count += 1;
  }
  return count === 0 ? 0 : sum / count;
}

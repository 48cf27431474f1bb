/**
 * Measures the bytes allocated by a piece of work, including garbage.
 *
 * Heap: its growth plus the memory reclaimed by every garbage collection in between, from the sizes
 * before and after each collection reported by V8 (node:v8, GCProfiler). No sampling: known objects
 * are measured within 1 %.
 *
 * Buffers, whose memory is outside the heap and released some time after a collection: the growth
 * of each step; a step in which it shrank counts as the mean of the others. Small Buffers are
 * allocated in slabs of 8 KiB. The error is some percent, more if steps are large.
 */

import v8 from 'node:v8';

/** Empty steps that measure the allocation of the measurement itself. */
const CALIBRATION_STEPS = 2000;
/** V8 occasionally allocates while it compiles, so the median of this many measurements counts. */
const MEASUREMENTS = 5;

/**
 * @param {readonly (() => unknown)[]} steps synchronous functions, together one operation; smaller
 *   steps measure Buffers more accurately
 * @param {number} operations number of passes over all steps
 * @returns {{ heapBytes: number, bufferBytes: number, collections: number }} bytes per
 *   operation; collections in the measurement that counts
 */
export function measureAllocation(steps, operations) {
  for (const step of steps) step(); // one-time allocations
  const ownBytes = heapBytesOf([() => {}], CALIBRATION_STEPS).heapBytes;
  const all = Array.from({ length: MEASUREMENTS }, () => heapBytesOf(steps, operations));
  const measured = all.sort((a, b) => a.heapBytes - b.heapBytes)[(MEASUREMENTS - 1) / 2];
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

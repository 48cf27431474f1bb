/**
 * Loaded before each test file by `scripts/test.js --times`: records the file's time, and the CPU
 * time of its process and of all processes it has waited for. Servers that outlive their parent are
 * not included.
 */

import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** @typedef {{ file: string, wallS: number, cpuS: number }} FileTime */

/** Clock ticks per second in /proc, equal on every Linux architecture of Node. */
const TICKS = 100;
const [, file = ''] = process.argv;
const timesFile = process.env['DRAGSTRIP_TEST_TIMES'];

if (isMainThread && timesFile !== undefined && file.endsWith('.test.js')) {
  process.once('exit', () => {
    const time = { file, wallS: process.uptime(), cpuS: cpuSeconds() };
    appendFileSync(timesFile, `${JSON.stringify(time)}\n`);
  });
}

/** @returns {number} proc(5): utime, stime, cutime and cstime */
function cpuSeconds() {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
}

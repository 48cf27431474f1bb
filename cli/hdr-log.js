/**
 * `--hlog FILE`: a log in the interval format of HdrHistogram (version 1.3), for its tools:
 * https://hdrhistogram.github.io/HdrHistogram/JavaDoc/org/HdrHistogram/HistogramLogWriter.html One
 * line per second of each benchmark, tagged with the benchmark's id; values are nanoseconds.
 * Benchmarks in blocks have one line per round.
 */

import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { DragstripError } from '../lib/errors.js';
import { version } from '../lib/version.js';
import { systemClock } from '../measure/clock.js';
import { decode, encode } from '../measure/hdr.js';
import { Histogram } from '../measure/histogram.js';
import { requireFree } from './storage.js';

const SECOND_NS = 1e9;

/**
 * @typedef {object} HdrLog
 * @property {(id: string, round: import('../lib/result.js').Round, segment?:
 *   import('../engine/segment.js').Segment) => Promise<void>} add segment: may have a histogram per
 *   second
 * @property {() => Promise<void>} close
 */

/**
 * @param {string} file
 * @param {{ force?: boolean }} options
 * @returns {Promise<HdrLog>} writer whose functions reject with E_STORE
 * @throws {DragstripError} E_USAGE: it exists or cannot be written
 */
export async function openHdrLog(file, { force = false }) {
  const target = path.resolve(file);
  await requireFree(target, file, force, '--hlog');
  if (force) await rm(target, { force: true }); // symlinks are not followed
  const date = systemClock.date();
  const startNs = systemNs();
  const handle = await open(target, 'wx');
  const write = async (/** @type {readonly string[]} */ lines) => {
    try {
      await handle.appendFile(lines.map((line) => `${line}\n`).join(''));
    } catch (error) {
      throw new DragstripError('E_STORE', `--hlog ${file}: not written (${error.code})`, {
        hint: 'free some space or choose another file',
        cause: error,
      });
    }
  };
  await write(headOf(date));
  return {
    async add(id, { latency, durationNs }, segment) {
      const seconds = Object.entries(segment?.histograms ?? {}).filter(([name]) =>
        name.startsWith('second '),
      );
      const from = (segment?.wall[0]?.[0] ?? startNs) - startNs;
      const lines = seconds.map(([, message], i) => {
        const histogram = message === null ? new Histogram() : Histogram.fromSparse(message);
        const lengthNs = Math.min(SECOND_NS, durationNs - i * SECOND_NS);
        const at = { startNs: from + i * SECOND_NS, lengthNs, maxNs: histogram.max };
        return lineOf(id, at, encode(histogram));
      });
      if (lines.length === 0 && latency !== null) {
        const { maxNs, histogram } = latency;
        const at = { startNs: systemNs() - startNs - durationNs, lengthNs: durationNs, maxNs };
        lines.push(lineOf(id, at, encode(decode(histogram))));
      }
      if (lines.length > 0) await write(lines);
    },
    close: () => handle.close(),
  };
}

function systemNs() {
  return (systemClock.originNs ?? 0) + systemClock.now();
}

/** @param {string} date ISO 8601 */
function headOf(date) {
  const seconds = (Date.parse(date) / 1000).toFixed(3);
  return [
    `#[Logged with Dragstrip ${version}, values in nanoseconds]`,
    '#[Histogram log format version 1.3]',
    `#[StartTime: ${seconds} (seconds since epoch), ${date}]`,
    '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
  ];
}

/**
 * @param {string} id
 * @param {{ startNs: number, lengthNs: number, maxNs: number }} interval
 * @param {string} base64
 * @returns {string} a tag has no commas and no blanks
 */
function lineOf(id, { startNs, lengthNs, maxNs }, base64) {
  const tag = id.replace(/,/g, ';').replace(/\s+/g, '_');
  const seconds = (/** @type {number} */ ns) => (Math.max(0, ns) / 1e9).toFixed(3);
  const times = [seconds(startNs), seconds(lengthNs), (maxNs / 1e6).toFixed(3)];
  return `Tag=${tag},${times.join()},${base64}`;
}

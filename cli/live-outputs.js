/**
 * Outputs of a run in progress beside the terminal: figures for Prometheus (`--prometheus`) and a
 * log of histograms (`--hlog`). Both need further data, which the benchmark processes report with
 * these options only.
 */

import { OUTCOMES } from '../lib/outcome.js';
import { systemClock } from '../measure/clock.js';
import { decode } from '../measure/hdr.js';
import { openHdrLog } from './hdr-log.js';

/** @typedef {import('../index.js').RunEvent} RunEvent */
/** @typedef {import('./metrics-server.js').Metrics} Metrics */

/**
 * @typedef {object} LiveOutputs
 * @property {{ live: boolean, perSecond: boolean }} detail the additional data that the run has to
 *   report
 * @property {(event: RunEvent) => void} watch
 * @property {() => Promise<void>} flush rejects with E_STORE if the log could not be written
 * @property {() => Promise<void>} close
 */

/**
 * @param {Record<string, any>} options options of the command line
 * @param {NodeJS.WritableStream} stderr
 * @returns {Promise<LiveOutputs | null>} null: neither output is requested
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE, E_TARGET
 */
export async function openLiveOutputs({ prometheus: where, hlog: file, force, quiet }, stderr) {
  if (where === undefined && file === undefined) return null;
  const served = where === undefined ? null : await openMetrics(where);
  const log = file === undefined ? null : await openLog(file, force, served);
  if (served !== null && !quiet) stderr.write(`metrics: ${served.url}\n`);
  const rates = new Rates();
  let written = Promise.resolve();
  return {
    detail: { live: served !== null, perSecond: log !== null },
    watch(event) {
      if (event.type === 'benchmark-start') {
        rates.start();
        served?.metrics.start(event.benchmark);
      }
      if (event.type === 'progress') {
        served?.metrics.progress(event.benchmark.id, event, rates.next(event));
      }
      if (event.type !== 'benchmark-end') return;
      const { benchmark, round, segment } = event;
      served?.metrics.end(benchmark, {
        outcomes: OUTCOMES.map((name) => round.outcomes[name]),
        latency: round.latency && decode(round.latency.histogram, round.latency).toMessage(),
      });
      if (log === null) return;
      written = written.then(() => log.add(benchmark.id, round, segment));
      written.catch(() => {}); // awaited at the end of the run
    },
    flush: () => written,
    async close() {
      await written.catch(() => {}); // reported by flush
      await log?.close();
      await served?.close();
    },
  };
}

/** @param {string} where */
async function openMetrics(where) {
  const { Metrics, parseMetrics, serveMetrics } = await import('./metrics-server.js');
  const metrics = new Metrics();
  return { metrics, ...(await serveMetrics(parseMetrics(where), metrics)) };
}

/**
 * @param {string} file
 * @param {boolean | undefined} force
 * @param {{ close: () => Promise<void> } | null} served closed if the log cannot be opened
 */
async function openLog(file, force, served) {
  try {
    return await openHdrLog(file, { force });
  } catch (error) {
    await served?.close();
    throw error;
  }
}

/** Operations per second between two reports of a benchmark. */
class Rates {
  settled = 0;
  atNs = 0;
  phase = '';

  start() {
    this.settled = 0;
    this.atNs = systemClock.now();
    this.phase = '';
  }

  /**
   * @param {{ phase: string, settled: number }} progress
   * @returns {number}
   */
  next({ phase, settled }) {
    const nowNs = systemClock.now();
    const seconds = (nowNs - this.atNs) / 1e9;
    // The start of the first report of a phase is unknown here.
    const isKnown = phase === this.phase && seconds > 0;
    const rate = isKnown ? (settled - this.settled) / seconds : 0;
    this.phase = phase;
    this.settled = settled;
    this.atNs = nowNs;
    return Math.max(0, rate);
  }
}

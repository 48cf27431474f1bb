/**
 * What a run gives away while it goes on, apart from the terminal: figures for Prometheus
 * (`--metrics`) and a log of histograms (`--hlog`). Both come from the processes of the benchmarks,
 * which report more than without these options.
 */

import { OUTCOMES } from '../lib/outcome.js';
import { systemClock } from '../measure/clock.js';
import { decode } from '../measure/hdr.js';
import { openHdrLog } from './hdr-log.js';

/** @typedef {import('../index.js').RunEvent} RunEvent */
/** @typedef {import('./metrics-server.js').Metrics} Metrics */

/**
 * @typedef {object} LiveOutputs
 * @property {{ live: boolean, perSecond: boolean }} detail what the run has to report for them
 * @property {(event: RunEvent) => void} watch
 * @property {() => Promise<void>} flush rejects E_STORE where the log could not be written
 * @property {() => Promise<void>} close
 */

/**
 * @param {Record<string, any>} options of the command line
 * @param {NodeJS.WritableStream} stderr
 * @returns {Promise<LiveOutputs | null>} null: neither is asked for
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE, E_TARGET
 */
export async function openLiveOutputs({ metrics: where, hlog: file, force, quiet }, stderr) {
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
      written.catch(() => {}); // awaited at the end
    },
    flush: () => written,
    async close() {
      await written.catch(() => {}); // flush says so
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
 * @param {{ close: () => Promise<void> } | null} served closed where there can be no log
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
    // What came first in a phase began at a time that is not known here.
    const isKnown = phase === this.phase && seconds > 0;
    const rate = isKnown ? (settled - this.settled) / seconds : 0;
    this.phase = phase;
    this.settled = settled;
    this.atNs = nowNs;
    return Math.max(0, rate);
  }
}

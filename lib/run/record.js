/**
 * What a cell's process gives back: plain data for a message between processes, and how a load's
 * tally becomes part of it. Percentiles are made of it in round.js.
 */

import { DetailedTally } from '../load/detail.js';
import { OUTCOMES } from '../outcome.js';

/** @typedef {ReturnType<import('../measure/histogram.js').Histogram['toMessage']>} HistogramMessage */

/**
 * @typedef {object} CellRecord what a cell gives back; the runner makes a round of the result of it
 * @property {'measured' | 'failed' | 'aborted'} state
 * @property {{ code: string, message: string } | null} failure
 * @property {number | null} createdNs
 * @property {number} scheduled
 * @property {number[]} outcomes by code of lib/outcome.js
 * @property {import('../result.js').Sample[]} samples
 * @property {number} durationNs
 * @property {HistogramMessage | null} latency
 * @property {(import('../load/rate.js').OpenCounts & { service: HistogramMessage | null }) | null
 *   } open of an open loop
 * @property {{ name: string, latency: HistogramMessage | null }[] | null} kinds of a mix
 * @property {import('../result.js').Round['client']} client
 * @property {import('../result.js').Round['server']} server
 * @property {number | null} pendingBytes
 * @property {import('../result.js').Round['warmup']} warmup
 * @property {import('../result.js').Round['timeline']} timeline
 * @property {number | null} workNs
 */

/** @returns {CellRecord} of a cell that has not begun */
export function emptyRecord() {
  return {
    state: 'failed',
    failure: null,
    createdNs: null,
    scheduled: 0,
    outcomes: OUTCOMES.map(() => 0),
    samples: [],
    durationNs: 0,
    latency: null,
    open: null,
    kinds: null,
    client: null,
    server: null,
    pendingBytes: null,
    warmup: { operations: 0, durationNs: 0, curve: [], windowNs: 0 },
    timeline: { windowNs: 0, operations: [] },
    workNs: null,
  };
}

/**
 * What a load gave, into the record.
 * @param {CellRecord} record
 * @param {import('../load/load.js').LoadReport} load
 */
export function recordLoad(record, { tally, scheduled, ended, durationNs, open }) {
  const { histogram } = tally;
  record.state = ended === 'aborted' ? 'aborted' : 'measured';
  record.scheduled = scheduled;
  record.outcomes = Array.from(tally.outcomes);
  record.samples = tally.samples;
  record.durationNs = durationNs;
  record.timeline = { windowNs: tally.windowNs, operations: tally.windows };
  record.latency = toMessage(histogram);
  if (!(tally instanceof DetailedTally)) return;
  const { service, kinds, byKind } = tally;
  if (open !== null) record.open = { ...open, service: toMessage(service) };
  if (kinds === null) return;
  record.kinds = byKind.map((own, i) => ({ name: kinds.names[i], latency: toMessage(own) }));
}

/**
 * @param {import('../measure/histogram.js').Histogram | null} histogram
 * @returns {HistogramMessage | null} null where nothing was recorded
 */
function toMessage(histogram) {
  return histogram === null || histogram.count === 0 ? null : histogram.toMessage();
}

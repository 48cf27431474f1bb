/**
 * Benefit of more processes: each shared load against the same load in one process, in the same
 * rounds; with the reason if there is no gain. Pure.
 *
 * Non-goals: a scaling model over many levels.
 */

import { FULL } from '../../stats/bottleneck.js';
import { pairedRatio } from '../../stats/ratio.js';

/** Utilisation of all processors from which they limit the run. */
const MACHINE_FULL = 0.95;

/** @typedef {import('./rows.js').Row} Row */
/** @typedef {import('./rows.js').Group} Group */

/**
 * @typedef {object} Scaling
 * @property {string} label label of the storage
 * @property {import('../../lib/result.js').Load} load the shared one
 * @property {number} processes
 * @property {import('../../stats/separation.js').Ratio} ratio throughput relative to one process
 * @property {string | null} reason reason of a missing gain; null: there is a gain
 */

/**
 * @param {readonly Group[]} groups groups of one result
 * @param {{ cores: number }} environment
 * @returns {Scaling[]} for every source whose load was also run by one process
 */
export function scalingsOf(groups, { cores }) {
  const rows = groups.flatMap((group) => group.rows);
  const pairs = rows.flatMap((row) => {
    const { processes, ...alone } = row.source.load;
    if (processes === undefined || row.kind === 'overhead' || alone.kind === 'rate') return [];
    const one = rows.find((other) => isSameTest(other, row, alone));
    return one === undefined ? [] : [{ one, row, processes }];
  });
  // Confidence holds for all of them together (Bonferroni).
  const confidence = 1 - 0.05 / Math.max(1, pairs.length);
  return pairs.flatMap(({ one, row, processes }) => {
    const ratio = pairedRatio(throughputsOf(row.source), throughputsOf(one.source), { confidence });
    if (ratio === null) return [];
    const reason = ratio.answer === 'faster' ? null : reasonOf(row, cores);
    return [{ label: row.label, load: row.source.load, processes, ratio, reason }];
  });
}

/** @param {Row['source']} source @returns {(number | null)[]} per round; null: not measured */
function throughputsOf({ rounds }) {
  return rounds.map(({ state, throughput }) =>
    state === 'measured' && throughput > 0 ? throughput : null,
  );
}

/**
 * @param {Row} other
 * @param {Row} row
 * @param {object} load
 */
function isSameTest({ source: other }, { source }, load) {
  const ordered = (/** @type {object} */ value) => JSON.stringify(Object.entries(value).sort());
  return (
    other.storage === source.storage &&
    other.profile === source.profile &&
    other.workload === source.workload &&
    ordered(other.load) === ordered(load)
  );
}

/**
 * @param {Row} row row of the shared load
 * @param {number} cores
 * @returns {string} the bottleneck
 */
function reasonOf({ bound, source, clientCpuNs, serverCpuNs, throughput }, cores) {
  const busy = source.rounds.map(({ conditions }) => conditions?.busyShare ?? null);
  const known = busy.filter((share) => share !== null);
  const mean = known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0) / known.length;
  const perSecond = throughput?.value ?? 0;
  const used = (((clientCpuNs ?? 0) + (serverCpuNs ?? 0)) * perSecond) / 1e9;
  const percent = (/** @type {number} */ share) => `${Math.round(share * 100)} %`;
  if (used >= FULL * cores) {
    return `client and server together fill all ${cores} cores (${used.toFixed(2)} in use)`;
  }
  if (mean !== null && mean >= MACHINE_FULL) {
    return `all ${cores} cores were busy (${percent(mean)}), also with other programs`;
  }
  if (bound?.verdict === 'server') {
    return `the server was the limit: its busiest thread had ${percent(bound.serverShare ?? 1)} of a core`;
  }
  if (bound?.verdict === 'driver')
    return 'each process saturates its thread: more processes may help';
  if (bound?.verdict === 'latency') return 'neither client nor server was full: the round trip';
  return 'the CPU time of the server is unknown';
}

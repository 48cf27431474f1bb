/**
 * What more processes bring: each shared load against the same load of one process, in the same
 * rounds; and where they bring nothing, why. Pure.
 *
 * Non-goals: a law of scaling over many levels.
 */

import { FULL } from '../../stats/bottleneck.js';
import { compareAll } from '../../stats/compare.js';
import { throughputsOf } from './ranks.js';

/** All processors at work, for so much of the time: nobody gets more of them. */
const MACHINE_FULL = 0.95;

/** @typedef {import('./rows.js').Row} Row */
/** @typedef {import('./rows.js').Group} Group */

/**
 * @typedef {object} Scaling
 * @property {string} label of the storage
 * @property {import('../../lib/result.js').Load} load the shared one
 * @property {number} processes
 * @property {number | null} ratio throughput over that of one process
 * @property {number | null} low end of its interval
 * @property {number | null} high
 * @property {'more' | 'less' | 'same' | 'undecided'} verdict
 * @property {string | null} reason why it is not more; null where it is
 */

/**
 * @param {readonly Group[]} groups of one result
 * @param {{ cores: number }} environment
 * @returns {Scaling[]} of every source whose load was also run by one process
 */
export function scalingsOf(groups, { cores }) {
  const rows = groups.flatMap((group) => group.rows.map((row) => ({ row, group })));
  const pairs = rows.flatMap(({ row, group }) => {
    const { processes, ...alone } = row.source.load;
    if (processes === undefined || row.kind === 'overhead' || alone.kind === 'rate') return [];
    const one = rows.find((other) => isSameTest(other.row, row, alone))?.row;
    return one === undefined ? [] : [{ one, row, processes, noise: group.noise.noise }];
  });
  const compared = compareAll(
    pairs.map(({ one, row, noise }) => ({ name: row.source.id, ...blocksOf(row, one), noise })),
  );
  return pairs.map(({ row, processes }, i) => {
    const { ratio, low, high, verdict } = compared[i];
    const said = SAID[verdict];
    const reason = said === 'more' ? null : reasonOf(row, cores);
    return {
      label: row.label,
      load: row.source.load,
      processes,
      ratio,
      low,
      high,
      verdict: said,
      reason,
    };
  });
}

const SAID = Object.freeze({
  faster: /** @type {const} */ ('more'),
  slower: /** @type {const} */ ('less'),
  same: /** @type {const} */ ('same'),
  undecided: /** @type {const} */ ('undecided'),
});

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
 * @param {Row} row
 * @param {Row} one
 */
function blocksOf(row, one) {
  const [a, b] = [throughputsOf(row.source), throughputsOf(one.source)];
  const length = Math.min(a.length, b.length); // a run that was stopped may have one more
  return { a: a.slice(0, length), b: b.slice(0, length) };
}

/**
 * @param {Row} row of the shared load
 * @param {number} cores
 * @returns {string} what stood in the way of more
 */
function reasonOf({ bound, source, clientCpuNs, serverCpuNs, throughput }, cores) {
  const busy = source.rounds.map(({ conditions }) => conditions?.busyShare ?? null);
  const known = busy.filter((share) => share !== null);
  const mean = known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0) / known.length;
  const perSecond = throughput?.median ?? 0;
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
  if (bound?.verdict === 'driver') return 'each process fills its thread: more of them may help';
  if (bound?.verdict === 'latency') return 'neither client nor server was full: the round trip';
  return 'what the server used is not known';
}

/**
 * From a result to the rows of codec variants: a group for each protocol and fixture, in it a row
 * for each variant, all rounds together. Pure; every report and the plot show the same numbers
 * because they are made here.
 */

import { median } from 'simple-statistics';
import { noiseOf, placesOf } from './places.js';
import { variantRows } from './rows.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Round} Round */
/** @typedef {import('./rows.js').Row} Row */

/**
 * @typedef {object} CodecRow
 * @property {Row} row throughput: operations a second
 * @property {string} kind driver, ours, rejected, bound
 * @property {string | null} version of its package
 * @property {boolean} wrong it gives something else than it must, and was not timed
 * @property {number | null} bytesPerSecond of the wire; median of the rounds
 * @property {number | null} rowsPerSecond
 * @property {number | null} rowNs
 * @property {number | null} rowCpuNs processor time of all threads, also of those that collect
 *   garbage; on a busy machine it tells more than the time
 * @property {number | null} heapBytes allocated for each row; median of the rounds
 * @property {number | null} bufferBytes the same outside of the heap
 * @property {number | null} gcShare of the time measured, that collecting garbage took
 * @property {number | null} ratio of its speed to that of the fastest that does the work
 *
 * @typedef {object} CodecGroup
 * @property {string} protocol
 * @property {string} direction decode, encode
 * @property {string} fixture
 * @property {number | null} bytes of the fixture once
 * @property {number | null} rows
 * @property {number | null} repeat passes over it in one operation
 * @property {CodecRow[]} variants fastest first, then bounds, then what gave no number
 */

/** @param {string} kind @returns {boolean} whether it does the work, and is a rival to others */
const works = (kind) => kind !== 'bound';

/**
 * @param {Result} result
 * @returns {CodecGroup[]} in the order of the cells; none where no codec was tried
 */
export function toCodecGroups(result) {
  const storages = new Map(result.storages.map((storage) => [storage.name, storage]));
  /** @type {Map<string, CodecGroup>} */
  const groups = new Map();
  for (const row of variantRows(result)) {
    const { workload, parameters = {}, storage } = row.cell;
    if (workload !== 'codec') continue;
    const { protocol, direction, fixture } = parameters;
    const key = JSON.stringify([protocol, direction, fixture]);
    const group = groups.get(key) ?? {
      protocol: String(protocol),
      direction: String(direction),
      fixture: String(fixture),
      ...{ bytes: null, rows: null, repeat: null },
      variants: [],
    };
    groups.set(key, group);
    const about = storages.get(storage);
    const kind = String(about?.options['kind'] ?? '');
    group.variants.push(toCodecRow(row, kind, about?.version ?? null));
    const facts = factsOf(row.cell.rounds);
    if (facts.length === 0) continue;
    const [{ bytes, rows, repeat }] = facts;
    Object.assign(group, { bytes: bytes / repeat, rows: rows / repeat, repeat });
  }
  for (const group of groups.values()) rank(group);
  return [...groups.values()];
}

/**
 * @param {Row} row
 * @param {string} kind
 * @param {string | null} version
 * @returns {CodecRow}
 */
function toCodecRow(row, kind, version) {
  const { rounds } = row.cell;
  const measured = rounds.filter(({ state }) => state === 'measured');
  const facts = factsOf(measured);
  const perSecond = row.throughput?.median ?? null;
  const [first] = facts;
  const of = (/** @type {number | undefined} */ amount) =>
    perSecond === null || amount === undefined ? null : perSecond * amount;
  const rowsPerSecond = of(first?.rows);
  const middle = (/** @type {(one: Record<string, number>) => number} */ valueIn) =>
    facts.length === 0 ? null : median(facts.map(valueIn));
  return {
    row,
    kind,
    version,
    wrong: rounds.some(({ failure }) => failure?.code === 'E_DATA') || row.wrong > 0,
    bytesPerSecond: of(first?.bytes),
    rowsPerSecond,
    rowNs: rowsPerSecond === null || rowsPerSecond === 0 ? null : 1e9 / rowsPerSecond,
    rowCpuNs: row.clientCpuNs === null || first === undefined ? null : row.clientCpuNs / first.rows,
    heapBytes: middle(({ heapBytes, rows }) => heapBytes / rows),
    bufferBytes: middle(({ bufferBytes, rows }) => bufferBytes / rows),
    gcShare: gcShareOf(measured),
    ratio: null,
  };
}

/**
 * @param {readonly Round[]} rounds
 * @returns {Record<string, number>[]} of those that have any: what CodecTrial found out
 */
function factsOf(rounds) {
  return rounds.flatMap(({ facts }) =>
    facts === undefined ? [] : [/** @type {Record<string, number>} */ (facts)],
  );
}

/** @param {readonly Round[]} rounds */
function gcShareOf(rounds) {
  const durationNs = rounds.reduce((sum, round) => sum + round.durationNs, 0);
  const gcNs = rounds.reduce((sum, { client }) => sum + (client?.gcNs ?? 0), 0);
  return durationNs === 0 ? null : gcNs / durationNs;
}

/**
 * Ratios against the fastest that does the work, and places among those alone.
 * @param {CodecGroup} group
 */
function rank({ variants: rows }) {
  const order = (/** @type {CodecRow} */ { bytesPerSecond, kind }) =>
    bytesPerSecond === null ? 2 : works(kind) ? 0 : 1;
  rows.sort((a, b) => order(a) - order(b) || (b.bytesPerSecond ?? 0) - (a.bytesPerSecond ?? 0));
  const rivals = rows.filter(
    ({ kind, wrong, bytesPerSecond }) => works(kind) && !wrong && bytesPerSecond !== null,
  );
  const best = rivals[0]?.bytesPerSecond ?? 0;
  for (const row of rows) {
    if (best > 0 && row.bytesPerSecond !== null && !row.wrong)
      row.ratio = row.bytesPerSecond / best;
  }
  const own = rivals.map(({ row }) => row);
  const places = placesOf(own, noiseOf(own).noise);
  for (const [i, row] of own.entries()) row.place = places[i];
}

/**
 * A contender that is a server ceiling: the wire loop with as many connections and requests in
 * flight as the storages have. Nothing is decoded; replies are framed and counted.
 */

import { readCredentials } from '../lib/credentials.js';
import { createDataset } from '../lib/dataset.js';
import { namesOf } from '../lib/namespace.js';
import { loadProtocol } from '../limits/wire/protocol.js';
import { Pump } from '../limits/wire/pump.js';
import { sleepUntilStart, spinUntilStart } from '../load/start.js';
import { countedSegment, emptySegment } from './segment.js';
import { shareLoad } from './share.js';
import { rowsOf } from './value-sizes.js';

/** Time for the pipeline to fill, before the clock of a segment starts. */
const FILL_NS = 0.5e6;
const FILL_NS_LONG = 50e6;
/** Target duration of a segment with a number of operations. */
const SEGMENT_NS = 8e6;
const WARM_UP_NS = 100e6;
/** Maximum rows in flight, so that neither end runs out of memory with large values. */
const IN_FLIGHT_BYTES_MAX = 64 * 2 ** 20;
/** Depth of a burst: deeper is not faster. */
const BURST_DEPTH = 4096;

/** @typedef {import('./contender.js').Task} Task */
/** @typedef {import('./contender.js').Amount} Amount */

/**
 * @param {import('./contender.js').ContenderSpec} spec
 * @param {import('./contender.js').ContenderContext} context
 * @returns {Promise<import('./contender.js').Contender>}
 */
export async function openWireContender({ wire, storage, tasks, isLong }, context) {
  if (wire === undefined) throw new Error('a server ceiling needs a wire loop');
  const { instruments, signal } = context;
  const { clock } = instruments;
  const originNs = clock.originNs ?? 0;
  const startNs = clock.now();
  const pumps = await openPumps({ ...storage, ...wire }, tasks, instruments);
  const createdNs = clock.now() - startNs;
  /** @type {Amount | null} */
  let prepared = null;
  return {
    async warm(load) {
      const { pump, depth } = pumps[load];
      instruments.collectGarbage('all');
      const point = await pump.run({ depth, warmNs: WARM_UP_NS / 2, measureNs: WARM_UP_NS });
      return { costNs: point.durationNs / point.replies, refused: false };
    },
    async prepare(_load, amount) {
      prepared = amount;
      if (isLong) instruments.collectGarbage('all');
    },
    async run(load, start) {
      const { pump, depth, inFlight } = pumps[load];
      const isSegmentLong = isLong && !prepared?.brief;
      let warmNs = isSegmentLong ? FILL_NS_LONG : FILL_NS;
      let measureNs = prepared?.durationNs ?? (isSegmentLong ? WARM_UP_NS : SEGMENT_NS);
      if (start.startNs !== undefined) {
        await sleepUntilStart(start.startNs - originNs, { clock, signal });
        spinUntilStart(start.startNs - originNs, clock);
      }
      const beganNs = clock.now();
      if (start.fromNs !== undefined && start.endNs !== undefined) {
        const [fromNs, endNs] = [start.fromNs - originNs, start.endNs - originNs];
        warmNs = Math.max(0, fromNs - beganNs);
        measureNs = Math.max(0, endNs - Math.max(fromNs, beganNs));
      }
      const point = await pump.run({ depth, warmNs, measureNs });
      const endNs = clock.now();
      const segment = countedSegment(point.replies, [originNs + beganNs, originNs + endNs], {
        spanNs: point.durationNs,
        spanOperations: point.replies,
        medianNs: (inFlight * point.durationNs) / point.replies,
        valid: true,
        lateNs: start.startNs === undefined ? 0 : Math.max(0, originNs + beganNs - start.startNs),
      });
      segment.inFlightAreaNs = Math.round(inFlight * (endNs - beganNs));
      segment.client = { userNs: point.clientCpuNs, systemNs: 0 };
      const { serverCpu } = point;
      if (serverCpu !== null) {
        segment.servers = { '': { cpu: [serverCpu], rssBytes: null, threads: {} } };
      }
      return segment;
    },
    async close() {
      for (const { pump } of pumps) pump.close();
      const { rssBytesMax } = instruments.client();
      const workNs = clock.now() - startNs;
      const process = { ...emptySegment(), process: { createdNs, workNs, rssBytesMax } };
      return { kept: tasks.map(() => null), process };
    },
  };
}

/**
 * Loads of one shape share their connections.
 * @param {import('./contender.js').ContenderSpec['storage'] &
 *   NonNullable<import('./contender.js').ContenderSpec['wire']>} wire
 * @param {readonly (Task | null)[]} tasks
 * @param {import('../measure/usage.js').Instruments} instruments
 * @returns {Promise<{ pump: Pump, depth: number, inFlight: number }[]>} by load; depth: per
 *   connection; inFlight: in total
 */
async function openPumps(wire, tasks, instruments) {
  const protocol = await loadProtocol(wire.protocol);
  const credentials = await readCredentials(wire.credentialVariables);
  /** @type {Map<string, Pump>} */
  const pumps = new Map();
  const made = [];
  for (const task of tasks) {
    const { load, stallNs } = /** @type {Task} */ (task);
    const {
      connections = 1,
      valueSize,
      kind,
      inFlight,
      operations,
    } = wire.share === undefined ? load : shareLoad(load, wire.share);
    const key = `${connections} ${valueSize}`;
    const rows = rowsOf({ load, dataset: wire.dataset });
    const pump =
      pumps.get(key) ??
      (await Pump.open({
        protocol,
        endpoint: wire.endpoint,
        credentials,
        connections,
        dataset: createDataset(rows.dataset),
        names: namesOf(rows.namespace),
        stallMs: stallNs / 1e6,
        instruments: { ...instruments, collectGarbage: () => null },
        serverPids: wire.serverPids,
      }));
    pumps.set(key, pump);
    const wanted = kind === 'burst' ? Math.min(BURST_DEPTH, operations ?? BURST_DEPTH) : inFlight;
    const most = depthMax(connections, rows.dataset.valueSize);
    const depth = Math.min(most, Math.max(1, Math.round((wanted ?? 1) / connections)));
    made.push({ pump, depth, inFlight: depth * connections });
  }
  return made;
}

/**
 * @param {number} connections
 * @param {number} valueSize
 * @returns {number} requests in flight per connection
 */
export function depthMax(connections, valueSize) {
  return Math.max(1, Math.floor(IN_FLIGHT_BYTES_MAX / valueSize / connections));
}

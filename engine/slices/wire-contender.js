/**
 * A contender that is a server ceiling: the wire loop on as many connections, and with as many
 * requests in flight, as the storages have. Nothing is decoded; replies are framed and counted.
 */

import { readCredentials } from '../../lib/credentials.js';
import { createDataset } from '../../lib/dataset.js';
import { namesOf } from '../../lib/namespace.js';
import { OUTCOMES } from '../../lib/outcome.js';
import { loadProtocol } from '../../limits/wire/protocol.js';
import { Pump } from '../../limits/wire/pump.js';
import { sleepUntilStart, spinUntilStart } from '../../load/start.js';
import { rowsOf } from '../value-sizes.js';

/** Of a slice, before its clock starts: the pipeline fills. */
const WARM_NS = 0.5e6;
const SLICE_NS = 8e6;
const WARM_UP_NS = 100e6;

/**
 * @param {import('./storage-contender.js').SliceSpec} spec
 * @param {import('../benchmark.js').BenchmarkContext} context
 * @returns {Promise<import('./storage-contender.js').Contender>}
 */
export async function openWireContender({ wire, loads: given }, { instruments, signal }) {
  const loads = /** @type {import('./storage-contender.js').SliceLoad[]} */ (given);
  if (wire === undefined) throw new Error('a server ceiling needs its wire');
  const { clock } = instruments;
  const pumps = await openPumps(wire, loads, instruments);
  const origin = clock.originNs ?? 0;
  const totals = loads.map(() => ({ replies: 0, durationNs: 0 }));
  /** @param {number} load @param {{ warmNs: number, measureNs: number }} times */
  const run = async (load, times) => {
    const startNs = clock.now();
    const { pump, depth, inFlight } = pumps[load];
    const point = await pump.run({ depth, ...times });
    totals[load].replies += point.replies;
    totals[load].durationNs += point.durationNs;
    return {
      startNs: origin + startNs,
      endNs: origin + clock.now(),
      spanNs: point.durationNs,
      spanOperations: point.replies,
      operations: point.replies,
      medianNs: (inFlight * point.durationNs) / point.replies,
      cappedNs: (inFlight * point.durationNs) / point.replies,
      valid: true,
      cpuNs: point.clientCpuNs,
      runNs: null,
      waitNs: null,
    };
  };
  return {
    async warm() {
      instruments.collectGarbage('all');
      const records = [];
      for (const { pump, depth } of pumps) {
        const point = await pump.run({ depth, warmNs: WARM_UP_NS / 2, measureNs: WARM_UP_NS });
        records.push({ costNs: point.durationNs / point.replies });
      }
      return records;
    },
    async slice(load) {
      return run(load, { warmNs: WARM_NS, measureNs: wire.measureNs || SLICE_NS });
    },
    async timed(load, { startNs, fromNs, endNs }, onStart) {
      await sleepUntilStart(startNs - origin, { clock, signal });
      spinUntilStart(startNs - origin, clock);
      onStart();
      const beganNs = origin + clock.now();
      const warmNs = Math.max(0, fromNs - beganNs);
      const measureNs = Math.max(0, endNs - Math.max(fromNs, beganNs));
      const record = await run(load, { warmNs, measureNs });
      return { ...record, lateNs: Math.max(0, beganNs - startNs), latency: null };
    },
    async end() {
      for (const { pump } of pumps) pump.close();
      return totals.map(({ replies, durationNs }, i) => ({
        scheduled: replies,
        outcomes: OUTCOMES.map((_, code) => (code === 0 ? replies : 0)),
        samples: [],
        durationNs,
        inFlightMean: pumps[i].inFlight,
        latency: null,
      }));
    },
  };
}

/**
 * Loads of one shape share their connections.
 * @param {import('../../limits/wire/process.js').WireSpec} wire
 * @param {readonly import('./storage-contender.js').SliceLoad[]} loads
 * @param {import('../../measure/usage.js').Instruments} instruments
 * @returns {Promise<{ pump: Pump, depth: number, inFlight: number }[]>} by load; depth: of each
 *   connection; inFlight: of all of them
 */
async function openPumps(wire, loads, instruments) {
  const protocol = await loadProtocol(wire.protocol);
  const credentials = await readCredentials(wire.credentialVariables);
  /** @type {Map<string, Pump>} */
  const pumps = new Map();
  const made = [];
  for (const load of loads) {
    const { connections = wire.connections, valueSize } = load;
    const key = `${connections} ${valueSize}`;
    const { dataset, namespace } = rowsOf({ load, dataset: wire.dataset });
    const pump =
      pumps.get(key) ??
      (await Pump.open({
        ...{ protocol, endpoint: wire.endpoint, credentials, connections },
        ...{ dataset: createDataset(dataset), names: namesOf(namespace), stallMs: wire.stallMs },
        instruments: { ...instruments, collectGarbage: () => {} },
        serverPids: [],
      }));
    pumps.set(key, pump);
    const depth = Math.max(1, Math.round(load.inFlight / connections));
    made.push({ pump, depth, inFlight: depth * connections });
  }
  return made;
}

/**
 * A contender that is a server ceiling: the wire loop on one connection with as many requests in
 * flight as the storages have. Nothing is decoded; replies are framed and counted.
 */

import { readCredentials } from '../../lib/credentials.js';
import { createDataset } from '../../lib/dataset.js';
import { OUTCOMES } from '../../lib/outcome.js';
import { loadProtocol } from '../../limits/wire/protocol.js';
import { Pump } from '../../limits/wire/pump.js';

/** Of a slice, before its clock starts: the pipeline fills. */
const WARM_NS = 0.5e6;
const SLICE_NS = 8e6;
const WARM_UP_NS = 100e6;

/**
 * @param {import('./storage-contender.js').SliceSpec} spec
 * @param {import('../benchmark.js').BenchmarkContext} context
 * @returns {Promise<import('./storage-contender.js').Contender>}
 */
export async function openWireContender({ wire, loads: given }, { instruments }) {
  const loads = /** @type {import('./storage-contender.js').SliceLoad[]} */ (given);
  if (wire === undefined) throw new Error('a server ceiling needs its wire');
  const { clock } = instruments;
  const pump = await Pump.open({
    protocol: await loadProtocol(wire.protocol),
    endpoint: wire.endpoint,
    credentials: await readCredentials(wire.credentialVariables),
    dataset: createDataset(wire.dataset),
    connections: wire.connections,
    stallMs: wire.stallMs,
    instruments: { ...instruments, collectGarbage: () => {} },
    serverPids: [],
  });
  const origin = clock.originNs ?? 0;
  const totals = loads.map(() => ({ replies: 0, durationNs: 0 }));
  return {
    async warm() {
      instruments.collectGarbage('all');
      const records = [];
      for (const { inFlight: depth } of loads) {
        const point = await pump.run({ depth, warmNs: WARM_UP_NS / 2, measureNs: WARM_UP_NS });
        records.push({ costNs: point.durationNs / point.replies });
      }
      return records;
    },
    async slice(load) {
      const startNs = clock.now();
      const { inFlight: depth } = loads[load];
      const point = await pump.run({
        depth,
        warmNs: WARM_NS,
        measureNs: wire.measureNs || SLICE_NS,
      });
      totals[load].replies += point.replies;
      totals[load].durationNs += point.durationNs;
      return {
        startNs: origin + startNs,
        endNs: origin + clock.now(),
        spanNs: point.durationNs,
        spanOperations: point.replies,
        operations: point.replies,
        medianNs: (depth * point.durationNs) / point.replies,
        cappedNs: (depth * point.durationNs) / point.replies,
        valid: true,
        cpuNs: point.clientCpuNs,
        runNs: null,
        waitNs: null,
      };
    },
    async end() {
      pump.close();
      return totals.map(({ replies, durationNs }, i) => ({
        scheduled: replies,
        outcomes: OUTCOMES.map((_, code) => (code === 0 ? replies : 0)),
        samples: [],
        durationNs,
        inFlightMean: loads[i].inFlight,
        latency: null,
      }));
    },
  };
}

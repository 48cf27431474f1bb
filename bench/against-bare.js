/**
 * Compares the harness's loop with a bare one: pairs of processes that stay open and run short
 * segments alternately in mirrored order; several pairs in succession, because memory layout and
 * compiled code differ between processes. A figure is the median over all segments.
 */

import { fileURLToPath } from 'node:url';
import { measure } from './figures.js';
import { inTurn, Remote } from './remote.js';

const CONTENDER = fileURLToPath(new URL('./harness-contender.js', import.meta.url));

/**
 * @param {Omit<import('./harness-contender.js').ContenderSpec, 'kind'>} spec
 * @param {{ smoke: boolean, what: string, target: number, operations: number, inFlight: number }}
 *   contest operations: per segment
 * @returns {AsyncGenerator<import('./figures.js').Figure>}
 */
export async function* againstBare(spec, { smoke, what, target, operations, inFlight }) {
  const pairs = smoke ? 1 : 6;
  const rounds = smoke ? 2 : 16;
  const throughput = [];
  const cpu = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const bare = await Remote.open(CONTENDER, { ...spec, kind: 'bare' });
    const ours = await Remote.open(CONTENDER, { ...spec, kind: 'ours' });
    const job = { seed: 2 * pair, operations, lead: Math.ceil(operations / 3), inFlight };
    try {
      const slices = await inTurn(
        { bare: { remote: bare, job }, ours: { remote: ours, job } },
        rounds,
      );
      for (const [i, one] of slices['ours'].entries()) {
        throughput.push(one.rate / slices['bare'][i].rate);
        cpu.push(slices['bare'][i].cpuNs / one.cpuNs);
      }
    } finally {
      await bare.close();
      await ours.close();
    }
  }
  yield measure(`${what}: throughput`, throughput, { target, better: 'higher', unit: '×' });
  yield measure(`${what}: client CPU saved`, cpu, { better: 'higher', unit: '×' });
}

/**
 * The harness overhead of a run: what the harness itself costs for an operation, measured on the
 * memory storage with nothing behind it. No figure of this machine can be better; each report
 * prints it.
 */

import { OK } from '../lib/outcome.js';
import { DEFAULT_WORKLOAD } from '../workloads/index.js';

/**
 * Few rows, so that the processor's caches hold them: the harness overhead is the loop, not the
 * memory.
 */
const ROWS = 1000;
const OPERATIONS = { sync: 200_000, window: 200_000, burst: 50_000 };
/**
 * @typedef {keyof typeof OPERATIONS} OverheadKind an open loop has no harness overhead: its rate is
 * given
 */
/** As many passes as rounds, but no more than its spread needs. */
const PASSES_MAX = 3;

/**
 * @param {import('./plan.js').RunPlan} plan
 * @param {import('./executor.js').Executor} executor
 * @param {AbortSignal} [signal]
 * @returns {Promise<import('../lib/result.js').Result['harnessOverhead']>} an entry for each kind
 *   of load
 */
export async function measureHarnessOverhead(plan, executor, signal) {
  /** @type {import('../lib/result.js').Result['harnessOverhead']} */
  const harnessOverhead = [];
  /** @type {Set<OverheadKind>} */
  const kinds = new Set();
  for (const { kind } of plan.loads) if (kind !== 'rate') kinds.add(kind);
  for (const kind of kinds) {
    const inFlight = plan.loads.find((load) => load.kind === kind)?.inFlight ?? null;
    /** @type {number[]} */
    const passes = [];
    for (let pass = 0; pass < Math.min(PASSES_MAX, plan.rounds) && !signal?.aborted; pass += 1) {
      const { record } = await executor(overheadSpec(plan, kind, inFlight), { signal });
      if (record?.state === 'measured') passes.push(record.durationNs / record.outcomes[OK]);
    }
    if (passes.length === 0) continue;
    passes.sort((a, b) => a - b);
    harnessOverhead.push({
      load: kind,
      nsPerOperation: passes[passes.length >>> 1],
      n: passes.length,
    });
  }
  return harnessOverhead;
}

/**
 * @param {import('./plan.js').RunPlan} plan
 * @param {OverheadKind} kind
 * @param {number | null} inFlight
 * @returns {import('./benchmark.js').BenchmarkSpec}
 */
function overheadSpec(plan, kind, inFlight) {
  return {
    storage: 'memory',
    profile: 'default',
    workload: DEFAULT_WORKLOAD,
    workloadOptions: {},
    load: { kind, inFlight, operations: OPERATIONS[kind], durationNs: null },
    address: {},
    credentialVariables: null,
    serverPids: [],
    dataset: { ...plan.dataset, rows: Math.min(ROWS, plan.dataset.rows) },
    folder: '',
    seed: plan.seed,
    warmupOperations: 20_000,
    stallNs: plan.timeoutMs * 1e6,
  };
}

/**
 * Gates of a run (`--fail-if "throughput<0.95"`): the parsed text, and the outcome stored in
 * results. stats/gate.js decides them, engine/gates.js evaluates them.
 */

import { z } from 'zod';
import { usageError } from './errors.js';
import { count, text } from './schema-parts.js';

/**
 * Metrics of gates. `unit`: of an absolute limit; `field` of `client` of rounds: a count, which the
 * gate divides by operations; `isEstimated`: it differs between rounds of identical code, so it
 * needs an interval.
 * @satisfies {Record<string, { unit: string, field?: string, isEstimated?: boolean }>}
 */
export const GATE_METRICS = Object.freeze({
  throughput: { unit: 'ops/s' },
  'client-cpu': { unit: 'ns' },
  'server-cpu': { unit: 'ns' },
  p50: { unit: 'ns' },
  p90: { unit: 'ns' },
  p99: { unit: 'ns' },
  'p99.9': { unit: 'ns' },
  memory: { unit: 'B' },
  reads: { unit: 'count', field: 'reads' },
  writes: { unit: 'count', field: 'writes' },
  'read-bytes': { unit: 'B', field: 'readBytes' },
  'written-bytes': { unit: 'B', field: 'writtenBytes' },
  allocated: { unit: 'B', field: 'allocatedBytes', isEstimated: true },
});

/** @typedef {keyof typeof GATE_METRICS} GateMetric */

/**
 * Factor of each suffix relative to its unit.
 * @type {Readonly<Record<string, Record<string, number>>>}
 */
const UNITS = Object.freeze({
  ns: { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 },
  'ops/s': { '/s': 1, 'k/s': 1e3, 'M/s': 1e6 },
  count: { '/op': 1 },
  B: { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 },
});

/** A ratio beyond these is a limit without its unit. */
const RATIO_MAX = 5;
const EXAMPLES = 'write for example "throughput<0.95", "writes>1.02" or "p99>5ms"';

/**
 * @typedef {object} Gate
 * @property {string} text as written
 * @property {GateMetric} metric
 * @property {'<' | '>'} op it fails if the metric is below, or above, the limit
 * @property {number} limit a ratio to the baseline; or in ns, operations per second, bytes
 * @property {boolean} isRatio for a count: whether it is relative to a baseline, otherwise per
 *   operation
 */

/**
 * @param {unknown} text `throughput<0.95`, `client-cpu > 1.05`, `p99>5ms`, `throughput<50k/s`
 * @param {string} [label] label of the option
 * @returns {Gate}
 * @throws {import('./errors.js').DragstripError} E_USAGE
 */
export function parseGate(text, label = '--fail-if') {
  const match = /^\s*([a-z][a-z0-9.-]*)\s*([<>])=?\s*(\d+(?:\.\d+)?|\.\d+)\s*([a-zµ%/]*)\s*$/i.exec(
    String(text),
  );
  const prefix = `${label} ${JSON.stringify(text)}`;
  if (match === null)
    throw usageError(`${prefix}: not of the form METRIC<LIMIT or METRIC>LIMIT`, EXAMPLES);
  const [, name, op, digits, suffix] = match;
  if (!Object.hasOwn(GATE_METRICS, name)) {
    const names = Object.keys(GATE_METRICS).join(', ');
    throw usageError(`${prefix}: no metric ${JSON.stringify(name)}`, `available: ${names}`);
  }
  const metric = /** @type {GateMetric} */ (name);
  const isRatio = suffix === '' || suffix === '%';
  const factor = isRatio ? 1 : unitOf(metric, suffix, prefix);
  const limit = suffix === '%' ? Number(digits) / 100 : Number(digits) * factor;
  if (isRatio && !(limit > 1 / RATIO_MAX && limit < RATIO_MAX)) {
    const [unit] = Object.keys(UNITS[GATE_METRICS[metric].unit]).slice(-2);
    throw usageError(
      `${prefix}: a limit without a unit is a ratio to the baseline, between 0.2 and 5`,
      `write 0.95 for a ratio, ${digits}${unit} for an absolute limit`,
    );
  }
  if (!(limit > 0)) throw usageError(`${prefix}: the limit must be above 0`, EXAMPLES);
  return { text: String(text).trim(), metric, op: /** @type {'<' | '>'} */ (op), limit, isRatio };
}

/**
 * @param {GateMetric} metric
 * @param {string} suffix
 * @param {string} prefix
 */
function unitOf(metric, suffix, prefix) {
  const units = UNITS[GATE_METRICS[metric].unit];
  if (Object.hasOwn(units, suffix)) return units[suffix];
  const known = Object.keys(units).join(', ');
  throw usageError(
    `${prefix}: ${metric} has no unit ${JSON.stringify(suffix)}`,
    `available: ${known}`,
  );
}

export const gatesSchema = z
  .array(
    z.object({
      gate: text.describe('as written'),
      metric: z.enum(/** @type {[GateMetric, ...GateMetric[]]} */ (Object.keys(GATE_METRICS))),
      op: z.enum(['<', '>']),
      limit: z
        .number()
        .positive()
        .describe('a ratio; or ns, operations per second, bytes, a count per operation'),
      isRatio: z.boolean(),
      benchmark: text.describe('id of the candidate’s benchmark'),
      reference: text.nullable().describe('id of the baseline; null: an absolute limit'),
      outcome: z.enum(['failed', 'passed', 'undecided']),
      reason: text.nullable().describe('reason why there is no figure or no decision'),
      value: z.number().nullable().describe('ratio, or in the unit of the limit'),
      low: z.number().nullable(),
      high: z.number().nullable(),
      confidence: z
        .number()
        .describe(
          'confidence of this evaluation; all evaluations of all gates together: 0.95; 1: counted',
        ),
      n: count.describe('rounds'),
      roundsNeeded: count
        .nullable()
        .describe('number of rounds that would decide, if the estimates are true'),
    }),
  )
  .describe('gates of --fail-if');

/** @typedef {z.infer<typeof gatesSchema>[number]} GateResult */

/**
 * Gates of a run (`--fail-if "throughput<0.95"`): the text as data, and the outcome as results keep
 * it. Decided in stats/gate.js, looked at in engine/gates.js.
 */

import { z } from 'zod';
import { usageError } from './errors.js';
import { count, text } from './schema-parts.js';

/** What a gate can hold a contender to. `unit`: of a limit that is no ratio. */
export const GATE_METRICS = Object.freeze({
  throughput: { unit: 'ops/s' },
  'client-cpu': { unit: 'ns' },
  'server-cpu': { unit: 'ns' },
  p50: { unit: 'ns' },
  p90: { unit: 'ns' },
  p99: { unit: 'ns' },
  'p99.9': { unit: 'ns' },
  memory: { unit: 'B' },
});

/** @typedef {keyof typeof GATE_METRICS} GateMetric */

/** How much of its unit each suffix is. @type {Readonly<Record<string, Record<string, number>>>} */
const UNITS = Object.freeze({
  ns: { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 },
  'ops/s': { '/s': 1, 'k/s': 1e3, 'M/s': 1e6 },
  B: { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 },
});

/** A ratio beyond these is a limit whose unit was forgotten. */
const RATIO_MAX = 5;
const EXAMPLES = 'write for example "throughput<0.95", "client-cpu>1.05" or "p99>5ms"';

/**
 * @typedef {object} Gate
 * @property {string} text as it was written
 * @property {GateMetric} metric
 * @property {'<' | '>'} op it fails where the metric is below, or above, the limit
 * @property {number} limit a ratio to the reference; or in ns, operations per second, bytes
 * @property {boolean} isRatio
 */

/**
 * @param {unknown} text `throughput<0.95`, `client-cpu > 1.05`, `p99>5ms`, `throughput<50k/s`
 * @param {string} [label] of the option
 * @returns {Gate}
 * @throws {import('./errors.js').DragstripError} E_USAGE
 */
export function parseGate(text, label = '--fail-if') {
  const match = /^\s*([a-z][a-z0-9.-]*)\s*([<>])=?\s*(\d+(?:\.\d+)?|\.\d+)\s*([a-zµ%/]*)\s*$/i.exec(
    String(text),
  );
  const said = `${label} ${JSON.stringify(text)}`;
  if (match === null) throw usageError(`${said}: not a metric, < or >, and a limit`, EXAMPLES);
  const [, name, op, digits, suffix] = match;
  if (!Object.hasOwn(GATE_METRICS, name)) {
    const names = Object.keys(GATE_METRICS).join(', ');
    throw usageError(`${said}: no metric ${JSON.stringify(name)}`, `it takes ${names}`);
  }
  const metric = /** @type {GateMetric} */ (name);
  const isRatio = suffix === '' || suffix === '%';
  const factor = isRatio ? 1 : unitOf(metric, suffix, said);
  const limit = suffix === '%' ? Number(digits) / 100 : Number(digits) * factor;
  if (isRatio && !(limit > 1 / RATIO_MAX && limit < RATIO_MAX)) {
    const [unit] = Object.keys(UNITS[GATE_METRICS[metric].unit]).slice(-2);
    throw usageError(
      `${said}: without a unit it is a ratio to the reference, between 0.2 and 5`,
      `write 0.95 for a ratio, ${digits}${unit} for a limit by itself`,
    );
  }
  if (!(limit > 0)) throw usageError(`${said}: the limit must be above 0`, EXAMPLES);
  return { text: String(text).trim(), metric, op: /** @type {'<' | '>'} */ (op), limit, isRatio };
}

/**
 * @param {GateMetric} metric
 * @param {string} suffix
 * @param {string} said
 */
function unitOf(metric, suffix, said) {
  const units = UNITS[GATE_METRICS[metric].unit];
  if (Object.hasOwn(units, suffix)) return units[suffix];
  const known = Object.keys(units).join(', ');
  throw usageError(`${said}: ${metric} has no unit ${JSON.stringify(suffix)}`, `it takes ${known}`);
}

export const gatesSchema = z
  .array(
    z.object({
      gate: text.describe('as it was written'),
      metric: z.enum(/** @type {[GateMetric, ...GateMetric[]]} */ (Object.keys(GATE_METRICS))),
      op: z.enum(['<', '>']),
      limit: z.number().positive().describe('a ratio; or ns, operations per second, bytes'),
      isRatio: z.boolean(),
      benchmark: text.describe('id of the candidate’s benchmark'),
      reference: text.nullable().describe('id of what it is held against; null: by itself'),
      outcome: z.enum(['failed', 'passed', 'undecided']),
      reason: text.nullable().describe('why there is no figure'),
      value: z.number().nullable().describe('ratio, or in the unit of the limit'),
      low: z.number().nullable(),
      high: z.number().nullable(),
      confidence: z.number().describe('of this look; all looks at all gates together: 0.95'),
      n: count.describe('rounds'),
      roundsNeeded: count.nullable().describe('that would decide, if the estimates are true'),
    }),
  )
  .describe('what --fail-if asked for');

/** @typedef {z.infer<typeof gatesSchema>[number]} GateResult */

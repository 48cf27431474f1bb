/**
 * The normal form of a result: what must stay as it is when the engine changes. Identifiers, loads,
 * states, failures, outcomes, roles, columns and counts are kept; times, memory, CPU time and
 * whatever else the machine decides are replaced by their kind. Stored in test/golden/frozen/,
 * with one full result of each run (NAME.result.json.gz) for tests of reports.
 *
 * DRAGSTRIP_UPDATE_GOLDEN=1 writes the files anew; a commit that does so says what changed and why.
 */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { report } from '../../index.js';
import { parseResult } from '../../lib/parse-result.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../lib/result.js').Round} Round */
/** @typedef {import('../../lib/comparison.js').StoredContender} StoredContender */

const FILES = new URL('../golden/frozen/', import.meta.url);
const FORM_BYTES_MAX = 30_000;
const LINE = 120;

/** The state of the machine decides whether they are there; all others begin with `W_`. */
const BY_MACHINE =
  /^(?!W_)|^W_(AGENT_(DIFFERS|LATE)|CANARY|CHANGED|DRIVER_TIMEOUT|LATE|LITTLE|OUTLIER|STALE|STEAL|THROTTLED|UNSTEADY)$/;
/** Metrics that are measured, not counted; a whole number by chance is no count. */
const MEASURED = /(Ns|PerSecond|Bytes|Rate|Ratio|Share|Mean|Max|Min|P\d+)/;

/**
 * @param {unknown} value
 * @returns {unknown} `number`, `text`, `list` in place of values; fields and null stay
 */
function kindOf(value) {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'text';
  if (typeof value !== 'object') return typeof value;
  return byName(value, (one) => kindOf(one));
}

/**
 * @param {object} object
 * @param {(value: any, name: string) => unknown} form of a field; undefined: it is left out
 */
function byName(object, form) {
  const entries = Object.entries(object)
    .map(([name, value]) => /** @type {const} */ ([name, form(value, name)]))
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @param {string | null} text @returns {string | null} without numbers, and paths of this machine */
const wordsOf = (text) =>
  text?.replaceAll(/(\/[\w.-]+){2,}/g, 'PATH').replaceAll(/\d[\d.,]*/g, 'N') ?? null;

/** @param {boolean} isExact @returns {(n: number) => number | string} 0, or `some`, if it is not */
const countBy = (isExact) => (n) => (isExact || n === 0 ? n : 'some');

/**
 * @param {Round} round
 * @param {boolean} isExact the run fixed how much is measured
 */
function roundOf(round, isExact) {
  const count = countBy(isExact);
  const latency = (/** @type {any} */ own) =>
    own && byName(own, (value, name) => latencyField(name, value, count));
  const fields = {
    state: (/** @type {string} */ state) => state,
    // assertFrozen looks at it: 0, 1 and so on.
    round: () => undefined,
    failure: (/** @type {Round['failure']} */ own) =>
      own && { code: own.code, message: wordsOf(own.message) },
    scheduled: count,
    outcomes: (/** @type {object} */ own) => byName(own, count),
    samples: (/** @type {Round['samples']} */ own) =>
      [...new Set(own.map(({ outcome, code }) => `${outcome} ${code}`))].sort(),
    latency,
    poolWait: latency,
    open: (/** @type {object} */ own) =>
      byName(own, (value, name) => {
        if (name === 'service') return latency(value);
        return /^late/.test(name) ? 'number' : count(value);
      }),
    outages: (/** @type {object[]} */ own) => own.map(kindOf),
    compared: (/** @type {object} */ own) => byName(own, count),
    kinds: (/** @type {NonNullable<Round['kinds']>} */ own) =>
      own.map((kind) => ({ name: kind.name, ok: count(kind.ok), latency: latency(kind.latency) })),
    series: (/** @type {NonNullable<Round['series']>} */ own) =>
      own.map((one) =>
        byName(one, (value, name) => {
          if (name === 'latency') return latency(value);
          if (/^(p\d|median)/.test(name)) return isExact ? kindOf(value) : 'number or null';
          if (name === 'keys' || name === 'warmup') return value;
          return name === 'cycles' || name === 'ok' ? count(value) : kindOf(value);
        }),
      ),
    metrics: (/** @type {object} */ own) =>
      byName(own, (value, name) => {
        const isCount = Number.isInteger(value) && !MEASURED.test(name);
        if (isCount) return count(value);
        return typeof value === 'string' && value.length <= LINE ? wordsOf(value) : kindOf(value);
      }),
    server,
    others: (/** @type {object} */ own) => byName(own, server),
    warmup: (/** @type {Round['warmup']} */ own) => ({
      operations: count(own.operations),
      curve: own.curve.length > 0,
    }),
    timeline: (/** @type {Round['timeline']} */ own) => own.operations.length > 0,
    agents: (/** @type {any[]} */ own) =>
      own
        .map((one) =>
          byName(one, (value, name) => {
            if (name === 'agent') return value;
            return name === 'ok' ? count(value) : shapeOf(value);
          }),
        )
        .sort((/** @type {any} */ a, /** @type {any} */ b) => (a.agent < b.agent ? -1 : 1)),
    // Of a machine: which of these are known.
    conditions: () => 'conditions',
    redirects: (/** @type {object} */ own) => own,
    // Of slices too short it is absent.
    inFlightSteady: () => undefined,
    // Of a comparison the order is drawn anew.
    position: () => 'number',
  };
  return byName(round, (value, name) =>
    value === null || !(name in fields)
      ? kindOf(value)
      : fields[/** @type {keyof typeof fields} */ (name)](value),
  );
}

/** @param {object} own whether a thread was busy and is still there, a short load leaves to chance */
const server = (own) =>
  byName(own, (value, name) => (name === 'cpuNs' ? kindOf(value) : 'number or null'));

/** @param {unknown} value */
const shapeOf = (value) => (typeof value === 'object' && value !== null ? 'object' : kindOf(value));

/**
 * @param {string} name
 * @param {any} value
 * @param {(n: number) => number | string} count
 */
function latencyField(name, value, count) {
  if (name === 'count') return count(value);
  // Null where few values lie above: by the count, which may be another.
  if (/^p\d/.test(name)) return count(1) === 1 ? kindOf(value) : 'number or null';
  return kindOf(value);
}

/** @param {StoredContender} contender */
function contenderOf({ name, group, of, ceiling, benchmark, rounds }) {
  const isSome = (/** @type {any} */ value, /** @type {string} */ name) => {
    // Too short a time on the processor has no share.
    if (name === 'occupancy') return Object.keys(value).sort();
    return Array.isArray(value) ? value.some((one) => one !== null) : kindOf(value);
  };
  const [first] = rounds;
  return {
    name,
    group,
    of,
    ceiling,
    benchmark,
    rounds: rounds.length,
    fields: first && byName(first, isSome),
  };
}

/** @param {NonNullable<Result['comparison']>} comparison */
function comparisonOf({ loads, blocks, failed, whole, stopped, unfinished }) {
  return {
    stopped,
    rounds: blocks.length,
    failed,
    whole,
    unfinished: unfinished && {
      fields: Object.keys(unfinished).sort(),
      loads: unfinished.loads.map((own) =>
        own.map((one) => `${one.name}: ${Object.keys(one).sort().join(' ')}`).sort(),
      ),
    },
    loads: loads.map(({ contenders, placement, ...load }) => ({
      ...load,
      placement: placement.kind,
      contenders: [...contenders].sort((a, b) => (a.name < b.name ? -1 : 1)).map(contenderOf),
    })),
  };
}

/** @param {Result} result @returns {Promise<object[]>} of each table: its columns, its rows */
async function tablesOf(result) {
  const documents = JSON.parse(await report(result, 'json'));
  return documents.flatMap((/** @type {any} */ { tables }) =>
    tables.map((/** @type {any} */ { columns, rows }) => ({
      columns: columns.map((/** @type {any} */ { key }) => key).join(' '),
      rows: rows.filter((/** @type {object} */ row) => !isBySpeed(row)).length,
    })),
  );
}

/** @param {object} row @returns {boolean} it is there if speeds of this run were not separated */
function isBySpeed(row) {
  return JSON.stringify(row).includes('"not separated, up to"');
}

/**
 * @param {Result} result
 * @param {{ isExact?: (benchmark: Benchmark) => boolean }} [how] isExact: counts are kept, as
 *   otherwise those of loads with a number of operations that are not sliced
 * @returns {Promise<object>}
 */
export async function normalForm(result, { isExact } = {}) {
  const { comparison, benchmarks } = result;
  const wholes = new Set(comparison?.whole?.map(({ benchmark }) => benchmark));
  const fixes = (/** @type {Benchmark} */ one) =>
    one.load.operations !== null && (comparison === undefined || wholes.has(one.id));
  /** Equal ones once; benchmarks name theirs by its place. @type {Map<string, object>} */
  const roundForms = new Map();
  const nameOf = (/** @type {object} */ form) => {
    const text = JSON.stringify(form);
    if (!roundForms.has(text)) roundForms.set(text, form);
    return [...roundForms.keys()].indexOf(text);
  };
  return JSON.parse(
    JSON.stringify({
      schema: [result.schema, result.schemaVersion],
      command: result.command,
      state: result.state,
      fields: Object.keys(result).sort(),
      dataset: result.dataset,
      servers: result.servers.map(({ name, source }) => [name, source]),
      storages: result.storages.map((one) =>
        byName(ofAnyInstall(one), (value, name) => (FREE.includes(name) ? kindOf(value) : value)),
      ),
      benchmarks: benchmarks.map((one) => ({
        ...one,
        reason: wordsOf(one.reason),
        hint: wordsOf(one.hint),
        rounds: one.rounds.map((own) => nameOf(roundOf(own, (isExact ?? fixes)(one)))),
      })),
      roundForms: [...roundForms.values()],
      comparison: comparison && comparisonOf(comparison),
      limits: result.limits && kindOf(result.limits),
      gates: result.gates && gatesOf(result.gates),
      fleet: result.fleet && {
        fields: Object.keys(result.fleet).sort(),
        agents: result.fleet.agents.map(({ name }) => name).sort(),
      },
      harnessOverhead: result.harnessOverhead.map(({ load }) => load).sort(),
      warnings: result.warnings
        .filter(({ code }) => !BY_MACHINE.test(code))
        .map(({ code, benchmark }) => `${code} ${benchmark}`)
        .sort(),
      tables: await tablesOf(result),
    }),
  );
}

/** Fields of a storage that depend on what is installed. */
const FREE = ['version', 'driver', 'package', 'summary'];

/**
 * A driver that is built from C++ is not everywhere.
 * @param {any} storage
 */
function ofAnyInstall({ driver, ...storage }) {
  return storage.name === 'hiredis' || storage.storage === 'hiredis' || driver === undefined
    ? storage
    : { ...storage, driver };
}

/** @param {any} gates */
function gatesOf(gates) {
  const kept = /^(text|gate|outcome|metric|benchmark|reference|state|result|relation)$/;
  /** @type {(value: any, name: string) => unknown} */
  const walk = (value, name) => {
    if (Array.isArray(value)) return value.map((one) => walk(one, name));
    if (typeof value === 'object' && value !== null) return byName(value, walk);
    return kept.test(name) ? value : kindOf(value);
  };
  return walk(gates, '');
}

/**
 * @param {string} name of the run
 * @param {Result} result
 * @param {Parameters<typeof normalForm>[1]} [how]
 */
export async function assertFrozen(name, result, how) {
  const stored = parseResult(JSON.stringify(result), name);
  for (const { id, rounds } of stored.benchmarks) {
    assert.deepEqual(
      rounds.map(({ round }) => round),
      rounds.map((_, i) => i),
      `${id}: rounds in their order`,
    );
  }
  const form = await normalForm(stored, how);
  const file = new URL(`${name}.json`, FILES);
  if (process.env['DRAGSTRIP_UPDATE_GOLDEN'] === '1') {
    const text = `${written(form)}\n`;
    assert.ok(text.length <= FORM_BYTES_MAX, `${name}: ${text.length} bytes`);
    writeFileSync(file, text);
    writeFileSync(fullOf(name), gzipSync(JSON.stringify(stored), { level: 9 }));
  }
  assert.deepEqual(form, JSON.parse(readFileSync(file, 'utf8')), `see test/helpers/frozen.js`);
}

/**
 * @param {unknown} value
 * @param {string} [indent]
 * @returns {string} JSON, in which whatever fits into a line is one
 */
function written(value, indent = '') {
  const line = JSON.stringify(value);
  if (line.length <= LINE || typeof value !== 'object' || value === null) return line;
  const more = `${indent} `;
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(
    ([name, one]) => `${more}${isList ? '' : `${JSON.stringify(name)}: `}${written(one, more)}`,
  );
  return `${isList ? '[' : '{'}\n${parts.join(',\n')}\n${indent}${isList ? ']' : '}'}`;
}

/** @param {string} name */
const fullOf = (name) => new URL(`${name}.result.json.gz`, FILES);

/**
 * @param {string} name
 * @returns {Result} a run of the engine as it was when its normal form was frozen
 */
export function frozenResult(name) {
  return parseResult(gunzipSync(readFileSync(fullOf(name))).toString(), `${name} (frozen)`);
}

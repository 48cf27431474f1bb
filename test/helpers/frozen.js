/**
 * The normal form of a result: the part that must not change with the engine. Identifiers, loads,
 * states, failures, outcomes, roles, columns and counts are kept; times, memory, CPU time and other
 * values of the machine are replaced by their kind. Stored in test/golden/frozen/, with one full
 * result of each run (NAME.result.json.gz) for tests of reports.
 *
 * DRAGSTRIP_UPDATE_GOLDEN=1 rewrites the files; the commit must explain the change.
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

/** Warnings that depend on the state of the machine; all others begin with `W_`. */
const BY_MACHINE =
  /^(?!W_)|^W_(AGENT_(DIFFERS|LATE)|CANARY|CHANGED|DRIVER_TIMEOUT|LATE|LITTLE|OUTLIER|STALE|STEAL|THROTTLED|UNSTEADY)$/;
/** Columns that are present if a segment had no collection. */
const BY_COLLECTIONS = ['memory_growth', 'allocated_bytes'];
/** Metrics that are measured, not counted, even if integers by chance. */
const MEASURED = /(Ns|PerSecond|Bytes|Rate|Ratio|Share|Mean|Max|Min|P\d+)/;

/**
 * @param {unknown} value
 * @returns {unknown} `number`, `text`, `list` instead of values; fields and null are kept
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
 * @param {(value: any, name: string) => unknown} form stored form of a field; undefined: omitted
 */
function byName(object, form) {
  const entries = Object.entries(object)
    .map(([name, value]) => /** @type {const} */ ([name, form(value, name)]))
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @param {string | null} text @returns {string | null} without numbers and local paths */
const wordsOf = (text) =>
  text?.replaceAll(/(\/[\w.-]+){2,}/g, 'PATH').replaceAll(/\d[\d.,]*/g, 'N') ?? null;

/** @param {boolean} isExact @returns {(n: number) => number | string} 0, or `some` */
const countBy = (isExact) => (n) => (isExact || n === 0 ? n : 'some');

/**
 * @param {Round} round
 * @param {boolean} isExact whether the run has a fixed amount
 */
function roundOf(round, isExact) {
  const count = countBy(isExact);
  const isSliced = round.timeline.operations.length === 0;
  const latency = (/** @type {any} */ own) =>
    own && byName(own, (value, name) => latencyField(name, value, count));
  const fields = {
    state: (/** @type {string} */ state) => state,
    // assertFrozen checks it: 0, 1 and so on.
    round: () => undefined,
    failure: (/** @type {Round['failure']} */ own) =>
      own && { code: own.code, message: wordsOf(own.message) },
    scheduled: count,
    outcomes: (/** @type {object} */ own) => byName(own, count),
    samples: (/** @type {Round['samples']} */ own) =>
      // Only the first few are kept, and with timing effects all may have the first code.
      [
        ...new Set(own.map(({ outcome, code }) => (isExact ? `${outcome} ${code}` : outcome))),
      ].sort(),
    latency,
    poolWait: latency,
    open: (/** @type {object} */ own) =>
      byName(own, (value, name) => {
        if (name === 'service') return latency(value);
        return /^late/.test(name) ? 'number' : count(value);
      }),
    outages: (/** @type {object[]} */ own) => own.map(kindOf),
    // Short segments may have no batch that is compared in full.
    compared: (/** @type {object} */ own) =>
      byName(own, (value, name) => (name === 'whole' && !isExact ? 'number' : count(value))),
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
    // A thread has no share if it had hardly any CPU time, or waited for a processor all the time.
    occupancy: (/** @type {object} */ own) =>
      byName(own, (_value, name) => (name === 'server' && round.server === null ? null : 'number')),
    server,
    others: (/** @type {object} */ own) => byName(own, server),
    // In blocks their presence depends on garbage collections, and over several rounds also their
    // contents (see test/golden/run.test.js).
    client: (/** @type {object} */ own) =>
      byName(own, (value, name) => {
        if (/^(allocatedBytes|kept(Bytes|Operations))$/.test(name)) return undefined;
        return isSliced && /^gc/.test(name) ? null : kindOf(value);
      }),
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
    // Presence of these values of a machine.
    conditions: () => 'conditions',
    redirects: (/** @type {object} */ own) => own,
    // Absent for short segments.
    inFlightSteady: () => undefined,
    // The order of a comparison is random.
    position: () => 'number',
  };
  return byName(round, (value, name) =>
    value === null || !(name in fields)
      ? kindOf(value)
      : fields[/** @type {keyof typeof fields} */ (name)](value),
  );
}

/** @param {object} own in a short load it is random whether a thread was busy and still exists */
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
  // Null with few values above, which depends on the count.
  if (/^p\d/.test(name)) return count(1) === 1 ? kindOf(value) : 'number or null';
  return kindOf(value);
}

/** @param {StoredContender} contender */
function contenderOf({ name, group, of, ceiling, benchmark, rounds }) {
  const isSome = (/** @type {any} */ value, /** @type {string} */ name) => {
    // Very short CPU times have no share.
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
function comparisonOf({ loads, blocks, failed, whole: reasons, stopped, unfinished }) {
  return {
    stopped,
    rounds: blocks.length,
    failed,
    whole: reasons,
    unfinished: unfinished && {
      fields: Object.keys(unfinished).sort(),
      loads: unfinished.loads.map((own) =>
        own.map((one) => `${one.name}: ${Object.keys(one).sort().join(' ')}`).sort(),
      ),
    },
    loads: loads.map(({ contenders, placement, measuredNs: _time, ...load }) => ({
      ...load,
      placement: placement.kind,
      contenders: [...contenders].sort((a, b) => (a.name < b.name ? -1 : 1)).map(contenderOf),
    })),
  };
}

/** @param {Result} result @returns {Promise<object[]>} columns and rows of each table */
async function tablesOf(result) {
  const documents = JSON.parse(await report(result, 'json'));
  return documents.flatMap((/** @type {any} */ { tables }) =>
    tables.map((/** @type {any} */ { columns, rows }) => ({
      columns: columns
        .map((/** @type {any} */ { key }) => key)
        .filter((/** @type {string} */ key) => !BY_COLLECTIONS.includes(key))
        .join(' '),
      rows: rows.filter((/** @type {object} */ row) => !isBySpeed(row)).length,
    })),
  );
}

/** @param {object} row @returns {boolean} whether it depends on tied speeds of this run,
 *   or each slice of a contender had a collection */
function isBySpeed(row) {
  return /"(not separated, up to|ratios are of)"/.test(JSON.stringify(row));
}

/**
 * @param {Result} result
 * @param {{ isExact?: (benchmark: Benchmark) => boolean }} [how] isExact: keep counts; otherwise
 *   only those of loads with a number of operations without blocks
 * @returns {Promise<object>}
 */
export async function normalForm(result, { isExact } = {}) {
  const { comparison, benchmarks } = result;
  const wholes = new Set(comparison?.whole?.map(({ benchmark }) => benchmark));
  const fixes = (/** @type {Benchmark} */ one) =>
    one.load.operations !== null && (comparison === undefined || wholes.has(one.id));
  /** Distinct ones; benchmarks refer to them by index. @type {Map<string, object>} */
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

/** Fields of a storage that depend on the installation. */
const FREE = ['version', 'driver', 'package', 'summary'];

/**
 * A driver built from C++ is not available everywhere.
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
 * @param {string} name name of the run
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
  const form = /** @type {any} */ (await normalForm(stored, how));
  if (process.env['DRAGSTRIP_UPDATE_GOLDEN'] === '1') {
    const text = `${written(form)}\n`;
    assert.ok(text.length <= FORM_BYTES_MAX, `${name}: ${text.length} bytes`);
    writeFileSync(fileOf(name), text);
    writeFileSync(fullOf(name), gzipSync(JSON.stringify(stored), { level: 9 }));
  }
  const expected = frozenForm(name);
  const known = expected.roundForms.map((/** @type {unknown} */ one) => written(one));
  const added = form.roundForms
    .map((/** @type {unknown} */ one) => written(one))
    .filter((/** @type {string} */ one) => !known.includes(one));
  assert.equal(added.join('\n'), '', 'forms of rounds that are new; see test/helpers/frozen.js');
  assert.deepEqual(form, expected, 'see test/helpers/frozen.js');
}

/**
 * @param {unknown} value
 * @param {string} [indent]
 * @returns {string} JSON with values on one line if they fit
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
const fileOf = (name) => new URL(`${name}.json`, FILES);

/** @param {string} name @returns {any} normal form that a run of that name has */
export const frozenForm = (name) => JSON.parse(readFileSync(fileOf(name), 'utf8'));

/** @param {string} name */
const fullOf = (name) => new URL(`${name}.result.json.gz`, FILES);

/**
 * @param {string} name
 * @returns {Result} a run of the engine at the time when its normal form was frozen
 */
export function frozenResult(name) {
  return parseResult(gunzipSync(readFileSync(fullOf(name))).toString(), `${name} (frozen)`);
}

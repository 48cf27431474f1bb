/**
 * Reads a stored result; refuses damaged, edited or inconsistent ones with the reason.
 */

import { digestOf } from './digest.js';
import { usageError } from './errors.js';
import { unpackResult } from './packed-values.js';
import { resultSchema, SCHEMA_NAME, SCHEMA_VERSION } from './result.js';
import { contradictionIn } from './result-checks.js';

const NAME_A_RESULT = 'name a file written by --json or --out';

/**
 * A program may store the return value of run(); commands have stored results with a digest since
 * 0.1.0.
 */
const NO_DIGEST = 'it has no digest, so changes cannot be detected';

/** @typedef {import('./result.js').Result} Result */

/**
 * @param {string} json
 * @param {string} source the file's name, for messages
 * @param {{ trust?: boolean, digest?: 'optional' | 'expected' | 'required' }} [options] trust:
 *   accept an edited result with a warning. digest: whether a file written by Dragstrip has one;
 *   without it a result gets a warning (expected), or is treated as edited
 * @returns {Result}
 * @throws {import('./errors.js').DragstripError} E_USAGE: not JSON, not a result, an unknown
 *   version, damaged, edited, or inconsistent numbers
 */
export function parseResult(json, source, { trust = false, digest = 'optional' } = {}) {
  /** @type {unknown} */
  let data;
  try {
    data = JSON.parse(json);
  } catch (error) {
    throw usageError(`${source}: not JSON (${error.message})`, NAME_A_RESULT);
  }
  const version = /** @type {any} */ (data)?.schemaVersion;
  if (/** @type {any} */ (data)?.schema === SCHEMA_NAME && version !== SCHEMA_VERSION) {
    throw usageError(
      `${source}: schema version ${JSON.stringify(version)}, this Dragstrip reads ${SCHEMA_VERSION}`,
      'read it with the version of Dragstrip that wrote it',
    );
  }
  const isSealed = /** @type {any} */ (data)?.digest !== undefined;
  const damage = damageOf(data) ?? (isSealed || digest !== 'required' ? null : NO_DIGEST);
  if (damage !== null && !trust) throw changedError(source, damage);
  renameWorkloadMetrics(data);
  const parsed = resultSchema.safeParse(unpackResult(data));
  if (parsed.success) {
    const result = wholeResult(parsed.data, { source, damage, trust });
    if (!isSealed && digest === 'expected')
      warnOf(result, 'W_NO_DIGEST', `${source}: ${NO_DIGEST}`);
    return result;
  }
  const issue = parsed.error.issues[0];
  const where = issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
  throw usageError(`${source}: not a result${where}: ${issue.message}`, NAME_A_RESULT);
}

/**
 * @param {any} data content of a file, not validated yet
 * @returns {string | null} null: it is as written, or has no digest
 */
function damageOf(data) {
  if (data?.schema !== SCHEMA_NAME) return null; // the schema reports the error
  if (data.digest !== undefined) {
    return data.digest === digestOf(data)
      ? null
      : 'it was changed after it was written: its digest differs';
  }
  // A field of a later version comes with a digest; without one the name is damaged.
  const unknown = Object.keys(data).find((name) => !Object.hasOwn(resultSchema.shape, name));
  return unknown === undefined ? null : `unknown field ${JSON.stringify(unknown)}, and no digest`;
}

/**
 * @param {Result} result modified in place
 * @param {{ source: string, damage: string | null, trust: boolean }} context
 * @returns {Result}
 */
function wholeResult(result, { source, damage, trust }) {
  delete result.digest;
  const wrong = damage ?? contradictionIn(result);
  if (wrong === null) return result;
  if (!trust) throw changedError(source, wrong);
  warnOf(result, 'W_CHANGED', `${wrong}; it was read with --trust`);
  return result;
}

/** @param {Result} result @param {string} code @param {string} message */
function warnOf({ warnings }, code, message) {
  warnings.push({ code, message, hint: null, benchmark: null });
}

/**
 * @param {string} source
 * @param {string} wrong
 */
function changedError(source, wrong) {
  const hint = 'use the original file; if you changed it yourself, add --trust';
  return usageError(`${source}: ${wrong}`, hint);
}

/**
 * Early files of schema version 2 name a round's workload metrics `facts`.
 * @param {any} data not validated yet
 */
function renameWorkloadMetrics(data) {
  if (!Array.isArray(data?.benchmarks)) return;
  const rounds = data.benchmarks.flatMap((/** @type {any} */ benchmark) => benchmark?.rounds);
  for (const round of rounds) {
    if (round?.facts === undefined || round.metrics !== undefined) continue;
    round.metrics = round.facts;
    delete round.facts;
  }
}

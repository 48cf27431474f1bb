/**
 * Reads a stored result: what is damaged, was changed, or contradicts itself is refused with the
 * reason.
 */

import { digestOf } from './digest.js';
import { usageError } from './errors.js';
import { unpackResult } from './packed-values.js';
import { resultSchema, SCHEMA_NAME, SCHEMA_VERSION } from './result.js';
import { contradictionIn } from './result-checks.js';

const NAME_A_RESULT = 'name a file that --json or --out has written';

/** @typedef {import('./result.js').Result} Result */

/**
 * @param {string} json
 * @param {string} source the file's name, for messages
 * @param {{ trust?: boolean }} [options] trust: also one that was changed after it was written; it
 *   gets a warning
 * @returns {Result}
 * @throws {import('./errors.js').DragstripError} E_USAGE: not JSON, not a result, of a version
 *   that is not known here, damaged, changed, or numbers that contradict each other
 */
export function parseResult(json, source, { trust = false } = {}) {
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
  const damage = damageOf(data);
  if (damage !== null && !trust) throw changedError(source, damage);
  renameFacts(data);
  const parsed = resultSchema.safeParse(unpackResult(data));
  if (parsed.success) return wholeResult(parsed.data, { source, damage, trust });
  const issue = parsed.error.issues[0];
  const where = issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
  throw usageError(`${source}: not a result${where}: ${issue.message}`, NAME_A_RESULT);
}

/**
 * @param {any} data of a file, not validated yet
 * @returns {string | null} null: it is as it was written, or says nothing about that
 */
function damageOf(data) {
  if (data?.schema !== SCHEMA_NAME) return null; // the schema says what it is not
  if (data.digest !== undefined) {
    return data.digest === digestOf(data)
      ? null
      : 'it is not as it was written: its digest differs';
  }
  // A field of a later version comes with a digest; without one it is the name that is damaged.
  const unknown = Object.keys(data).find((name) => !Object.hasOwn(resultSchema.shape, name));
  return unknown === undefined ? null : `unknown field ${JSON.stringify(unknown)}, and no digest`;
}

/**
 * @param {Result} result is changed
 * @param {{ source: string, damage: string | null, trust: boolean }} context
 * @returns {Result}
 */
function wholeResult(result, { source, damage, trust }) {
  delete result.digest;
  const wrong = damage ?? contradictionIn(result);
  if (wrong === null) return result;
  if (!trust) throw changedError(source, wrong);
  const message = `${wrong}; it was read with --trust`;
  result.warnings.push({ code: 'W_CHANGED', message, hint: null, benchmark: null });
  return result;
}

/**
 * @param {string} source
 * @param {string} wrong
 */
function changedError(source, wrong) {
  const hint = 'take the original file; if you have changed it yourself, add --trust';
  return usageError(`${source}: ${wrong}`, hint);
}

/**
 * Early files of schema version 2 name a round's workload metrics `facts`.
 * @param {any} data not validated yet
 */
function renameFacts(data) {
  if (!Array.isArray(data?.benchmarks)) return;
  const rounds = data.benchmarks.flatMap((/** @type {any} */ benchmark) => benchmark?.rounds);
  for (const round of rounds) {
    if (round?.facts === undefined || round.metrics !== undefined) continue;
    round.metrics = round.facts;
    delete round.facts;
  }
}

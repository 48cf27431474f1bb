/**
 * Checks before sending: the client refuses requests that the server silently executes wrongly, or
 * that crash it (HANDLERSOCKET 1.2 and 2.3). All functions throw HS_ARGUMENT only.
 */

import { argumentError } from './handlersocket-error.js';
import { describe } from './request-lines.js';

/** @typedef {import('./request-lines.js').IndexDefinition} IndexDefinition */
/** @typedef {import('./request-lines.js').Value} Value */

/** Maximum limit, and maximum limit + offset, because the server adds them as uint32. */
export const LIMIT_MAX = 0xffffffff;
/** MariaDB 10.11 replies `2 fldnum` to more values than this in a key or an insert. */
export const VALUES_MAX = 32;
/** The server has a vector up to the largest id, with 72 bytes each, so ids are kept small. */
export const INDEX_ID_MAX = 65535;

const FIND_OPS = new Set(['=', '>', '>=', '<', '<=']);
const FILTER_OPS = new Set(['=', '!=', '>', '>=', '<', '<=']);
/** Some of their tables are views (mysql.user), others cannot be opened. */
const SYSTEM_DATABASES = new Set(['mysql', 'information_schema', 'performance_schema', 'sys']);

/**
 * @param {string} what
 * @param {unknown} name written unescaped into the `P` line, because the server does not unescape
 *   names
 * @param {boolean} [inList] a column, in a comma-separated list
 */
function checkName(what, name, inList = false) {
  if (typeof name !== 'string' || name === '') {
    throw argumentError(`${what} ${describe(name)}: must be a non-empty string`);
  }
  if (/[\x00-\x0f]/.test(name)) {
    throw argumentError(`${what} ${describe(name)}: has a control character`);
  }
  if (inList && name.includes(',')) {
    throw argumentError(`${what} ${describe(name)}: a column with a comma cannot be opened`);
  }
}

/**
 * @param {string} what
 * @param {unknown} names
 */
function checkNames(what, names) {
  if (!Array.isArray(names)) throw argumentError(`${what} ${describe(names)}: must be an array`);
  for (const name of names) checkName(what, name, true);
  if (new Set(names).size !== names.length) throw argumentError(`${what}: a name occurs twice`);
}

/**
 * @param {IndexDefinition} definition
 * @param {boolean} [allowSystem] permit system databases
 */
export function checkDefinition(definition, allowSystem = false) {
  const { database, table, index, columns, filters } = definition;
  checkName('database', database);
  checkName('table', table);
  if (index !== undefined) checkName('index', index);
  checkNames('columns', columns);
  if (columns.length === 0) {
    throw argumentError('columns: at least one, otherwise the number of rows is unknown');
  }
  if (filters !== undefined) checkNames('filters', filters);
  if (!allowSystem && SYSTEM_DATABASES.has(database.toLowerCase())) {
    throw argumentError(
      `database ${database}: some of its tables are views, and opening a view kills the server`,
    );
  }
}

/** @param {unknown} secret */
export function checkSecret(secret) {
  if (typeof secret !== 'string' || /[\x00\x01\t\n]/.test(secret) || secret.endsWith('\r')) {
    throw argumentError('secret: must be a string without NUL, 0x01, tab, line feed or last CR');
  }
}

/**
 * @param {unknown} op
 */
export function checkFindOp(op) {
  if (!FIND_OPS.has(/** @type {string} */ (op))) {
    throw argumentError(`operator ${describe(op)}: must be one of ${[...FIND_OPS].join(' ')}`);
  }
}

/**
 * @param {unknown} key one value per key part, in the order of the index; a prefix is enough
 */
export function checkKey(key) {
  if (!Array.isArray(key)) throw argumentError(`key ${describe(key)}: must be an array`);
  if (key.length < 1 || key.length > VALUES_MAX) {
    throw argumentError(`key: has ${key.length} values, must have 1 to ${VALUES_MAX}`);
  }
}

/**
 * @param {string} what
 * @param {unknown} number
 * @param {number} min
 * @param {number} max
 */
export function checkInteger(what, number, min, max) {
  if (Number.isInteger(number) && Number(number) >= min && Number(number) <= max) return;
  throw argumentError(`${what} ${describe(number)}: must be a whole number from ${min} to ${max}`);
}

/**
 * @param {number} limit 0 is refused, because the server treats it as 1
 * @param {number} offset
 */
export function checkLimit(limit, offset) {
  checkInteger('limit', limit, 1, LIMIT_MAX);
  checkInteger('offset', offset, 0, LIMIT_MAX);
  if (limit + offset > LIMIT_MAX) {
    throw argumentError(`limit ${limit} + offset ${offset}: the sum must not exceed ${LIMIT_MAX}`);
  }
}

/**
 * @param {{ part?: number, values: readonly Value[] }} list
 * @param {number} keyLength
 * @param {number} limit at least the length of the list, because the server stops silently at the
 *   limit
 */
export function checkIn(list, keyLength, limit) {
  if (list === null || typeof list !== 'object' || !Array.isArray(list.values)) {
    throw argumentError('in: must be { part, values }');
  }
  const { part = 0, values } = list;
  checkInteger('in.part', part, 0, keyLength - 1);
  if (values.length === 0) throw argumentError('in.values: must not be empty');
  if (values.some((value) => value === null || value === undefined)) {
    throw argumentError('in.values: NULL in a list is not recognised by the server');
  }
  if (limit < values.length) {
    throw argumentError(`limit ${limit}: is less than the ${values.length} values of the list`);
  }
}

/**
 * @param {{ column: string, op: string, value: Value, stop?: boolean }} filter
 * @param {readonly string[]} columns the filter columns of the index
 * @returns {number} position of the column
 */
export function checkFilter(filter, columns) {
  if (filter === null || typeof filter !== 'object') {
    throw argumentError('filters: each must be { column, op, value, stop }');
  }
  if (!FILTER_OPS.has(filter.op)) {
    throw argumentError(
      `filter operator ${describe(filter.op)}: must be one of ${[...FILTER_OPS].join(' ')}`,
    );
  }
  const place = columns.indexOf(filter.column);
  if (place >= 0) return place;
  throw argumentError(
    `filter column ${describe(filter.column)}: the index was opened without this filter`,
  );
}

/**
 * @param {unknown} values
 * @param {readonly string[]} columns columns of the index
 * @param {string} mod U, + or -: every column needs a value, otherwise the server writes '' or 0
 */
export function checkChange(values, columns, mod) {
  if (!Array.isArray(values)) throw argumentError(`values ${describe(values)}: must be an array`);
  if (values.length !== columns.length) {
    throw argumentError(
      `values: has ${values.length}, must have ${columns.length} (${columns.join(', ')}): ` +
        'open the index with just the columns to change',
    );
  }
  if (mod !== '+' && mod !== '-') return;
  for (const value of values) checkStep(value);
}

/** @param {unknown} step step of + or -: the server silently treats a non-integer as 0 */
function checkStep(step) {
  if (step === null || typeof step === 'bigint') return;
  if (typeof step === 'number' && Number.isSafeInteger(step)) return;
  if (typeof step === 'string' && /^-?\d{1,19}$/.test(step)) return;
  throw argumentError(`step ${describe(step)}: must be a whole number, or null to skip the column`);
}

/**
 * @param {unknown} values
 * @param {readonly string[]} columns columns of the index
 */
export function checkInsert(values, columns) {
  if (!Array.isArray(values)) throw argumentError(`values ${describe(values)}: must be an array`);
  if (values.length !== columns.length) {
    throw argumentError(
      `values: has ${values.length}, must have ${columns.length} (${columns.join(', ')}): ` +
        "a column without a value would become '' or 0, not its default",
    );
  }
  if (values.length > VALUES_MAX) {
    throw argumentError(
      `values: has ${values.length}, the server accepts ${VALUES_MAX} at most: insert those, then ` +
        'update the rest through another index',
    );
  }
}

/**
 * The define functions: each validates the form of a definition once, on creation, so that a
 * mistake in a user's storage, server, loader, workload or report causes one clear error.
 */

import { HANDLE_KINDS, kindOf, ROW_OPERATIONS } from './capabilities.js';
import { usageError } from './errors.js';

/**
 * @param {string} kind
 * @param {Record<string, any>} definition
 * @param {Record<string, string>} fields field name to typeof; `?` at the end for optional ones
 */
function requireFields(kind, definition, fields) {
  if (definition === null || typeof definition !== 'object') {
    throw usageError(`define${kind}: the definition is not an object`);
  }
  const label = `${kind.toLowerCase()} ${JSON.stringify(definition.name ?? '(without name)')}`;
  if (typeof definition.name !== 'string' || !/^[a-z][a-z0-9-]*$/.test(definition.name)) {
    throw usageError(`${label}: name must be lower-case letters, digits and dashes`);
  }
  for (const [field, form] of Object.entries(fields)) {
    const value = definition[field];
    const optional = form.endsWith('?');
    if (optional && value === undefined) continue;
    const types = form.replace('?', '').split('|');
    const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    if (!types.includes(type)) {
      throw usageError(`${label}: ${field} must be ${types.join(' or ')}, not ${type}`);
    }
  }
}

/**
 * @param {import('./types.js').StorageForm} form
 * @returns {import('./types.js').StorageDefinition} frozen
 * @throws {import('./errors.js').DragstripError} E_USAGE: invalid form
 */
export function defineStorage(form) {
  requireFields('Storage', form, {
    ...CONTENDER_FIELDS,
    rows: 'array?',
    inserts: 'object?',
    locks: 'object?',
    commands: 'array?',
    alternative: 'boolean?',
    open: 'function|object',
  });
  if ('capabilities' in form) {
    throw usageError(
      `storage "${form.name}": unknown field capabilities`,
      `name the operations on rows: rows: ['get']; the others follow from the keys of open`,
    );
  }
  const open = typeof form.open === 'function' ? { rows: form.open } : form.open;
  const rows = form.rows ?? (open.rows === undefined ? undefined : /** @type {const} */ (['get']));
  const definition = { ...form, open: Object.freeze(open), ...(rows && { rows }) };
  requireProfiles(`storage "${form.name}"`, definition);
  requireKinds(`storage "${form.name}"`, definition);
  return Object.freeze(definition);
}

const CONTENDER_FIELDS = Object.freeze({
  summary: 'string',
  package: 'string|null',
  server: 'string|null',
  protocol: 'string?',
  tls: 'boolean?',
  profiles: 'object',
  unavailable: 'function?',
  fill: 'function?',
  burstNs: 'function?',
});

/**
 * @template {import('./types.js').OwnContender} T
 * @param {T} definition definition of a contender supplied by a workload
 * @returns {T} frozen
 * @throws {import('./errors.js').DragstripError} E_USAGE: invalid form
 */
export function defineContender(definition) {
  requireFields('Contender', definition, { ...CONTENDER_FIELDS, open: 'function' });
  requireProfiles(`contender "${definition.name}"`, definition);
  return Object.freeze(definition);
}

/**
 * @param {string} label
 * @param {import('./types.js').Contender} definition
 */
function requireProfiles(label, { profiles }) {
  if ('default' in profiles) return;
  throw usageError(`${label}: profiles must have one named default`);
}

/**
 * Each kind of handle has a field that describes it, and no such field exists without its kind.
 * @param {string} label
 * @param {import('./types.js').StorageDefinition} definition
 */
function requireKinds(label, definition) {
  const { open, rows = [] } = definition;
  const kinds = Object.keys(HANDLE_KINDS);
  for (const [kind, opener] of Object.entries(open)) {
    if (!kinds.includes(kind) || typeof opener !== 'function') {
      throw usageError(`${label}: open.${kind}: not one of ${kinds.join(', ')}`);
    }
  }
  if (Object.keys(open).length === 0) {
    throw usageError(`${label}: open is empty`, `it needs one or more of ${kinds.join(', ')}`);
  }
  for (const [kind, field] of Object.entries(HANDLE_KINDS)) {
    if (Object.hasOwn(open, kind) === (definition[field] !== undefined)) continue;
    throw usageError(
      `${label}: open.${kind} and the field ${field} require each other`,
      'docs/adding.md describes the fields',
    );
  }
  const wrong = rows.find((operation) => !ROW_OPERATIONS.includes(operation));
  if (wrong === undefined && !(open.rows && rows.length === 0)) return;
  throw usageError(
    `${label}: rows ${wrong === undefined ? 'is empty' : `contains an unknown operation "${wrong}"`}`,
    `the operations on rows: ${ROW_OPERATIONS.join(', ')}`,
  );
}

/**
 * @param {import('./types.js').ServerDefinition} definition
 * @returns {import('./types.js').ServerDefinition} frozen
 * @throws {import('./errors.js').DragstripError} E_USAGE: invalid form
 */
export function defineServer(definition) {
  requireFields('Server', definition, {
    summary: 'string',
    endpoints: 'object',
    credentials: 'object',
    packages: 'array',
    programs: 'array?',
    tls: 'boolean?',
    behind: 'array?',
    find: 'function',
    fetch: 'function?',
    start: 'function',
    probe: 'function',
    nodes: 'function?',
  });
  return Object.freeze(definition);
}

/**
 * @param {import('./types.js').LoaderDefinition} definition
 * @returns {import('./types.js').LoaderDefinition} frozen
 * @throws {import('./errors.js').DragstripError} E_USAGE: invalid form
 */
export function defineLoader(definition) {
  requireFields('Loader', definition, {
    server: 'string',
    summary: 'string',
    inspect: 'function',
    verify: 'function',
    seed: 'function',
  });
  return Object.freeze(definition);
}

/**
 * @param {import('./types.js').WorkloadDefinition} definition
 * @returns {import('./types.js').WorkloadDefinition} frozen
 * @throws {import('./errors.js').DragstripError} E_USAGE: invalid form
 */
export function defineWorkload(definition) {
  requireFields('Workload', definition, {
    summary: 'string?',
    needs: 'array',
    namespace: 'object?',
    prepare: 'function',
    check: 'function|boolean?',
    offers: 'function?',
    servers: 'function?',
    route: 'function?',
    options: 'object?',
    shared: 'object?',
    slices: 'boolean|string?',
    parts: 'function?',
    shares: 'function?',
    loads: 'function|boolean?',
    presets: 'object?',
    tests: 'object?',
    plan: 'function?',
    openWith: 'function?',
    contenders: 'object?',
    runHooks: 'function?',
    metricRules: 'object?',
  });
  const kinds = new Set(definition.needs.map((need) => kindOf([need])));
  const count = definition.contenders === undefined ? 1 : 0;
  if (kinds.size !== count) {
    throw usageError(
      `workload "${definition.name}": needs names ${kinds.size} kinds of handle, expected ${count}`,
    );
  }
  return Object.freeze(definition);
}

/**
 * @param {Partial<Record<import('./workload-types.js').MetricRule, readonly string[]>>} metrics
 *   names of metrics, by rule
 * @returns {Readonly<Record<string, import('./workload-types.js').MetricRule>>} rules by name
 */
export function metricRules(metrics) {
  const byName = Object.entries(metrics).flatMap(([rule, names]) =>
    names.map((name) => [name, rule]),
  );
  return Object.freeze(Object.fromEntries(byName));
}

/**
 * @param {import('./types.js').ReportDefinition} definition
 * @returns {import('./types.js').ReportDefinition} frozen
 * @throws {import('./errors.js').DragstripError} E_USAGE: invalid form
 */
export function defineReport(definition) {
  requireFields('Report', definition, { summary: 'string', render: 'function' });
  return Object.freeze(definition);
}

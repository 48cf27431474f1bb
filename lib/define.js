/**
 * The define functions: each checks the form of a definition once, when it is made, so that a
 * mistake in a storage, server, loader, workload or report of somebody's own gets one clear line.
 */

import { usageError } from './errors.js';

/**
 * @param {string} kind
 * @param {Record<string, any>} definition
 * @param {Record<string, string>} fields field name to typeof; `?` behind for optional ones
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
      throw usageError(`${label}: ${field} must be ${types.join(' or ')}, it is ${type}`);
    }
  }
}

/**
 * @param {import('./types.js').StorageDefinition} definition
 * @returns {import('./types.js').StorageDefinition} frozen
 * @throws {import('./errors.js').DragstripError} E_USAGE where the form is wrong
 */
export function defineStorage(definition) {
  requireFields('Storage', definition, {
    summary: 'string',
    package: 'string|null',
    server: 'string|null',
    protocol: 'string?',
    profiles: 'object',
    capabilities: 'array',
    locks: 'object?',
    unavailable: 'function?',
    fill: 'function?',
    open: 'function',
  });
  if (!('default' in definition.profiles)) {
    throw usageError(`storage "${definition.name}": profiles must have one named default`);
  }
  return Object.freeze(definition);
}

/**
 * @param {import('./types.js').ServerDefinition} definition
 * @returns {import('./types.js').ServerDefinition} frozen
 * @throws {import('./errors.js').DragstripError} E_USAGE where the form is wrong
 */
export function defineServer(definition) {
  requireFields('Server', definition, {
    summary: 'string',
    endpoints: 'object',
    credentials: 'object',
    packages: 'array',
    programs: 'array?',
    behind: 'array?',
    find: 'function',
    fetch: 'function?',
    start: 'function',
    probe: 'function',
  });
  return Object.freeze(definition);
}

/**
 * @param {import('./types.js').LoaderDefinition} definition
 * @returns {import('./types.js').LoaderDefinition} frozen
 * @throws {import('./errors.js').DragstripError} E_USAGE where the form is wrong
 */
export function defineLoader(definition) {
  requireFields('Loader', definition, {
    server: 'string',
    summary: 'string',
    inspect: 'function',
    seed: 'function',
  });
  return Object.freeze(definition);
}

/**
 * @param {import('./types.js').WorkloadDefinition} definition
 * @returns {import('./types.js').WorkloadDefinition} frozen
 * @throws {import('./errors.js').DragstripError} E_USAGE where the form is wrong
 */
export function defineWorkload(definition) {
  requireFields('Workload', definition, {
    summary: 'string',
    needs: 'array',
    namespace: 'object?',
    prepare: 'function',
    check: 'function|boolean?',
    offers: 'function?',
    servers: 'function?',
    route: 'function?',
    options: 'object?',
    shared: 'object?',
    tests: 'object?',
    plan: 'function?',
    legacyLines: 'function?',
    output: 'function?',
    status: 'function?',
  });
  return Object.freeze(definition);
}

/**
 * @param {import('./types.js').ReportDefinition} definition
 * @returns {import('./types.js').ReportDefinition} frozen
 * @throws {import('./errors.js').DragstripError} E_USAGE where the form is wrong
 */
export function defineReport(definition) {
  requireFields('Report', definition, { summary: 'string', render: 'function' });
  return Object.freeze(definition);
}

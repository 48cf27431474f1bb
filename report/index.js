/**
 * The reports by name, loaded when asked for. A report is a pure function of a result: it computes
 * and writes text, it does not measure, read or print.
 */

import { usageError } from '../lib/errors.js';

/** @typedef {import('../lib/types.js').ReportDefinition} ReportDefinition */

/** @type {Readonly<Record<string, () => Promise<{ default: ReportDefinition }>>>} */
const MODULES = Object.freeze({
  console: () => import('./console.js'),
  markdown: () => import('./markdown.js'),
  csv: () => import('./csv.js'),
  html: () => import('./html.js'),
});

/** In the order in which they are listed. */
export const REPORT_NAMES = Object.freeze(Object.keys(MODULES));

/**
 * @param {string} name
 * @returns {Promise<import('../lib/types.js').ReportDefinition>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE for a name that is not known
 */
export async function loadReport(name) {
  if (!Object.hasOwn(MODULES, name)) {
    throw usageError(
      `report ${JSON.stringify(name)}: not known`,
      `name one of ${REPORT_NAMES.join(', ')}`,
    );
  }
  return (await MODULES[name]()).default;
}

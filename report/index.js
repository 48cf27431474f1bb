/**
 * The reports by name, loaded on first use. A format is a pure function of documents, which are
 * built from results here; it returns text, and neither measures, reads nor prints.
 */

import { usageError } from '../lib/errors.js';
import { loadReports } from '../workloads/index.js';
import { circumstancesOf, differencesOf } from './analysis/conditions.js';
import { differenceList, nameOf } from './conditions.js';
import { documentOf } from './document.js';

/** @typedef {import('../lib/types.js').ReportDefinition} ReportDefinition */
/** @typedef {import('../lib/types.js').ReportOptions} ReportOptions */
/** @typedef {import('../lib/result.js').Result} Result */

/** @type {Readonly<Record<string, () => Promise<{ default: ReportDefinition }>>>} */
const MODULES = Object.freeze({
  console: () => import('./console.js'),
  markdown: () => import('./markdown.js'),
  pr: () => import('./pull-request.js'),
  csv: () => import('./csv.js'),
  json: () => import('./json.js'),
  html: () => import('./html.js'),
});

/** In listing order. */
export const REPORT_NAMES = Object.freeze(Object.keys(MODULES));

/**
 * @typedef {object} Report a format bound to the reports of the workloads
 * @property {string} name
 * @property {string} summary
 * @property {(results: Result | readonly Result[], options?: ReportOptions) => string} render one
 *   report of several results
 */

/**
 * @param {string} name
 * @returns {Promise<Report>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: unknown name
 */
export async function loadReport(name) {
  const { summary, render } = await loadFormat(name);
  const specs = await loadReports();
  return {
    name,
    summary,
    render(results, options) {
      const all = /** @type {Result[]} */ ([results].flat());
      return render(documentsOf(all, specs), options);
    },
  };
}

/**
 * @param {readonly Result[]} results
 * @param {import('./specs.js').ReportSpecs} specs
 * @returns {import('../lib/report-types.js').Document[]} those after the first also list their
 *   differences from it
 */
function documentsOf([first, ...others], specs) {
  return [
    documentOf(first, specs),
    ...others.map((result, i) => {
      const document = documentOf(result, specs);
      const found = [...differencesOf(first, result), ...circumstancesOf(first, result)];
      if (found.length === 0) return document;
      return {
        ...document,
        lists: [differenceList([{ name: nameOf(i), found }]), ...document.lists],
      };
    }),
  ];
}

/**
 * @param {string} name
 * @returns {Promise<(document: import('../lib/report-types.js').Document, options?: ReportOptions)
 *   => string>} like loadReport, for another document
 */
export async function loadDocumentReport(name) {
  const { render } = await loadFormat(name);
  return (document, options) => render([document], options);
}

/**
 * @param {string} name
 * @returns {Promise<ReportDefinition>} whether it renders documents
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: unknown name
 */
async function loadFormat(name) {
  if (!Object.hasOwn(MODULES, name)) {
    throw usageError(
      `unknown report ${JSON.stringify(name)}`,
      `available reports: ${REPORT_NAMES.join(', ')}`,
    );
  }
  return (await MODULES[name]()).default;
}

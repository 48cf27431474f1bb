/** The reports of workloads by name, and the default for workloads without one. */

import { operationsReport, operationsTable } from '../workloads/operations.js';

/** @typedef {import('../lib/report-types.js').ReportSpec} ReportSpec */
/** @typedef {ReadonlyMap<string, ReportSpec>} ReportSpecs by the name of the workload */

/** @type {ReportSpec} */
const BY_DEFAULT = Object.freeze({
  ...operationsReport,
  tables: [{ ...operationsTable, where: undefined }],
  sweeps: true,
});

/**
 * @param {ReportSpecs} specs
 * @param {string} workload
 * @returns {ReportSpec}
 */
export function specOf(specs, workload) {
  return specs.get(workload) ?? BY_DEFAULT;
}

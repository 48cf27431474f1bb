/** What is shown. */

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = { tables: [] };

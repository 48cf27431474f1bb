/** What is shown of fetches of many keys. */

import { operationsLegend, operationsTable } from '../operations.js';

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = { tables: [operationsTable], legend: operationsLegend };

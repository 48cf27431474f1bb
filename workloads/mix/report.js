/**
 * What is shown of mixed reads and writes: storages by verified operations per second, a table per
 * load.
 */

import { operationsExplained, operationsLegend, operationsTable } from '../operations.js';

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = {
  tables: [operationsTable],
  legend: operationsLegend,
  explain: operationsExplained,
};

/** What is shown of single rows: storages by verified operations per second, a table per load. */

import { operationsExplained, operationsLegend, operationsTable } from '../operations.js';
import { operationsPlots } from '../operations-plots.js';

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = {
  tables: [operationsTable],
  sweeps: true,
  plots: operationsPlots,
  legend: operationsLegend,
  explain: operationsExplained,
};

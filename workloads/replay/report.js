/** What is shown of a replay: storages by response times, each at the rate of the trace. */

import { operationsExplained, operationsLegend, operationsTable } from '../operations.js';
import { operationsPlots } from '../operations-plots.js';

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = {
  row: 'their own sizes',
  tables: [operationsTable],
  plots: operationsPlots,
  legend: operationsLegend,
  explain: operationsExplained,
};

/** What is shown of changes of rows: storages by verified operations per second, a table per load. */

import { plainText } from '../../lib/format.js';
import { operationsExplained, operationsLegend, operationsTable } from '../operations.js';
import { operationsPlots } from '../operations-plots.js';

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = {
  tables: [
    {
      ...operationsTable,
      where: () => true,
      title: (table, result) =>
        `${operationsTable.title(table, result)}, ${plainText(table[0].source.parameters?.mix)}`,
    },
  ],
  sweeps: true,
  plots: operationsPlots,
  legend: operationsLegend,
  explain: operationsExplained,
};

/**
 * Report of YCSB: storages by verified operations per second, a table per core workload and load.
 */

import { operationsReport, operationsTable } from '../operations.js';
import { explainOperations, shortLegend } from '../operations-legend.js';

/** @param {any} benchmark */
const coreOf = ({ source }) => String(source.parameters?.core);

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = {
  ...operationsReport,
  tables: [
    {
      ...operationsTable,
      where: () => true,
      table: ['core', 'loadGroup'],
      title: (table, result) =>
        `YCSB ${coreOf(table[0]).toUpperCase()}: ${operationsTable.title(table, result)}`,
      id: (table) => `ycsb ${coreOf(table[0])} ${table[0].keys.loadGroup}`,
    },
  ],
  sweeps: true,
  legend: shortLegend,
  explain: explainOperations,
};

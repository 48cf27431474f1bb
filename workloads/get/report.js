/** Report of single rows: storages by verified operations per second, a table per load. */

import { operationsReport } from '../operations.js';

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = { ...operationsReport, sweeps: true };

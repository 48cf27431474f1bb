/** Report of a replay: response times per storage at the rate of the trace. */

import { operationsReport } from '../operations.js';

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = { ...operationsReport, row: 'their own sizes' };

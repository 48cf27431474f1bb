/** What is shown of a replay: storages by response times, each at the rate of the trace. */

import { operationsReport } from '../operations.js';

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = { ...operationsReport, row: 'their own sizes' };

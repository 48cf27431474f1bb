/** What a list of commands says of the workload; nothing else of it is loaded for that. */

/** @type {import('../../lib/types.js').WorkloadAbout} */
export const about = {
  summary: 'one row by its key, uniform over all rows or by --keys',
  load: () => import('./index.js'),
  report: () => import('./report.js'),
};

/** What a list of commands says of the workload; nothing else of it is loaded for that. */

/** @type {import('../../lib/types.js').WorkloadAbout} */
export const about = {
  summary: 'reads and writes of single rows, weighted by --mix',
  load: () => import('./index.js'),
  report: () => import('./report.js'),
};

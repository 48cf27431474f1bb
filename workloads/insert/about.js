/** What a list of commands says of the workload; nothing else of it is loaded for that. */

/** @type {import('../../lib/types.js').WorkloadAbout} */
export const about = {
  summary: 'rows into an empty table, by several strategies',
  isCommand: true,
  load: () => import('./index.js'),
  report: () => import('./report.js'),
};

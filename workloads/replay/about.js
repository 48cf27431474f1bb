/** What a list of commands says of the workload; nothing else of it is loaded for that. */

/** @type {import('../../lib/types.js').WorkloadAbout} */
export const about = {
  summary: 'replay a recorded trace with its own times: replay trace.json',
  load: () => import('./index.js'),
  report: () => import('./report.js'),
};

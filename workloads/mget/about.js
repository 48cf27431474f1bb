/** What a list of commands says of the workload; nothing else of it is loaded for that. */

/** @type {import('../../lib/types.js').WorkloadAbout} */
export const about = {
  summary: 'multi-key reads over 50,000 keys created for the run',
  isCommand: true,
  load: () => import('./index.js'),
  report: () => import('./report.js'),
};

/** What a list of commands says of the workload; nothing else of it is loaded for that. */

/** @type {import('../../lib/types.js').WorkloadAbout} */
export const about = {
  summary: 'locks over several processes: cost, waits, fairness, crash recovery',
  isCommand: true,
  load: () => import('./index.js'),
  report: () => import('./report.js'),
};

/** What a list of commands says of the workload; nothing else of it is loaded for that. */

/** @type {import('../../lib/types.js').WorkloadAbout} */
export const about = {
  summary: 'the command list of redis-benchmark, direct and through a proxy',
  isCommand: true,
  load: () => import('./index.js'),
  report: () => import('./report.js'),
};

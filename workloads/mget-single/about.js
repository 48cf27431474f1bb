/** What a list of commands says of the workload; nothing else of it is loaded for that. */

/** @type {import('../../lib/types.js').WorkloadAbout} */
export const about = {
  summary: 'the keys of mget as single reads that are sent at once (mget --pipelined)',
  load: () => import('./index.js'),
  report: () => import('./report.js'),
};

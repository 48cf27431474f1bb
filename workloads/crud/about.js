/** What a list of commands says of the workload; nothing else of it is loaded for that. */

/** @type {import('../../lib/types.js').WorkloadAbout} */
export const about = {
  summary: 'reads, writes, scans, inserts, deletions and hashes by --mix, on rows of its own',
  load: () => import('./index.js'),
  report: () => import('./report.js'),
};

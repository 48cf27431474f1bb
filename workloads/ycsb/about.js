/** What a list of commands says of the workload; nothing else of it is loaded for that. */

/** @type {import('../../lib/types.js').WorkloadAbout} */
export const about = {
  summary: 'the YCSB core workloads A to F by name',
  isCommand: true,
  presets: {
    ...{ 'ycsb-a': null, 'ycsb-b': null, 'ycsb-c': null },
    ...{ 'ycsb-d': null, 'ycsb-e': null, 'ycsb-f': null },
  },
  load: () => import('./index.js'),
  report: () => import('./report.js'),
};

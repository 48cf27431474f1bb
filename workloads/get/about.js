/** What a list of commands says of the workload; nothing else of it is loaded for that. */

/** @type {import('../../lib/types.js').WorkloadAbout} */
export const about = {
  summary: 'one row by its key, uniform over all rows or by --keys',
  presets: {
    race: 'point reads on every available storage, one and many requests in flight',
    async: 'all requests at once, or a window of them (node async_test.js)',
    sync: 'one request in flight (./test.js)',
  },
  load: () => import('./index.js'),
  report: () => import('./report.js'),
};

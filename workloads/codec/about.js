/** What a list of commands says of the workload; nothing else of it is loaded for that. */

/** @type {import('../../lib/types.js').WorkloadAbout} */
export const about = {
  summary: 'decoders and encoders of drivers on recorded replies, without a server',
  isCommand: true,
  load: () => import('./index.js'),
  report: () => import('./report.js'),
};

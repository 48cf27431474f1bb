/**
 * Functions for a file that defines a storage, server, loader, workload or report. Measured
 * processes resolve `dragstrip` to this module (condition `dragstrip-contender`): with the engine,
 * reports and schemas loaded, a driver was 14 % slower than the same driver built in
 * (docs/methodology.md).
 */

export { createDataset } from './lib/dataset.js';
export {
  defineLoader,
  defineReport,
  defineServer,
  defineStorage,
  defineWorkload,
} from './lib/define.js';
export { DragstripError } from './lib/errors.js';
export {
  choice,
  choices,
  count,
  counts,
  duration,
  flag,
  names,
  text,
} from './lib/options.js';
export { version } from './lib/version.js';

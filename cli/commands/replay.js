/** `dragstrip replay trace.json`: runs the workload `replay` with the trace as an argument. */

import { usageError } from '../../lib/errors.js';
import { execute as executeRun } from './run.js';

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export function execute({ args: [file], options, ...context }) {
  if (options['trace'] !== undefined && file !== undefined) {
    throw usageError('replay FILE and --trace cannot be combined', 'leave out --trace');
  }
  const trace = file ?? options['trace'];
  return executeRun({ ...context, command: 'replay', args: [], options: { ...options, trace } });
}

/**
 * `dragstrip seed` and `node data/NAME.js`: fills servers with the rows, then counts and samples
 * them.
 */

import { seedServers } from '../../engine/seed.js';
import { DragstripError } from '../../lib/errors.js';
import { formatCount } from '../../lib/format.js';
import { describeSizes } from '../../lib/value-sizes.js';
import { systemClock } from '../../measure/clock.js';
import { datasetIn } from '../options.js';
import { showWait } from '../progress.js';
import { inSession } from '../session.js';

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export function execute(context) {
  const { args, options, stdout, stderr } = context;
  const servers = args.length === 0 ? undefined : args;
  return inSession(context, async ({ signal, progress }) => {
    let startNs = systemClock.now();
    try {
      await seedServers(
        { servers, ...datasetIn(options), signal },
        {
          onProgress: (name, done, all) =>
            progress.update(`${name}: ${formatCount(done)} rows`, done / all),
          onWait: (name) => showWait(progress, `${name}: waiting for another command`),
          onReport(report, dataset) {
            progress.done();
            const nowNs = systemClock.now();
            const took = ((nowNs - startNs) / 1e9).toFixed(2);
            if (!options.quiet) stdout.write(`${summary(report, dataset, took)}\n`);
            startNs = nowNs;
          },
        },
      );
    } catch (error) {
      progress.done();
      if (signal.aborted && error instanceof DragstripError) {
        stderr.write(`dragstrip: ${error.message}\n`);
      }
      throw error;
    }
    return 0;
  });
}

/**
 * @param {import('../../engine/seed.js').ServerReport} report
 * @param {import('../../lib/types.js').Dataset} dataset
 * @param {string} seconds
 */
function summary({ server, rows, nodes, sampled, written }, dataset, seconds) {
  const { valueSize, valueSizes } = dataset;
  const sizes = valueSizes === undefined ? `${valueSize} characters` : describeSizes(dataset);
  const what = `${formatCount(rows)} rows of ${sizes}`;
  const spread = Object.entries(nodes ?? {}).map(([at, n]) => `${formatCount(n)} on ${at}`);
  const counted = spread.length === 0 ? 'counted' : `counted: ${spread.join(', ')}`;
  const checked = `${counted}, ${sampled} compared in full`;
  if (!written) return `${server}: ${what} already present (${checked})`;
  return `${server}: ${what} written in ${seconds} s (${checked})`;
}

/**
 * `dragstrip limit`: measures the ceiling of each server and of each driver, as tables and as a
 * result for `race --limits FILE`.
 */

import { limitLoads } from '../../engine/limit-options.js';
import { limit as measure } from '../../index.js';
import { EXIT_STATUS } from '../../lib/errors.js';
import { datasetIn } from '../options.js';
import { tablesFor } from '../run-command.js';
import { inSession } from '../session.js';
import { dropUndefined } from '../setup.js';
import { openStore } from '../storage.js';
import { readResult } from './report.js';

/** @typedef {import('../../index.js').RunOptions} RunOptions */
/** @typedef {import('../../index.js').LimitsSource} LimitsSource */

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status: 4 without any figure
 */
export function execute(context) {
  const { options, stdout } = context;
  const runOptions = toLimitOptions(options);
  return inSession(context, async ({ signal, progress, setUp }) => {
    const store = await openStore(options);
    await setUp(runOptions);
    const onProgress = progress.update;
    const result = await measure(runOptions, { signal, onProgress });
    progress.done();
    const stored = store?.write(result);
    stored?.catch(() => {}); // awaited below, so that the measurements are shown in any case
    stdout.write(await tablesFor(result, stdout));
    if (store !== null) {
      await stored;
      stdout.write(`\nresult: ${store.file()}\n`);
    }
    const { wire, driver } = result.limits ?? { wire: [], driver: [] };
    const any = [...wire, ...driver].some(({ opsPerSecond }) => opsPerSecond !== null);
    return any ? 0 : EXIT_STATUS['E_TARGET'];
  });
}

/**
 * @param {Record<string, any>} options parsed
 * @returns {RunOptions}
 */
export function toLimitOptions(options) {
  const { rounds, storages } = options;
  return /** @type {RunOptions} */ (
    dropUndefined({
      command: 'limit',
      rounds,
      loads: limitLoads(options),
      storages,
      timeoutMs: options.timeout,
      ...datasetIn(options),
    })
  );
}

/**
 * `race --limits`: measured before the race; `race --limits FILE`: read from that result.
 * @param {true | string | undefined} given
 * @param {import('../progress.js').Progress} progress
 * @returns {Promise<LimitsSource | undefined>}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: the file is not a result
 */
export async function limitsSource(given, progress) {
  if (given === undefined) return undefined;
  if (given !== true) return { result: await readResult(given), file: given };
  return { measure: true, onProgress: (text, share) => progress.update(text, share) };
}

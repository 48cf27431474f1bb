/**
 * `dragstrip limit`: what the wire of each server carries and what each driver can do at most,
 * as tables and as a result that `race --limits FILE` takes.
 */

import { limitLoads } from '../../engine/limit-options.js';
import { limit as measure } from '../../index.js';
import { loadReport } from '../../report/index.js';
import { addressesOf } from '../options.js';
import { createProgress } from '../progress.js';
import { dropUndefined } from '../setup.js';
import { onSignals } from '../signals.js';
import { openStore } from '../storage.js';
import { readResult } from './report.js';

/** @typedef {import('../../index.js').RunOptions} RunOptions */
/** @typedef {import('../../index.js').LimitsSource} LimitsSource */

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status: 4 where there is no figure at all
 */
export async function execute({ options, stdout, stderr }) {
  const runOptions = toLimitOptions(options);
  const signals = onSignals(stderr);
  const progress = createProgress(stderr, { quiet: options.quiet });
  /** @type {{ stop: () => Promise<void> } | null} */
  let setup = null;
  try {
    const store = await openStore(options);
    if (options.setup) {
      const { setUp } = await import('../setup.js');
      setup = await setUp(runOptions, { signal: signals.signal, progress });
    }
    const result = await measure(runOptions, {
      signal: signals.signal,
      onProgress: (text, share) => progress.update(text, share),
    });
    progress.done();
    const stored = store?.write(result);
    stored?.catch(() => {}); // awaited below: what was measured is shown all the same
    const { render } = await loadReport('console');
    const color = stdout.isTTY === true && stdout.hasColors();
    stdout.write(`${render(result, { width: stdout.columns || undefined, color }).trimEnd()}\n`);
    if (store !== null) {
      await stored;
      stdout.write(`\nresult: ${store.file()}\n`);
    }
    const { wire, driver } = result.limits ?? { wire: [], driver: [] };
    const any = [...wire, ...driver].some(({ opsPerSecond }) => opsPerSecond !== null);
    return signals.status() ?? (any ? 0 : 4);
  } finally {
    progress.done();
    await setup?.stop();
    signals.dispose();
  }
}

/**
 * @param {Record<string, any>} options parsed
 * @returns {RunOptions}
 */
export function toLimitOptions(options) {
  const { rounds, storage } = options;
  const listed = options.storages ?? (storage === undefined ? undefined : []);
  return /** @type {RunOptions} */ (
    dropUndefined({
      ...{ command: 'limit', rounds, loads: limitLoads(options) },
      storages: storage === undefined ? listed : [...listed, ...storage],
      timeoutMs: options.timeout,
      seed: options.seed,
      rows: options.rows,
      valueSize: options.valueSize,
      addresses: addressesOf(options),
      allowTargets: options.allowTarget,
    })
  );
}

/**
 * `race --limits`: measured before the race; `race --limits FILE`: taken from that result.
 * @param {true | string | undefined} given
 * @param {import('../progress.js').Progress} progress
 * @returns {Promise<LimitsSource | undefined>}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE where the file is no result
 */
export async function limitsSource(given, progress) {
  if (given === undefined) return undefined;
  if (given !== true) return { result: await readResult(given), file: given };
  return { measure: true, onProgress: (text, share) => progress.update(text, share) };
}

/**
 * `dragstrip seed` and `node data/NAME.js`: fills servers with the rows, counts and samples them.
 */

import { getLoader, loaderNames } from '../../data/loaders/index.js';
import { requireTlsUse, resolveAddress } from '../../engine/addresses.js';
import { lockOf } from '../../engine/namespaces.js';
import { createDataset } from '../../lib/dataset.js';
import { DragstripError } from '../../lib/errors.js';
import { findHome } from '../../lib/home.js';
import { hideSecrets } from '../../lib/secrets.js';
import { describeSizes, sizeOptions } from '../../lib/value-sizes.js';
import { systemClock } from '../../measure/clock.js';
import { withLock } from '../../servers/lock.js';
import { addressesOf } from '../options.js';
import { createProgress, showWait } from '../progress.js';
import { dropUndefined } from '../setup.js';
import { onSignals } from '../signals.js';

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ args, options, stdout, stderr }) {
  const { rows, valueSize, seed: random } = options;
  const size = valueSize === undefined ? {} : sizeOptions(valueSize);
  const dataset = createDataset(dropUndefined({ rows, ...size, seed: random }));
  const names = args.length === 0 ? loaderNames : args;
  const loaders = await Promise.all(names.map((name) => getLoader(name)));
  const signals = onSignals(stderr);
  const progress = createProgress(stderr, { quiet: options.quiet });
  const home = findHome();
  let hide = (/** @type {string} */ text) => text;
  try {
    const flags = addressesOf(options);
    const found = await Promise.all(
      loaders.map((loader) => resolveAddress(loader.server, { flags, home })),
    );
    requireTlsUse(
      flags,
      found.map(({ address }) => address),
    );
    for (const [i, loader] of loaders.entries()) {
      const startNs = systemClock.now();
      const { address, credentials } = found[i];
      hide = (text) => hideSecrets(text, credentials);
      const seed = () =>
        loader.seed({
          address,
          credentials,
          dataset,
          allowTargets: options.allowTarget,
          signal: signals.signal,
          onProgress: (done) =>
            progress.update(`${loader.name}: ${count(done)} rows`, done / rowsOf()),
        });
      const lock = lockOf({ name: loader.server, address });
      const onWait = () => showWait(progress, `${loader.name}: waiting for another command`);
      const report = await withLock(lock, { signal: signals.signal, onWait }, seed);
      progress.done();
      if (!options.quiet) stdout.write(`${summary(loader.name, report, startNs)}\n`);
    }
    return signals.status() ?? 0;
  } catch (error) {
    const status = signals.status();
    error.message = hide(error.message);
    if (status === null) throw error;
    progress.done();
    if (error instanceof DragstripError) stderr.write(`dragstrip: ${error.message}\n`);
    return status;
  } finally {
    progress.done();
    signals.dispose();
  }

  function rowsOf() {
    return dataset.rows;
  }

  /**
   * @param {string} name
   * @param {import('../../lib/types.js').SeedReport} report
   * @param {number} startNs
   */
  function summary(name, report, startNs) {
    const seconds = ((systemClock.now() - startNs) / 1e9).toFixed(2);
    const what = `${count(report.rows)} rows of ${sizeText(dataset)}`;
    const spread = Object.entries(report.nodes ?? {}).map(([at, n]) => `${count(n)} on ${at}`);
    const counted = spread.length === 0 ? 'counted' : `counted: ${spread.join(', ')}`;
    const checked = `${counted}, ${report.sampled} compared in full`;
    if (!report.written) return `${name}: ${what} were there already (${checked})`;
    return `${name}: ${what} written in ${seconds} s (${checked})`;
  }
}

/** @param {import('../../lib/types.js').Dataset} dataset */
function sizeText(dataset) {
  const { valueSize, valueSizes } = dataset;
  return valueSizes === undefined ? `${valueSize} characters` : describeSizes(dataset);
}

/** @param {number} n */
function count(n) {
  return n.toLocaleString('en-US');
}

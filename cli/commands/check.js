/**
 * `dragstrip check ./my-driver.js`: what a storage promises, checked once against its server, a
 * line per promise. Exit status 5 where one is not kept.
 */

import { runChecks } from '../../engine/check/index.js';
import { EXIT_STATUS } from '../../lib/errors.js';
import { plainText } from '../../lib/format.js';
import { addressesOf } from '../options.js';
import { createProgress } from '../progress.js';
import { onSignals } from '../signals.js';

const MARKS = Object.freeze({ ok: 'ok    ', failed: 'FAILED', skipped: 'skip  ' });

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ args: storages, options, stdout, stderr }) {
  const { setup, rows, valueSize, seed, allowTargets } = options;
  const runOptions = {
    ...{ storages, addresses: addressesOf(options), rows, valueSize, seed, allowTargets },
  };
  const progress = createProgress(stderr, { quiet: options.quiet });
  const signals = onSignals(stderr, { before: progress.done });
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  try {
    const { signal } = signals;
    if (setup) {
      const { setUp } = await import('../setup.js');
      stops.push((await setUp(runOptions, { signal, progress })).stop);
    }
    let last = '';
    const outcomes = await runChecks(runOptions, {
      signal,
      onCheck({ storage, name, outcome, text }) {
        progress.done();
        if (storage !== last) stdout.write(`${last === '' ? '' : '\n'}${storage}\n`);
        last = storage;
        stdout.write(`  ${MARKS[outcome]}  ${name}: ${plainText(text)}\n`);
      },
    });
    const failed = outcomes.filter(({ outcome }) => outcome === 'failed').length;
    const ok = outcomes.filter(({ outcome }) => outcome === 'ok').length;
    stdout.write(`\n${ok} ok, ${failed} failed, ${outcomes.length - ok - failed} skipped\n`);
    return signals.status() ?? (failed > 0 ? EXIT_STATUS['E_INVALID'] : 0);
  } finally {
    progress.done();
    for (const stop of stops) await stop();
    signals.dispose();
  }
}

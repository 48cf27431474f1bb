/**
 * `dragstrip check ./my-driver.js`: check the guarantees of a storage once against its server, one
 * line each. Exit status 5 if one fails.
 */

import { runChecks } from '../../engine/check/index.js';
import { EXIT_STATUS } from '../../lib/errors.js';
import { plainText } from '../../lib/format.js';
import { datasetIn } from '../options.js';
import { inSession } from '../session.js';

const MARKS = Object.freeze({ ok: 'ok    ', failed: 'FAILED', skipped: 'skip  ' });

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export function execute(context) {
  const { args: storages, options, stdout } = context;
  const runOptions = { storages, ...datasetIn(options) };
  return inSession(context, async ({ signal, progress, setUp }) => {
    await setUp(runOptions);
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
    return failed > 0 ? EXIT_STATUS['E_INVALID'] : 0;
  });
}

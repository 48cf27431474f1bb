/**
 * Checks of one storage for `dragstrip check ./my-driver.js`, in a separate process, so that a
 * storage that ends its process fails one check and not the command.
 */

import { fileURLToPath } from 'node:url';
import { findHome } from '../../lib/home.js';
import { labelOf } from '../../lib/label.js';
import { describeEnd, startChild } from '../../lib/node-child.js';
import { requestRun } from '../request.js';
import { withRows } from '../server-locks.js';
import { resolveTargets } from '../targets.js';
import { CHECKS } from './rows.js';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
/** Each check has its own time limits; this one bounds a check that blocks the event loop. */
const SILENCE_MS = 120_000;

/**
 * @typedef {object} CheckOutcome
 * @property {string} storage storage and profile
 * @property {string} name name of the check
 * @property {'ok' | 'failed' | 'skipped'} outcome
 * @property {string} text
 */

/**
 * @param {import('../plan.js').RunOptions} options options: storages, addresses, dataset
 * @param {{ signal?: AbortSignal, onCheck?: (outcome: CheckOutcome) => void }} [context]
 * @returns {Promise<CheckOutcome[]>}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE, E_TARGET, E_REFUSED
 */
export async function runChecks(options, { signal, onCheck } = {}) {
  const { plan, workload } = await requestRun({ command: 'check', ...options });
  const home = plan.home ?? findHome();
  const { storages } = await resolveTargets({ ...plan, home }, workload);
  /** @type {CheckOutcome[]} */
  const outcomes = [];
  await withRows({ plan, home, storages, signal }, async () => {
    for (const target of storages) {
      const { name } = target.definition;
      const storage = labelOf({ storage: name, profile: target.profile });
      await checkStorage(target, plan, { home, signal }, (outcome) => {
        outcomes.push({ storage, ...outcome });
        onCheck?.({ storage, ...outcome });
      });
    }
  });
  return outcomes;
}

/**
 * @param {import('../targets.js').StorageTarget} target
 * @param {import('../plan.js').RunPlan} plan
 * @param {{ home: string, signal?: AbortSignal }} context
 * @param {(outcome: Omit<CheckOutcome, 'storage'>) => void} see
 */
async function checkStorage({ source, profile, server }, plan, { home, signal }, see) {
  const child = startChild(CHILD, { signal });
  let seen = 0;
  let done = false;
  const silence = setTimeout(() => child.kill('SIGKILL'), SILENCE_MS);
  child.on('message', (/** @type {any} */ message) => {
    silence.refresh();
    if (message.done) done = true;
    else {
      seen += 1;
      see(message);
    }
  });
  const { address = {}, credentialVariables = null } = server ?? {};
  const about = { address, credentialVariables, dataset: plan.dataset, home };
  if (child.connected) child.send({ source, profile, ...about }, () => {});
  const ended = await child.ended;
  clearTimeout(silence);
  if (done || signal?.aborted) return;
  const name = CHECKS[seen]?.name ?? 'ends';
  see({ name, outcome: 'failed', text: `the process ${describeEnd(ended)}` });
}

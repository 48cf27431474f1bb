/** `dragstrip agent`: a load machine that waits for races and runs its share of them. */

import { hostname } from 'node:os';
import { formatEndpoint } from '../../lib/address.js';
import { plainText } from '../../lib/format.js';
import { findHome } from '../../lib/home.js';
import { coordinatorOf, targetsOf } from '../fleet-options.js';
import { inSession } from '../session.js';

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status of the signal that ended it
 */
export async function execute(context) {
  const { options, stdout, stderr } = context;
  const coordinator = await coordinatorOf(options);
  const allowTargets = targetsOf(options);
  const name = options.name ?? `${hostname()}-${process.pid}`;
  const { runAgent } = await import('../../packages/fleet/agent.js');
  return inSession(
    context,
    async ({ signal }) => {
      await runAgent({
        coordinator,
        name,
        allowTargets,
        home: findHome(),
        signal,
        onEvent(event) {
          const line = lineOf(event, formatEndpoint(coordinator.endpoint));
          if (event.type === 'trouble') stderr.write(`dragstrip: ${line}\n`);
          else if (options.quiet !== true) stdout.write(`${line}\n`);
        },
      });
      return 0;
    },
    { meaning: 'a run in progress loses this agent' },
  );
}

/**
 * @param {import('../../packages/fleet/agent.js').AgentEvent} event
 * @param {string} where
 */
function lineOf(event, where) {
  if (event.type === 'waiting') return `agent ${plainText(event.name)}: waiting at ${where}`;
  if (event.type === 'trouble') return plainText(event.message);
  const run = `run ${plainText(event.run)}`;
  if (event.type === 'cut') return `${run}: ended early: ${plainText(event.message)}`;
  const share = `${event.seat + 1} of ${event.count}`;
  return event.type === 'leased' ? `${run}: share ${share}` : `${run}: done, share ${share}`;
}

/** `dragstrip agents`: list the load machines that wait at a coordinator. */

import { formatEndpoint } from '../../lib/address.js';
import { formatDuration, plainText } from '../../lib/format.js';
import { plainTable } from '../../report/console-table.js';
import { coordinatorOf } from '../fleet-options.js';

const TEXTS = ['agent', 'state', 'host', 'dragstrip', 'Node'];
const NUMBERS = ['cores', 'clock offset', 'round trip'];

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status: 0; 4 without agents
 */
export async function execute({ options, stdout }) {
  const coordinator = await coordinatorOf(options);
  const { connectCoordinator } = await import('../../packages/fleet/coordinator-connection.js');
  const { listAgents } = await import('../../packages/fleet/presence.js');
  const { SILENT_MS } = await import('../../packages/fleet/coordination-keys.js');
  const client = await connectCoordinator(coordinator);
  try {
    const agents = await listAgents(client);
    if (agents.length === 0) {
      stdout.write(`no agents at ${formatEndpoint(coordinator.endpoint)}\n`);
      return 4;
    }
    const rows = agents.map((one) => [
      one.name,
      one.silentMs > SILENT_MS ? `inactive for ${Math.round(one.silentMs / 1000)} s` : one.state,
      ...[one.host, one.dragstrip, one.node, String(one.cores)],
      `${one.timeOffsetMs.toFixed(0)} ms`,
      formatDuration(one.roundTripNs),
    ]);
    const heads = [...TEXTS, ...NUMBERS];
    const aligns = heads.map((head) => (TEXTS.includes(head) ? 'left' : 'right'));
    const lines = plainTable([heads, ...rows.map((row) => row.map(plainText))], aligns);
    stdout.write(`${lines.join('\n')}\n`);
    return 0;
  } finally {
    client.disconnect();
  }
}

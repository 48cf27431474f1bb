/**
 * Entries of a run on several machines in its result, added during the run. The figures of each
 * agent are in the rounds (merge-agents.js).
 */

import { formatEndpoint } from '../../lib/address.js';
import { fleetWarnings } from './fleet-warnings.js';

/** @typedef {import('../../engine/runner.js').RunEvent} RunEvent */
/** @typedef {import('./controller.js').Fleet} Fleet */

/**
 * @param {Fleet} fleet
 * @returns {(event: RunEvent) => void} handler of the events of the run
 */
export function recordFleet(fleet) {
  /** @type {import('../../lib/fleet.js').Fleet['lost']} */
  let lost;
  return (event) => {
    if (!('result' in event)) return;
    if (fleet.lost !== null) {
      const { agent, reason } = fleet.lost;
      const { round, position } = event.type === 'benchmark-end' ? event.round : {};
      lost ??= { agent, reason, round, position };
    }
    event.result.fleet = { ...describeFleet(fleet), ...(lost && { lost }) };
    if (event.type === 'finished') event.result.warnings.push(...fleetWarnings(event.result));
  };
}

/**
 * @param {Fleet} fleet
 * @returns {import('../../lib/fleet.js').Fleet}
 */
function describeFleet({ options, identity, leases, targets }) {
  return {
    coordinator: formatEndpoint(options.coordinator.endpoint),
    configuration: identity?.configuration ?? '',
    onLoss: options.onLoss ?? 'invalid',
    agents: leases.all.map(({ agent, machine, clock, firstClock }) => ({
      name: agent,
      host: machine?.host ?? '',
      node: machine?.node ?? '',
      platform: machine?.platform ?? '',
      cpu: machine?.cpu ?? '',
      cores: machine?.cores ?? 0,
      clock: {
        ...firstClock,
        driftNs: clock === firstClock ? null : clock.offsetNs - firstClock.offsetNs,
      },
      targets: targets.get(agent) ?? {},
    })),
  };
}

/** The options for several load machines: of a race, of an agent, and of listing agents. */

import { readFileSync } from 'node:fs';
import { unreadable, usageError } from '../lib/errors.js';
import { choice, count, duration, text, texts } from '../lib/options.js';
import { declared } from './option-rows.js';

/**
 * Options of every process that uses a coordinator. @type {import('../lib/options.js').OptionTable}
 */
const COORDINATOR = Object.freeze({
  coordinator: text({
    value: '<address>',
    help: 'coordinator of the agents',
    shown: 'the one of npx dragstrip servers start coordinator',
  }),
  tokenFile: text({
    value: '<file>',
    help: 'file with the token of the coordinator: of the controller, or of agents',
  }),
  coordinatorCa: text({
    value: '<file>',
    help: 'certificate authority of the coordinator; off loopback its connections are encrypted',
  }),
});

/** @type {import('../lib/options.js').OptionTable} */
const RACE = Object.freeze({
  agents: count(1, 1000, undefined, {
    help: 'share each load among this many load machines (docs/fleet.md)',
  }),
  ...COORDINATOR,
  agentWait: duration(30_000, { help: 'longest wait until all agents are ready' }),
  onAgentLoss: choice(['invalid', 'truncate'], 'invalid', {
    help: 'invalid, or truncate: keep the seconds in which all agents were alive',
  }),
});

/** @type {import('../lib/options.js').OptionTable} */
const AGENT = Object.freeze({
  ...COORDINATOR,
  name: text({ help: 'name of the agent', shown: 'host name and process number' }),
  targetsFile: text({
    value: '<file>',
    help: 'servers off loopback that this agent may load: one host:port per line',
  }),
  allowTargets: texts({
    flag: 'allow-target',
    value: '<host:port>',
    help: 'allow a server on another machine; may be repeated',
  }),
});

export const RACE_FLEET_OPTIONS = Object.values(declared(RACE));
export const AGENT_OPTIONS = Object.values(declared(AGENT));
export const AGENTS_OPTIONS = Object.values(declared(COORDINATOR));

/**
 * @param {Record<string, any>} options
 * @returns {Promise<import('../packages/fleet/coordinator-connection.js').Coordinator>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export async function coordinatorOf({ coordinator, tokenFile, coordinatorCa }) {
  const { resolveAddress } = await import('../engine/addresses.js');
  const { readSecretFile } = await import('../lib/credentials.js');
  const { address, credentials } = await resolveAddress('coordinator', { flags: { coordinator } });
  const { unix: _socket, main } = address;
  const token = tokenFile && readSecretFile(tokenFile, '--token-file', 0o007);
  return {
    endpoint: main,
    credentials: { ...credentials, ...(token && { password: token, controller: token }) },
    ...(coordinatorCa && { ca: coordinatorCa }),
  };
}

/**
 * @param {Record<string, any>} options
 * @returns {string[]} servers outside loopback that an agent may load
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: the file cannot be read
 */
export function targetsOf({ targetsFile, allowTarget = [] }) {
  if (targetsFile === undefined) return allowTarget;
  try {
    const lines = readFileSync(targetsFile, 'utf8').split(/\r?\n/);
    const named = lines.map((line) => line.replace(/#.*/, '').trim()).filter((line) => line !== '');
    return [...allowTarget, ...named];
  } catch (error) {
    throw usageError(`--targets-file ${targetsFile}: ${unreadable(error)}`);
  }
}

/** Options that work on one machine only, with the reason. */
const ALONE = Object.freeze({
  against: 'other versions of a driver are installed on this machine only',
  runtime: 'other runtimes are installed on this machine only',
  placement: 'processors are assigned on this machine only',
  pin: 'processors are assigned on this machine only',
  limits: 'ceilings are measured on this machine only',
});

/**
 * @param {Pick<import('../engine/plan.js').RunPlan, 'loads' | 'slices'>} plan
 * @param {Record<string, any>} options options of a race
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: a load is too small for the number
 *   of processes
 */
export function requireShareable({ loads, slices }, { agents, onAgentLoss }) {
  for (const { kind, inFlight, connections = 1, processes = 1 } of loads) {
    if (kind !== 'window' || inFlight === null) continue;
    const least = agents * processes * connections;
    if (inFlight >= least) continue;
    throw usageError(
      `--agents ${agents}: ${inFlight} in flight are fewer than the agents`,
      `--in-flight ${least} or more`,
    );
  }
  if (slices === undefined || onAgentLoss !== 'truncate') return;
  throw usageError(
    '--on-agent-loss truncate: contenders are compared within a round, which ends with the agent',
    'leave it out, or use a load that runs whole: --rate',
  );
}

/**
 * @param {Record<string, any>} options options of a race
 * @returns {Promise<string[]>} the storages, by name
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: the workload cannot be shared by
 *   machines
 */
export async function requireShared(options) {
  const { parseSelection, loadStorage } = await import('../storages/index.js');
  for (const [name, reason] of Object.entries(ALONE)) {
    if (options[name] === undefined || options[name] === false) continue;
    throw usageError(`--agents and --${name}: ${reason}`, `leave out --${name}`);
  }
  /** @type {string[] | undefined} */
  const storages = options['storages'];
  if (storages === undefined || storages.some((one) => /^all$|:all$/.test(one))) {
    throw usageError(
      '--agents needs --storages',
      'write for example --storages ioredis,valkey-glide',
    );
  }
  for (const storage of storages) {
    const { source } = parseSelection(storage);
    if (/[/\\]/.test(source)) {
      throw usageError(
        `--agents: storage ${storage} is a file; agents accept names, not code`,
        'name a storage that is installed everywhere: npx dragstrip list',
      );
    }
    if ((await loadStorage(source)).server !== null) continue;
    throw usageError(
      `--agents: storage ${storage} is embedded: each machine would have a separate store`,
      'name storages with a server',
    );
  }
  return storages;
}

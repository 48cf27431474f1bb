/** `dragstrip servers fetch|start|stop|status|env|command`: real servers without root. */

import { usageError } from '../../lib/errors.js';
import { quoteForShell } from '../../lib/format.js';
import { findHome } from '../../lib/home.js';
import {
  commandByHand,
  DEFAULT_SERVER_NAMES,
  fetchServers,
  listPids,
  loadServer,
  SERVER_NAMES,
  startServers,
  statusServers,
  stopServers,
} from '../../servers/index.js';
import { readRunning } from '../../servers/record.js';
import { AS_ROOT_VARIABLE } from '../../servers/unprivileged.js';
import { failureLine } from '../failure.js';
import { inSession } from '../session.js';

const AS_ROOT = 'dragstrip: these servers run as root\n';
const ACTIONS = ['fetch', 'start', 'stop', 'status', 'env', 'command'];

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute(context) {
  const { args, options, stdout, stderr } = context;
  const [action, ...serverNames] = args;
  if (!ACTIONS.includes(action)) {
    throw usageError(`servers ${action}: unknown action`, `actions: ${ACTIONS.join(', ')}`);
  }
  const home = findHome();
  const isOfAll = action === 'stop' || action === 'status' || action === 'env';
  const all = isOfAll ? SERVER_NAMES : DEFAULT_SERVER_NAMES;
  const names = serverNames.length === 0 ? [...all] : serverNames;
  const unknown = names.find((name) => !SERVER_NAMES.includes(name));
  if (unknown !== undefined) {
    throw usageError(
      `unknown server ${JSON.stringify(unknown)}`,
      `available servers: ${SERVER_NAMES.join(', ')}`,
    );
  }
  if (options.withTls) await requireTls(action, serverNames);
  if (options.asRoot) process.env[AS_ROOT_VARIABLE] = 'yes';
  if (action === 'status') return status(home, names, stdout);
  if (action === 'env') return environment(home, names, stdout);
  if (action === 'command') {
    for (const name of names) stdout.write(`${await commandByHand(name, home)}\n`);
    return 0;
  }
  return inSession(
    context,
    async ({ signal, progress }) => {
      const failures = await act(action, names, {
        home,
        tls: options.withTls === true,
        signal,
        onEvent({ server, step, text }) {
          const line = `${server} ${step}: ${text}`;
          if (step === 'fetching') progress.update(line);
          else progress.done(line);
        },
      });
      progress.done();
      if (action === 'start' && isRoot()) stderr.write(AS_ROOT);
      for (const { error } of failures) stderr.write(`dragstrip: ${failureLine(error)}\n`);
      return statusOf(failures);
    },
    { progressTo: stdout },
  );
}

/**
 * @param {string} action
 * @param {readonly string[]} given names
 */
async function requireTls(action, given) {
  if (action !== 'start')
    throw usageError(`servers ${action}: --with-tls is an option of servers start`);
  for (const name of given) {
    if ((await loadServer(name)).tls === true) continue;
    throw usageError(`servers start --with-tls: ${name} is not started with TLS`, 'leave it out');
  }
}

/** @returns {boolean} whether the servers started here run as root */
function isRoot() {
  return process.getuid?.() === 0 && process.env[AS_ROOT_VARIABLE] === 'yes';
}

/**
 * @param {string} action
 * @param {string[]} names
 * @param {{ home: string, tls: boolean, signal: AbortSignal,
 *   onEvent: (event: import('../../servers/index.js').ServerEvent) => void }} context
 * @returns {Promise<{ error: { code?: string, message: string, hint?: string } }[]>}
 */
async function act(action, names, context) {
  if (action === 'fetch') return (await fetchServers(names, context)).failures;
  if (action === 'start') return (await startServers(names, context)).failures;
  const stopped = await stopServers(names, context);
  for (const { name, state } of stopped) {
    if (state === 'none')
      context.onEvent({ server: name, step: 'stopped', text: 'it did not run' });
  }
  return [];
}

/**
 * @param {string} home
 * @param {string[]} names
 * @param {NodeJS.WritableStream} stdout
 * @returns {Promise<number>} 0; 4 if a server does not reply
 */
async function status(home, names, stdout) {
  const servers = (await statusServers({ home })).filter(({ name }) => names.includes(name));
  for (const { name, state, running, reason, binaries } of servers) {
    const source = binaries === null ? 'not fetched yet' : `binaries: ${binaries.source}`;
    if (running === null) {
      stdout.write(`${name} ${state} (${source})\n`);
      continue;
    }
    const addresses = Object.entries(running.address).map(([key, value]) => `${key} ${value}`);
    const line = `${name} ${state}: ${running.version}, ${listPids(running)}, ${addresses.join(', ')}`;
    stdout.write(`${line}${reason === null ? '' : `: ${reason}`}\n`);
  }
  return servers.some(({ state }) => state === 'silent') ? 4 : 0;
}

/**
 * Shell assignments for the user's clients and commands: addresses, and paths of the files with the
 * secrets. The secrets themselves are not printed.
 * @param {string} home
 * @param {string[]} names
 * @param {NodeJS.WritableStream} stdout
 * @returns {Promise<number>} 0; 4 if no server runs
 */
async function environment(home, names, stdout) {
  let isRunning = false;
  for (const name of names) {
    const running = readRunning(home, name);
    if (running === null) continue;
    isRunning = true;
    const { endpoints, credentials: variables } = await loadServer(name);
    for (const [endpoint, { env }] of Object.entries(endpoints)) {
      stdout.write(`export ${env}=${running.address[endpoint]}\n`);
    }
    for (const [field, path] of Object.entries(running.credentials ?? {})) {
      const variable = /** @type {Record<string, string>} */ (variables)[field];
      stdout.write(`export ${variable}_FILE=${quoteForShell(path)}\n`);
    }
  }
  return isRunning ? 0 : 4;
}

/**
 * @param {readonly { error: { code?: string } }[]} failures
 * @returns {number}
 */
function statusOf(failures) {
  if (failures.length === 0) return 0;
  return failures.every(({ error }) => error.code === 'E_REFUSED') ? 3 : 4;
}
